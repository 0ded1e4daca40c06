"""The models' weights in predictions through time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from sgais.errors import require
from sgais.plots.curves import model_names
from sgais.plots.style import figure_of, legend_above, line_style, mark_shifts, panels, show_rows


def weights(comparison_records: Sequence[Any], axes: Any = None, alarms: Sequence[int] = ()) -> Figure:
    """The weight of each model in predictions against rows seen; a model that a record does not know has no line there.

    Args:
        comparison_records: Each with `num_rows` and `models`, the standings by name.
        axes: Matplotlib axes to draw on; made anew if omitted.
        alarms: Numbers of rows at which a shift was noticed.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> models = {"one": sgais.models.LinearRegression(2, features=(0,)), "both": sgais.models.LinearRegression(2)}
        >>> comparison = sgais.Comparison(models)
        >>> record = comparison.run(sgais.stream(data, chunk_size=200))
        >>> sgais.plots.weights(comparison.records).savefig("weights.svg")
    """
    require(len(comparison_records) > 0, "comparison_records", "hold at least one record", list(comparison_records))
    rows = np.array([record.num_rows for record in comparison_records], dtype=float)
    (panel,) = panels(axes, 1)
    for number, name in enumerate(model_names(comparison_records)):
        standings = [record.models.get(name) for record in comparison_records]
        shares = [np.nan if standing is None else standing.weight for standing in standings]
        panel.plot(rows, shares, label=name, **line_style(number))
    mark_shifts(panel, alarms)
    show_rows(panel)
    panel.set_ylim(-0.03, 1.03)
    panel.set_ylabel("weight in predictions")
    legend_above(panel, may_grow=axes is None)
    return figure_of(panel)
