"""The annealing steps that each chunk took: a spike is a chunk that the particles did not expect."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, ScalarFormatter

from sgais.plots.curves import Curve, Curves, curves_of
from sgais.plots.style import band, figure_of, legend_above, line_style, mark_shifts, panels, show_rows

GROUPS_PER_DECADE = 50
TICKS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def annealing(curves: Curves, axes: Any = None, alarms: Sequence[int] = ()) -> Figure:
    """Annealing steps per chunk against rows seen.

    Where chunks stand closer than the eye can tell, the line is the mean of neighbours and the band goes from the
    least to the most of them. The axis is logarithmic, but shows zero: by default most chunks take no step at all.

    Args:
        curves: One curve, a mapping from model names to evidence records, or the records of a comparison.
        axes: Matplotlib axes to draw on; made anew if omitted.
        alarms: Numbers of rows at which a shift was noticed.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> models = {"one": sgais.models.LinearRegression(2, features=(0,)), "both": sgais.models.LinearRegression(2)}
        >>> comparison = sgais.Comparison(models)
        >>> record = comparison.run(sgais.stream(data, chunk_size=200))
        >>> sgais.plots.annealing(comparison.curves).savefig("annealing.svg")
    """
    (panel,) = panels(axes, 1)
    panel.set_yscale("symlog", linthresh=1.0, linscale=0.3)
    for number, (name, curve) in enumerate(curves_of(curves).items()):
        _draw(panel, number, name, curve)
    mark_shifts(panel, alarms)
    show_rows(panel)
    _readable_ticks(panel)
    panel.set_ylabel("annealing steps per chunk")
    legend_above(panel, may_grow=axes is None)
    return figure_of(panel)


def _draw(panel: Axes, number: int, name: str, curve: Curve) -> None:
    groups = _neighbours(curve)
    rows = np.array([np.mean(curve.rows[group]) for group in groups])
    steps = [curve.annealing_steps[group] for group in groups]
    panel.plot(rows, [np.mean(some) for some in steps], label=name or None, **line_style(number))
    band(panel, rows, np.array([np.min(some) for some in steps]), np.array([np.max(some) for some in steps]), number)


def _neighbours(curve: Curve) -> list[slice]:
    """Chunks whose rows fall into the same narrow interval of the logarithmic axis."""
    intervals = np.floor(GROUPS_PER_DECADE * np.log10(curve.rows))
    starts = np.flatnonzero(np.diff(intervals, prepend=-np.inf))
    return [slice(start, end) for start, end in zip(starts, [*starts[1:], len(intervals)], strict=True)]


def _readable_ticks(panel: Axes) -> None:
    """Whole numbers written out; no room below the least of them."""
    low, high = max(panel.get_ylim()[0], -0.3), panel.get_ylim()[1]
    panel.set_yticks([tick for tick in TICKS if low <= tick <= high])
    panel.set_ylim(low, high)
    panel.yaxis.set_major_formatter(ScalarFormatter())
    panel.yaxis.set_minor_locator(NullLocator())
