"""What all figures share: size, colours, line styles, panels, legends, marks of shifts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogFormatter

from sgais.errors import require

COLUMN_WIDTH = 3.4  # inches, of a two-column page
PANEL_HEIGHT = 1.7
LEGEND_LINE = 0.14
DOTS_PER_INCH = 200
TEXT_SIZE = 8.0  # points
SMALL_TEXT_SIZE = 7.0

# Okabe and Ito's colours, which stay apart for colour-blind readers, without the yellow that white paper swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
# There are as many styles as are easily told apart: neighbours differ in style and in colour, so that colour is never
# needed, and only after 28 curves does a pair come back.
LINE_STYLES = ("-", "--", "-.", (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "//", "\\\\", "..", "xx", "--", "||")
GREY = "#555555"


def line_style(number: int) -> dict[str, Any]:
    """Colour and dashes of the curve with this number."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": LINE_STYLES[number % len(LINE_STYLES)],
        "linewidth": 1.2,
    }


def panels(axes: Any, count: int, num_columns: int = 1, height: float = PANEL_HEIGHT) -> list[Axes]:
    """The axes to draw on: those given, or those of a new figure of a column's width.

    Args:
        axes: None, Matplotlib axes, or an array or sequence of them.
        count: How many are needed.
        num_columns: In which a new figure arranges them.
        height: Of a panel of a new figure, in inches.
    """
    if axes is None:
        return _new_panels(count, num_columns, height)
    given = list(np.atleast_1d(axes).flat)
    fits = len(given) == count and all(isinstance(panel, Axes) for panel in given)
    require(fits, "axes", f"be {count} matplotlib axes", axes)
    return given


def figure_of(panel: Axes) -> Figure:
    """The figure to save, also where the panel is in a part of it."""
    figure = panel.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def show_rows(panel: Axes) -> None:
    """Rows seen along the horizontal axis: logarithmic, since a stream has no end."""
    panel.set_xscale("log")
    panel.xaxis.set_minor_formatter(LogFormatter())  # over less than a decade: 2000 rather than 2 x 10^3
    panel.set_xlabel("rows seen")


def band(panel: Axes, rows: np.ndarray, low: np.ndarray, high: np.ndarray, number: int) -> None:
    """The uncertainty of the curve with this number; nothing where it is not known."""
    if np.isfinite(high - low).any():
        panel.fill_between(rows, low, high, color=COLOURS[number % len(COLOURS)], alpha=0.25, linewidth=0)


def mark_shifts(panel: Axes, alarms: Sequence[int]) -> None:
    """A dotted line from top to bottom at each of these numbers of rows, and a label that says what it is."""
    rows = np.asarray(alarms, dtype=float).ravel()
    require(bool((rows > 0).all()), "alarms", "be numbers of rows above 0", alarms)
    if len(rows):
        bottom_to_top = panel.get_xaxis_transform()
        lines = panel.vlines(rows, 0, 1, "black", ":", label="shift", transform=bottom_to_top, linewidth=0.9)
        lines.set_path_effects([withStroke(linewidth=2.0, foreground="white")])  # so that it shows on areas as well


def legend_above(panel: Axes, may_grow: bool) -> None:
    """A legend over the panel, where it covers no data; none if nothing has a label.

    Args:
        panel: The panel.
        may_grow: Whether the figure is ours to make taller, so that a long legend takes no room from the data.
    """
    handles, labels = panel.get_legend_handles_labels()
    if not handles:
        return
    num_columns = _num_columns(panel, labels)
    if may_grow:
        figure, num_lines = figure_of(panel), -(-len(labels) // num_columns)
        figure.set_figheight(figure.get_figheight() + LEGEND_LINE * num_lines)
    panel.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=num_columns,
        fontsize=SMALL_TEXT_SIZE,
        frameon=False,
        borderaxespad=0.2,
        borderpad=0.0,
        columnspacing=1.2,
        handlelength=2.4,
        handletextpad=0.5,
    )


def _new_panels(count: int, num_columns: int, height: float) -> list[Axes]:
    """Panels below each other share the horizontal axis, those beside each other the vertical one."""
    num_lines = -(-count // num_columns)
    size = (COLUMN_WIDTH, num_lines * height + 0.5)
    figure = Figure(figsize=size, dpi=DOTS_PER_INCH, layout="constrained")
    grid = figure.subplots(num_lines, num_columns, sharex="col", sharey="row", squeeze=False)
    drawn, spare = list(grid.flat)[:count], list(grid.flat)[count:]
    for panel in spare:
        panel.remove()
    for panel in drawn:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(which="both", labelsize=SMALL_TEXT_SIZE)
        panel.xaxis.label.set_size(TEXT_SIZE)
        panel.yaxis.label.set_size(TEXT_SIZE)
        panel.title.set_size(TEXT_SIZE)
    return drawn


def _num_columns(panel: Axes, labels: list[str]) -> int:
    """As many as fit beside each other: a letter is about half as wide as high, a line and its gaps take eight."""
    inches = panel.get_window_extent().width / figure_of(panel).dpi
    letters = 72.0 * inches / (0.5 * SMALL_TEXT_SIZE)
    widest = max(len(label) for label in labels) + 8
    return int(np.clip(letters // widest, 1, len(labels)))
