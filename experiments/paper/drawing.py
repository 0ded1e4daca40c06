"""What the figures share: panels side by side, and curves of several seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from sgais.plots.style import COLOURS, GREY, LINE_STYLES, MARKERS

PANEL_WIDTH, PANEL_HEIGHT = 3.7, 3.2  # inches
DOTS_PER_INCH = 130
PER_ROW = "log Z per row (nats)"


def side_by_side(count: int) -> tuple[Figure, list[Axes]]:
    """A figure of panels, lettered as in the paper."""
    figure = Figure(figsize=(PANEL_WIDTH * count, PANEL_HEIGHT), dpi=DOTS_PER_INCH, layout="constrained")
    panels = list(figure.subplots(1, count, squeeze=False).flat)
    for panel, letter in zip(panels, "abc", strict=False):
        panel.set_title(f"({letter})", loc="left", fontsize=10)
        panel.spines[["top", "right"]].set_visible(False)
        panel.set_xscale("log")
        panel.set_xlabel("rows N")
    return figure, panels


def seeds_curve(panel: Axes, table: pd.DataFrame, column: str, number: int, label: str | None, **style: Any) -> None:
    """The median over the seeds against rows, and a band from the least to the most of them."""
    by_rows = table.groupby("rows")[column]
    middle, colour = by_rows.median(), COLOURS[number % len(COLOURS)]
    look: dict[str, Any] = {"color": colour, "linestyle": "-", "linewidth": 1.3, **style}
    panel.plot(middle.index, middle, label=label, **look)
    if table["seed"].nunique() > 1:
        panel.fill_between(middle.index, by_rows.min(), by_rows.max(), color=colour, alpha=0.2, linewidth=0)


def points(panel: Axes, table: pd.DataFrame, column: str, number: int, label: str | None, **style: Any) -> None:
    """A mark for every run, and a thin line through their medians."""
    colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
    middle = table.groupby("rows")[column].median()
    panel.plot(middle.index, middle, color=colour, linewidth=0.8, linestyle="--", zorder=2)
    look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 5, **style}
    panel.plot(table["rows"], table[column], label=label, zorder=3, **look)


def style_of(number: int) -> dict[str, Any]:
    """Dashes by number, so that colour is never needed."""
    return {"linestyle": LINE_STYLES[number % len(LINE_STYLES)]}


def marks(panel: Axes, rows: Sequence[int], label: str) -> None:
    """Dotted lines from top to bottom."""
    for number, place in enumerate(rows):
        panel.axvline(place, color=GREY, linestyle=":", linewidth=1.0, label=None if number else label, zorder=1)


def say(panel: Axes, words: str) -> None:
    """Why a panel is empty."""
    panel.text(0.5, 0.5, words, transform=panel.transAxes, ha="center", va="center", color=GREY)


def finish(figure: Figure, panel: Axes) -> None:
    """Ticks that can be read, and below all panels one legend, that of the first, where it covers no data."""
    for each in figure.axes:
        _readable_rows(each)
    panel.set_ylabel(PER_ROW)
    panel.ticklabel_format(axis="y", useOffset=False)
    handles, labels = panel.get_legend_handles_labels()
    columns = min(len(labels), 2 * len(figure.axes))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=9)


def _readable_rows(panel: Axes) -> None:
    """Powers of ten; where there are hardly two of them, also twice and five times."""
    low, high = panel.get_xlim()
    if high < 100 * low:
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        panel.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    panel.xaxis.set_minor_formatter(NullFormatter())


def save(figure: Figure, path: Path) -> None:
    """As PNG, the same bytes from the same table: nothing in it tells when or by what it was drawn."""
    figure.savefig(path, metadata={"Software": None})
