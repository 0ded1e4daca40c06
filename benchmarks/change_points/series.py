"""The annotated series that river bundles, as the annotators have seen them.

Annotations are numbers of rows of the series of the Turing benchmark. Two of river's files have other rows than these
(Bitcoin: 822 for 774; BrentSpotPrice: 8,195 for 500), and nobody says which: they are left out. Of Apple's, every
third counts.
"""

from typing import Any, NamedTuple

import numpy as np
from river.drift import datasets as river_datasets

datasets: Any = river_datasets  # its types are not complete


class Series(NamedTuple):
    """A series, standardised, shape (rows, dimensions), and what each annotator takes for changes."""

    name: str
    values: np.ndarray
    annotations: list[list[int]]


def annotated() -> list[Series]:
    """All of them."""
    return [
        _series(datasets.AirlinePassengers()),
        _series(datasets.Apple(), step=3, columns=("Close", "Volume")),
        _series(datasets.Occupancy()),
        _series(datasets.RunLog()),
        _series(datasets.UKCoalEmploy()),
    ]


def _series(source: Any, step: int = 1, columns: tuple[str, ...] = ()) -> Series:
    targets = [target for _, target in source][::step]
    rows = [
        [target[name] for name in columns or target] if isinstance(target, dict) else [target] for target in targets
    ]
    values = np.array(rows, float)
    standardised = (values - np.nanmean(values, axis=0)) / np.nanstd(values, axis=0)
    return Series(type(source).__name__, np.nan_to_num(standardised), list(source.annotations.values()))
