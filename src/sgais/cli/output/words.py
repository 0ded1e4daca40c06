"""Numbers, times and alarms as people read them."""

import math
from collections.abc import Sequence
from datetime import timedelta

from sgais.monitoring.snapshot import Line, ModelAlarm

MOST_NAMES = 2  # of models in a sentence, which is to stay a line
MARK = " !"  # after a log Z that carries a warning, whose text is said below


def per_row(line: Line, num_rows: int) -> str:
    """Log Z per row, with as many digits as its error has meaning for."""
    if line.failure or not num_rows:
        return "failed" if line.failure else ""
    value, error = line.log_evidence / num_rows, line.standard_error / num_rows
    if not math.isfinite(error) or error <= 0:
        return f"{value:.4f}{_mark(line)}"
    digits = min(max(1 - math.floor(math.log10(error)), 2), 6)
    return f"{value:.{digits}f} ± {error:.{digits}f}{_mark(line)}"


def total(line: Line) -> str:
    """Log Z with its error, where there is one."""
    if line.failure:
        return "failed"
    error = f" ± {line.standard_error:.2f}" if math.isfinite(line.standard_error) else ""
    return f"{line.log_evidence:,.2f}{error}{_mark(line)}"


def beware_lines(lines: Sequence[Line]) -> list[str]:
    """What speaks against the models' numbers, a line each."""
    failures = [f"{line.name} failed: {line.failure}" for line in lines if line.failure]
    return failures + [f"BEWARE of {line.name}: {line.warning}." for line in lines if line.warning and not line.failure]


def share(probability: float | None) -> str:
    """A probability; 1.000 and 0.000 only where it is so to the last digit shown."""
    if probability is None:
        return ""
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


def _mark(line: Line) -> str:
    return MARK if line.warning else ""
