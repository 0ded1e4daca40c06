"""Figures from records: records in, figure out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sgais.errors import require
from sgais.estimators.record import EvidenceRecord

# Okabe and Ito's colours, which stay apart for colour-blind readers.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"


def evidence(
    records: Sequence[EvidenceRecord], exact: Sequence[float] | np.ndarray | None = None, axes: Any = None
) -> Figure:
    """The evidence curve: log Z per row against rows seen and, where it is known, the error in nats below it.

    The band around the error is 1.96 standard errors wide on either side.

    Args:
        records: The curve, from `OnlineEvidence.records` or `Result.records`.
        exact: The exact log evidence at each record, if there is one.
        axes: Matplotlib axes to draw on (two of them with `exact`); made anew if omitted.
    """
    require(len(records) > 0, "records", "hold at least one record", list(records))
    rows = np.array([record.num_rows for record in records])
    log_evidence = np.array([record.log_evidence for record in records])
    panels = _panels(axes, 1 if exact is None else 2)
    panels[0].semilogx(rows, log_evidence / rows, color=BLUE, label="estimate")
    panels[0].set_ylabel("log Z per row (nats)")
    if exact is not None:
        truth = np.asarray(exact, dtype=float)
        panels[0].semilogx(rows, truth / rows, "--", color=ORANGE, label="exact")
        panels[0].legend(frameon=False)
        errors, bars = log_evidence - truth, np.array([record.standard_error for record in records])
        panels[1].semilogx(rows, errors, color=BLUE)
        panels[1].fill_between(rows, errors - 1.96 * bars, errors + 1.96 * bars, color=BLUE, alpha=0.2, linewidth=0)
        panels[1].axhline(0.0, color=GREY, linewidth=0.8)
        panels[1].set_ylabel("error of log Z (nats)")
    panels[-1].set_xlabel("rows seen")
    figure = panels[0].figure
    assert isinstance(figure, Figure)
    return figure


def _panels(axes: Any, count: int) -> list[Axes]:
    if axes is None:
        figure = Figure(figsize=(5.0, 2.2 * count + 0.6), layout="constrained")
        axes = figure.subplots(count, 1, sharex=True)
    panels = list(np.atleast_1d(axes))
    require(len(panels) == count, "axes", f"be {count} matplotlib axes", axes)
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
    return panels
