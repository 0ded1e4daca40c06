"""Where a stream has changed: the probability of a change at each border of chunks, and the most probable segments."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from sgais.plots.style import COLOURS, GREY, HATCHES, figure_of, legend_above, panels


def change_points(points: Any, axes: Any = None, series: Sequence[float] | None = None) -> Figure:
    """The posterior of change points against rows: stems for borders, areas for segments.

    Args:
        points: A `sgais.ChangePoints`, or its `segmentation`.
        axes: Matplotlib axes to draw on, two if there is a series; made anew if omitted.
        series: A number per row, drawn above over the same segments.

    Example:
        >>> y = np.repeat([0.0, 3.0], 60) + np.random.default_rng(0).normal(size=120)
        >>> points = sgais.ChangePoints(sgais.models.LinearRegression(dim=1), hazard=1 / 100)
        >>> record = points.run(sgais.stream({"x": np.zeros((120, 1)), "y": y}, chunk_size=20))
        >>> sgais.plots.change_points(points, series=y).savefig("change_points.svg")
    """
    drawn = panels(axes, 1 if series is None else 2)
    if series is not None:
        drawn[0].plot(np.arange(len(series)), series, color=GREY, linewidth=0.6)
        drawn[0].set_ylabel("series")
        _areas(drawn[0], points.segments)
    panel = drawn[-1]
    panel.vlines(points.borders, 0.0, points.probability, color="black", linewidth=0.9, label="change")
    _areas(panel, points.segments)
    panel.set_ylim(0.0, 1.03)
    panel.set_xlim(0, points.num_rows)
    panel.set_xlabel("rows")
    panel.set_ylabel("probability of a change")
    legend_above(drawn[0], may_grow=axes is None)
    return figure_of(panel)


def _areas(panel: Axes, segments: Sequence[Any]) -> None:
    """A colour and a hatch for each model; with one model, neighbours take turns."""
    names = list(dict.fromkeys(segment.model for segment in segments))
    for number, segment in enumerate(segments):
        style = names.index(segment.model) if len(names) > 1 else number % 2
        is_first = len(names) > 1 and all(one.model != segment.model for one in segments[:number])
        panel.axvspan(
            segment.start,
            segment.end,
            facecolor=to_rgba(COLOURS[style % len(COLOURS)], 0.18),
            edgecolor=to_rgba(COLOURS[style % len(COLOURS)], 0.4),  # of the hatch, over which curves can be read
            hatch=HATCHES[style % len(HATCHES)] or None,
            linewidth=0,
            label=segment.model if is_first else None,
        )
