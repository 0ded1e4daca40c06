"""A detector that follows a curve: shown what has been found, saved with it, and refused if it is none."""

import math
from typing import Any

from sgais.errors import require
from sgais.results.record import EvidenceRecord
from sgais.shift.detector import ShiftDetector


def show(detector: ShiftDetector, record: EvidenceRecord, expected: tuple[float, float] | None = None) -> None:
    """Show a chunk to a detector, and what the model expected of it; one without a finite evidence teaches nothing."""
    if math.isfinite(record.increment):
        detector.update(record, expected=expected)


def require_detector(detector: object) -> None:
    """Refuse what is neither a detector nor None."""
    is_detector = detector is None or isinstance(detector, ShiftDetector)
    require(is_detector, "detector", "be a sgais.ShiftDetector", detector)


def saved_detector(detector: ShiftDetector | None) -> dict[str, Any] | None:
    """For a checkpoint."""
    return None if detector is None else detector.state()


def restored_detector(state: dict[str, Any] | None) -> ShiftDetector | None:
    """The detector that had this state, if there was one."""
    return None if state is None else ShiftDetector.restored(state)
