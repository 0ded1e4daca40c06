"""How far each model is behind, in nats."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from sgais.errors import require
from sgais.plots.curves import Curve, Curves, curves_of, ends_warned, label_of
from sgais.plots.style import (
    GREY,
    band,
    figure_of,
    legend_above,
    line_style,
    mark_shifts,
    panels,
    show_rows,
)
from sgais.results.bands import BAND

MOST_TICKS = 9


def bayes_factors(curves: Curves, axes: Any = None, alarms: Sequence[int] = (), against: str | None = None) -> Figure:
    """The log Bayes factor of each model against the one that leads at the end.

    The axis is linear from -1 to 1 and logarithmic beyond, since a stream takes a Bayes factor from tenths of a nat
    to many thousands. Bands are three standard errors wide on either side, the errors of two models taken as
    independent.

    Args:
        curves: A mapping from model names to evidence records, or the records of a comparison.
        axes: Matplotlib axes to draw on; made anew if omitted.
        alarms: Numbers of rows at which a shift was noticed.
        against: The model to compare with, instead of the leader.

    Example:
        >>> data = sgais.simulate.linear_regression(400, dim=2).data
        >>> models = {"one": sgais.models.LinearRegression(2, features=(0,)), "both": sgais.models.LinearRegression(2)}
        >>> comparison = sgais.Comparison(models)
        >>> record = comparison.run(sgais.stream(data, chunk_size=200))
        >>> sgais.plots.bayes_factors(comparison.records, against="one").savefig("bayes_factors.svg")
    """
    by_name = curves_of(curves)
    require(len(by_name) > 1, "curves", "hold at least two models", list(by_name))
    reference = _leader(by_name) if against is None else against
    require(reference in by_name, "against", f"be one of {list(by_name)}", reference)
    (panel,) = panels(axes, 1)
    panel.set_yscale("symlog", linthresh=1.0, linscale=0.8)
    for number, (name, curve) in enumerate(by_name.items()):
        if name != reference:
            _draw(panel, number, name, curve, by_name[reference])
    label = label_of(reference, ends_warned(by_name[reference]))
    panel.axhline(0.0, color=GREY, linewidth=0.8, label=label, zorder=1)
    mark_shifts(panel, alarms)
    show_rows(panel)
    _thin_ticks(panel)
    panel.set_ylabel("log Bayes factor (nats)")
    legend_above(panel, may_grow=axes is None)
    return figure_of(panel)


def _leader(curves: dict[str, Curve]) -> str:
    """The largest evidence of all rows; a model that did not come to the end cannot lead."""
    end = max(curve.rows[-1] for curve in curves.values())
    last = {name: curve.log_evidence[-1] for name, curve in curves.items() if curve.rows[-1] == end}
    return max(last, key=lambda name: -np.inf if np.isnan(last[name]) else last[name])


def _draw(panel: Axes, number: int, name: str, curve: Curve, reference: Curve) -> None:
    rows, of_curve, of_reference = np.intersect1d(curve.rows, reference.rows, return_indices=True)
    require(len(rows) > 0, "curves", "have numbers of rows in common", name, "Update the models with the same chunks.")
    factor = curve.log_evidence[of_curve] - reference.log_evidence[of_reference]
    errors = BAND * np.hypot(curve.standard_error[of_curve], reference.standard_error[of_reference])
    panel.plot(rows, factor, label=label_of(name, ends_warned(curve)), **line_style(number))
    band(panel, rows, factor - errors, factor + errors, number)


def _thin_ticks(panel: Axes) -> None:
    """Ticks at powers of ten, so few that their labels do not touch."""
    low, high = panel.get_ylim()
    panel.set_yticks(_powers(low, high))
    panel.set_ylim(low, high)
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}".replace("-", "\N{MINUS SIGN}")))
    panel.yaxis.set_minor_locator(NullLocator())


def _powers(low: float, high: float) -> np.ndarray:
    below, above = (int(np.floor(np.log10(max(end, 1.0)))) for end in (-low, high))
    stride = -(-(below + above + 1) // MOST_TICKS)
    powers = 10.0 ** np.arange(stride - 1, max(below, above) + 1, stride)
    ticks = np.concatenate([-powers[::-1], [0.0], powers])
    return ticks[(ticks >= low) & (ticks <= high)]
