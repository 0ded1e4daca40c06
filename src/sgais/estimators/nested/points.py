"""The live and dead points of nested sampling."""

from typing import NamedTuple

import numpy as np


class Points(NamedTuple):
    """Points; live and dead ones in ascending order of their likelihood."""

    positions: np.ndarray  # (points, d)
    log_likelihoods: np.ndarray  # (points,), float64
    births: np.ndarray  # (points,), the contour that each was born above
    families: np.ndarray  # (points,), the number of each one's family

    @property
    def num_points(self) -> int:
        """How many there are; `len` would be the number of fields."""
        return len(self.log_likelihoods)


def join(*parts: Points) -> Points:
    """All points of all parts, in this order."""
    return Points(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def part(points: Points, which: np.ndarray | slice) -> Points:
    """Some of the points."""
    return Points(*(values[which] for values in points))


def sort(points: Points) -> Points:
    """The points in ascending order of their likelihood."""
    return part(points, np.argsort(points.log_likelihoods, kind="stable"))
