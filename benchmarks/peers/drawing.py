"""The figures: error against seconds for each problem, and seconds against rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.peers.lines import Cell
from benchmarks.peers.methods import METHODS
from sgais.plots.style import GREY, MARKERS, figure_of, legend_above, line_style, panels

SMALLEST_ERROR = 1e-3  # nats; what is smaller is drawn there
HEIGHT = 2.6  # inches
Place = Callable[[Cell], float]


def draw(found: list[Cell], folder: Path, limit: float) -> list[Path]:
    """Draw both figures of every problem, and say where they are."""
    drawn: list[Path] = []
    for problem in dict.fromkeys(cell.problem for cell in found):
        complete = [cell for cell in found if cell.problem == problem and cell.is_complete]
        figures = {"error": error_against_seconds(complete), "rows": seconds_against_rows(complete, limit)}
        for name, figure in figures.items():
            drawn.append(folder / f"{problem}-{name}.png")
            figure.savefig(drawn[-1])
    return drawn


def error_against_seconds(found: list[Cell]) -> Figure:
    """One mark for each data set, smaller ones first along the line."""
    panel = _curves(found, lambda cell: cell.seconds, lambda cell: max(cell.error, SMALLEST_ERROR))
    panel.set_xlabel("seconds")
    panel.set_ylabel("error (nats)")
    return _with_legend(panel)


def seconds_against_rows(found: list[Cell], limit: float) -> Figure:
    """The dotted line is the time limit."""
    panel = _curves(found, lambda cell: cell.rows, lambda cell: cell.seconds)
    panel.axhline(limit, color=GREY, linestyle=":", linewidth=0.9)
    panel.set_xlabel("rows")
    panel.set_ylabel("seconds")
    return _with_legend(panel)


def _curves(found: list[Cell], across: Place, up: Place) -> Axes:
    panel = panels(None, 1, height=HEIGHT)[0]
    panel.set_xscale("log")
    panel.set_yscale("log")
    for method in dict.fromkeys(cell.method for cell in found):
        cells = [cell for cell in found if cell.method == method]
        panel.plot([across(cell) for cell in cells], [up(cell) for cell in cells], label=method, **_style(method))
    return panel


def _style(method: str) -> dict[str, Any]:
    """The same in every figure; the marks of peers are hollow."""
    number = list(METHODS).index(method)
    hollow = {"markerfacecolor": "white"} if METHODS[method].is_peer else {}
    return line_style(number) | {"marker": MARKERS[number % len(MARKERS)], "markersize": 4.0} | hollow


def _with_legend(panel: Axes) -> Figure:
    legend_above(panel, may_grow=True)
    return figure_of(panel)
