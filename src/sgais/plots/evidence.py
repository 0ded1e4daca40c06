"""The evidence curve, and its error where the truth is known."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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

Values: TypeAlias = Sequence[float] | np.ndarray


def evidence(
    records: Curves,
    exact: Values | Mapping[str, Values] | None = None,
    axes: Any = None,
    alarms: Sequence[int] = (),
) -> Figure:
    """Log Z per row against rows seen and, where the exact value is known, the error in nats below it.

    Bands are three standard errors wide on either side; where there is no standard error (paper mode) there is none.
    The legend says which curves end with a warning.

    Args:
        records: A curve, from `OnlineEvidence.records` or `Result.records`; a mapping from model names to curves; or
            the records of a comparison.
        exact: The exact log evidence at each record, if there is one; by model name for several curves.
        axes: Matplotlib axes to draw on (two of them with `exact`); made anew if omitted.
        alarms: Numbers of rows at which a shift was noticed.

    Example:
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
        >>> record = evidence.run(sgais.stream(sgais.simulate.linear_regression(400, dim=2).data, chunk_size=200))
        >>> sgais.plots.evidence(evidence.records).savefig("evidence.svg")
    """
    curves = curves_of(records)
    truths = _truths(exact, curves)
    drawn = panels(axes, 2 if truths else 1)
    for number, (name, curve) in enumerate(curves.items()):
        label = label_of(name or ("estimate" if truths else ""), ends_warned(curve))
        _draw_curve(drawn[0], number, label or None, curve)
    for number, name in enumerate(curves):
        if name in truths:
            _draw_truth(drawn[0], name, curves[name], truths[name])
            _draw_error(drawn[1], number, curves[name], truths[name])
    drawn[0].set_ylabel("log Z per row (nats)")
    for panel in drawn:
        mark_shifts(panel, alarms)
        show_rows(panel)
    if truths:
        drawn[0].set_xlabel("")
        drawn[1].axhline(0.0, color=GREY, linewidth=0.8, zorder=1)
        drawn[1].set_ylabel("error of log Z (nats)")
    legend_above(drawn[0], may_grow=axes is None)
    return figure_of(drawn[0])


def _truths(exact: Values | Mapping[str, Values] | None, curves: dict[str, Curve]) -> dict[str, np.ndarray]:
    """The exact values by name, as many as their curves have records."""
    if exact is None:
        return {}
    if not isinstance(exact, Mapping):
        require(len(curves) == 1, "exact", f"name its models, {list(curves)}", exact, "Pass a dictionary.")
        exact = {next(iter(curves)): exact}
    unknown = sorted(set(exact) - set(curves))
    require(not unknown, "exact", f"have names among {list(curves)}", unknown)
    truths = {name: np.asarray(values, dtype=float) for name, values in exact.items()}
    for name, values in truths.items():
        rows = curves[name].rows
        require(values.shape == rows.shape, "exact", f"have {len(rows)} values, one for each record", len(values))
    return truths


def _draw_curve(panel: Axes, number: int, label: str | None, curve: Curve) -> None:
    per_row, errors = curve.log_evidence / curve.rows, BAND * curve.standard_error / curve.rows
    panel.plot(curve.rows, per_row, label=label, **line_style(number))
    band(panel, curve.rows, per_row - errors, per_row + errors, number)


def _draw_truth(panel: Axes, name: str, curve: Curve, truth: np.ndarray) -> None:
    label = f"{name}, exact" if name else "exact"
    panel.plot(curve.rows, truth / curve.rows, label=label, color="black", linestyle=":", linewidth=1.0)


def _draw_error(panel: Axes, number: int, curve: Curve, truth: np.ndarray) -> None:
    difference, errors = curve.log_evidence - truth, BAND * curve.standard_error
    panel.plot(curve.rows, difference, **line_style(number))
    band(panel, curve.rows, difference - errors, difference + errors, number)
