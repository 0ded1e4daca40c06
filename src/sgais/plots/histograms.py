"""The data, phase by phase (Figure 1 of the paper)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgais.errors import require
from sgais.fields import as_arrays
from sgais.plots.style import COLOURS, TEXT_SIZE, figure_of, panels

NUM_BINS = 50
PANEL_HEIGHT = 1.45  # inches: with two beside each other, panels are square


def histograms(data: object, ends: Sequence[int], column: str = "y", axes: Any = None) -> Figure:
    """Histograms of the rows of each phase and, if there are several, of all of them.

    Args:
        data: Columns by name, or one array.
        ends: The number of rows at which each phase ends, rising.
        column: The column to show: numbers, or pairs of numbers, for which colour tells the density.
        axes: Matplotlib axes to draw on, one for each phase and one for all rows; made anew if omitted.

    Example:
        >>> simulation = sgais.simulate.shifting_mixture(num_rows=(100, 200), components=(2, 3))
        >>> sgais.plots.histograms(simulation.data, simulation.parameters["phase_ends"]).savefig("histograms.svg")
    """
    columns = as_arrays(data)
    require(column in columns, "column", f"be one of {sorted(columns)}", column)
    values = _as_points(columns[column])
    bounds = _bounds(ends, len(values))
    drawn = panels(axes, len(bounds), num_columns=min(2, len(bounds)), height=PANEL_HEIGHT)
    bins = [np.linspace(low, high, NUM_BINS + 1) for low, high in _ranges(values[: bounds[-1][1]])]
    for panel, (start, end) in zip(drawn, bounds, strict=True):
        _draw(panel, values[start:end], bins)
        is_all = start == 0 and panel is drawn[-1]
        panel.set_title(f"all {end:,} rows" if is_all else f"rows {start + 1:,} to {end:,}", fontsize=TEXT_SIZE)
    _label(drawn, column, is_plane=len(bins) == 2)
    return figure_of(drawn[0])


def _as_points(values: np.ndarray) -> np.ndarray:
    """Shape (rows, 1) or (rows, 2)."""
    points = values[:, None] if values.ndim == 1 else values
    can_be_shown = points.ndim == 2 and points.shape[1] <= 2
    require(can_be_shown, "data", "have one or two numbers per row", values.shape[1:], "Pass two of its coordinates.")
    return points


def _bounds(ends: Sequence[int], num_rows: int) -> list[tuple[int, int]]:
    """The first row of each phase and the one behind its last; all rows come last."""
    rising = [0, *(int(end) for end in ends)]
    is_right = len(rising) > 1 and bool((np.diff(rising) > 0).all()) and rising[-1] <= num_rows
    require(is_right, "ends", f"rise from above 0 to at most {num_rows}, the number of rows", list(ends))
    phases = list(pairwise(rising))
    return phases if len(phases) == 1 else [*phases, (0, rising[-1])]


def _ranges(points: np.ndarray) -> list[tuple[float, float]]:
    """What all panels show: all but one row in a thousand, which might leave the others no room."""
    ranges = [np.quantile(coordinate, [0.0005, 0.9995]) for coordinate in points.T]
    return [(low, high) if low < high else (low - 0.5, high + 0.5) for low, high in ranges]


def _draw(panel: Axes, points: np.ndarray, bins: list[np.ndarray]) -> None:
    if len(bins) == 1:
        panel.hist(points[:, 0], bins[0].tolist(), density=True, color=COLOURS[0])
    else:
        # As a picture also in vector formats: thousands of small squares are slow to draw and show seams.
        panel.hist2d(points[:, 0], points[:, 1], bins, density=True, cmap="Blues", rasterized=True)
        panel.set_aspect("equal", adjustable="box")


def _label(drawn: list[Axes], column: str, is_plane: bool) -> None:
    for panel in drawn:
        panel.set_ylabel(f"{column}[1]" if is_plane else "density")
        panel.label_outer()
    for panel in drawn[-2:]:  # the lowest of each column, also where their number is odd
        panel.set_xlabel(f"{column}[0]" if is_plane else column)
        panel.tick_params(labelbottom=True)
