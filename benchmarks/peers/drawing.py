"""The figures: error against seconds for each problem, and seconds against rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.peers.lines import Cell
from benchmarks.peers.methods import DEFAULT, METHODS
from benchmarks.peers.speedups import LARGEST_ERROR
from sgais.plots.style import COLOURS, GREY, SMALL_TEXT_SIZE, figure_of, panels

SMALLEST_ERROR = 1e-3  # nats; what is smaller is drawn there
WIDTH, HEIGHT = 5.6, 2.8  # inches
OURS = [name for name, method in METHODS.items() if not method.is_peer]
PEERS = [name for name, method in METHODS.items() if method.is_peer]
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")  # as many as there are peers
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
    """One mark for each data set, smaller ones first along the line; below the dotted line peers count as right."""
    panel = _curves(found, lambda cell: cell.seconds, lambda cell: max(cell.error, SMALLEST_ERROR))
    panel.axhline(LARGEST_ERROR, color=GREY, linestyle=":", linewidth=0.9)
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
    """The same in every figure: ours in colour and filled, the default stronger, peers grey and hollow."""
    if METHODS[method].is_peer:
        marker = MARKERS[PEERS.index(method)]
        return {"color": GREY, "linewidth": 0.7, "marker": marker, "markersize": 4.0, "markerfacecolor": "white"}
    number = OURS.index(method)
    strength = 2.4 if method == DEFAULT else 1.2
    return {"color": COLOURS[number], "linewidth": strength, "marker": MARKERS[number], "markersize": 4.0, "zorder": 3}


def _with_legend(panel: Axes) -> Figure:
    figure = figure_of(panel)
    figure.set_figwidth(WIDTH)
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=SMALL_TEXT_SIZE, frameon=False)
    return figure
