"""What the evidence costs, method by method."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from sgais.errors import require
from sgais.plots.style import MARKERS, figure_of, legend_above, line_style, panels, show_rows


def speed(table: Mapping[str, Sequence[tuple[float, float]]], axes: Any = None) -> Figure:
    """Seconds against rows for several methods, both axes logarithmic.

    Args:
        table: Pairs (rows, seconds) by the name of the method, in any order.
        axes: Matplotlib axes to draw on; made anew if omitted.

    Example:
        >>> figure = sgais.plots.speed({"sgais": [(1_000, 0.5), (10_000, 0.9)], "other": [(1_000, 0.4), (10_000, 4)]})
        >>> figure.savefig("speed.svg")
    """
    require(len(table) > 0, "table", "hold at least one method", table)
    (panel,) = panels(axes, 1)
    for number, (method, pairs) in enumerate(table.items()):
        rows, seconds = _columns(method, pairs)
        marker = MARKERS[number % len(MARKERS)]
        panel.plot(rows, seconds, label=method, marker=marker, markersize=3.5, **line_style(number))
    show_rows(panel)
    panel.set_xlabel("rows")
    panel.set_yscale("log")
    panel.yaxis.set_minor_formatter(LogFormatter())
    panel.set_ylabel("seconds")
    legend_above(panel, may_grow=axes is None)
    return figure_of(panel)


def _columns(method: str, pairs: Sequence[tuple[float, float]]) -> np.ndarray:
    """Rows and seconds, by rising rows."""
    columns = np.array(sorted(pairs), dtype=float).reshape(-1, 2).T
    is_right = columns.size > 0 and bool((columns > 0).all())
    require(is_right, f"table[{method!r}]", "hold pairs (rows, seconds) above 0", list(pairs))
    return columns
