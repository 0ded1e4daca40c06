"""The models' probabilities through time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgais.errors import require
from sgais.plots.curves import curves_of, ends_warned, label_of, model_names
from sgais.plots.style import (
    COLOURS,
    HATCHES,
    band,
    figure_of,
    legend_above,
    line_style,
    mark_shifts,
    panels,
    show_rows,
)


def probabilities(
    comparison_records: Sequence[Any], axes: Any = None, alarms: Sequence[int] = (), stacked: bool = True
) -> Figure:
    """The probability of each model against rows seen.

    A model that a record does not know (added later, or failed) has no share of its stack, and no line there.

    Args:
        comparison_records: Each with `num_rows` and `models`, the standings by name.
        axes: Matplotlib axes to draw on; made anew if omitted.
        alarms: Numbers of rows at which a shift was noticed.
        stacked: Areas on top of each other, which fill the panel. False for a line and a band of uncertainty for
            each model.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> models = {"one": sgais.models.LinearRegression(2, features=(0,)), "both": sgais.models.LinearRegression(2)}
        >>> comparison = sgais.Comparison(models)
        >>> record = comparison.run(sgais.stream(data, chunk_size=200))
        >>> sgais.plots.probabilities(comparison.records).savefig("probabilities.svg")
    """
    require(len(comparison_records) > 0, "comparison_records", "hold at least one record", list(comparison_records))
    rows = np.array([record.num_rows for record in comparison_records], dtype=float)
    (panel,) = panels(axes, 1)
    draw = _stack if stacked else _lines
    draw(panel, rows, comparison_records, model_names(comparison_records))
    mark_shifts(panel, alarms)
    show_rows(panel)
    panel.set_ylim(0.0, 1.0) if stacked else panel.set_ylim(-0.03, 1.03)
    panel.set_ylabel("probability of the model")
    legend_above(panel, may_grow=axes is None)
    return figure_of(panel)


def _stack(panel: Axes, rows: np.ndarray, records: Sequence[Any], names: list[str]) -> None:
    shares = [np.nan_to_num(_column(records, name, "probability")) for name in names]
    if len(rows) == 1:  # an area needs two ends
        rows, shares = rows * [0.9, 1.1], [np.repeat(share, 2) for share in shares]
    areas = panel.stackplot(rows, shares, labels=_labels(records, names), linewidth=0.4, edgecolor="white")
    for number, area in enumerate(areas):
        area.set_facecolor(COLOURS[number % len(COLOURS)])
        area.set_hatch(HATCHES[number % len(HATCHES)])
    panel.set_xlim(rows[0], rows[-1])


def _lines(panel: Axes, rows: np.ndarray, records: Sequence[Any], names: list[str]) -> None:
    for number, (name, label) in enumerate(zip(names, _labels(records, names), strict=True)):
        panel.plot(rows, _column(records, name, "probability"), label=label, **line_style(number))
        band(panel, rows, _column(records, name, "low"), _column(records, name, "high"), number)


def _labels(records: Sequence[Any], names: list[str]) -> list[str]:
    curves = curves_of(records)
    return [label_of(name, ends_warned(curves[name])) for name in names]


def _column(records: Sequence[Any], name: str, what: str) -> np.ndarray:
    """A number of a model's standing in each record, NaN where it has none."""
    return np.array([getattr(record.models.get(name), what, np.nan) for record in records], dtype=float)
