"""Numbers, times and alarms as people read them."""

import math
from collections.abc import Sequence
from datetime import timedelta

from sgais.comparison.combination import EVIDENCE
from sgais.comparison.comparison import Comparison
from sgais.comparison.records import ModelStanding
from sgais.decisions import Decision
from sgais.monitoring.alarms import ModelAlarm
from sgais.monitoring.snapshot import Snapshot

MOST_NAMES = 2  # of models in a sentence, which is to stay a line
MARK = " !"  # after a log Z that carries a warning, whose text is said below


def per_row(standing: ModelStanding, num_rows: int) -> str:
    """Log Z per row, with as many digits as its error has meaning for."""
    if not num_rows:
        return ""
    value, error = standing.log_evidence / num_rows, standing.standard_error / num_rows
    if not math.isfinite(error) or error <= 0:
        return f"{value:.4f}{_mark(standing)}"
    digits = min(max(1 - math.floor(math.log10(error)), 2), 6)
    return f"{value:.{digits}f} ± {error:.{digits}f}{_mark(standing)}"


def total(standing: ModelStanding) -> str:
    """Log Z with its error, where there is one."""
    error = f" ± {standing.standard_error:.2f}" if math.isfinite(standing.standard_error) else ""
    return f"{standing.log_evidence:,.2f}{error}{_mark(standing)}"


def beware_lines(snapshot: Snapshot) -> list[str]:
    """What speaks against the models' numbers, a line each."""
    failures = [f"{name} failed: {why}" for name, why in snapshot.failures.items()]
    warnings = {name: standing.warning for name, standing in snapshot.standings.items() if standing.warning}
    return failures + [f"BEWARE of {name}: {warning}." for name, warning in warnings.items()]


def weight_lines(comparison: Comparison) -> list[str]:
    """The weights of models in predictions, where they are not the probabilities."""
    if comparison.combine == EVIDENCE:
        return []
    heaviest = sorted(comparison.weights.items(), key=lambda item: -item[1])
    weights = ", ".join(f"{name} {share(weight)}" for name, weight in heaviest)
    return [f"Weights in predictions by {comparison.combine}: {weights}; log score {comparison.score:,.2f}."]


def decision_lines(decision: Decision | None) -> list[str]:
    """What may be said against the null, where somebody asked."""
    return [] if decision is None else [f"Decision: {decision}."]


def share(probability: float) -> str:
    """A probability; 1.000 and 0.000 only where it is so to the last digit shown."""
    if 0.0 < probability < 0.001:
        return "<0.001"
    if 0.999 < probability < 1.0 - 1e-12:
        return ">0.999"
    return f"{probability:.3f}"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def alarm_lines(alarms: Sequence[ModelAlarm]) -> list[str]:
    """One line for each change, with the models that noticed it at the same place, or how many if they are many."""
    noticed: dict[int, list[ModelAlarm]] = {}
    for alarm in alarms:
        noticed.setdefault(alarm.location, []).append(alarm)
    return [_alarm_line(location, some) for location, some in noticed.items()]


def _alarm_line(location: int, alarms: Sequence[ModelAlarm]) -> str:
    names = list(dict.fromkeys(alarm.model for alarm in alarms))
    models = " and ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} models"
    first = min(alarm.row for alarm in alarms)
    return f"the data changed at about row {location:,}, noticed at row {first:,} by {models}"


def _mark(standing: ModelStanding) -> str:
    return MARK if standing.warning else ""
