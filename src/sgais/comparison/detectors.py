"""A shift detector for each model of a comparison."""

import math
from collections.abc import Mapping
from typing import Any

from sgais.results.record import EvidenceRecord
from sgais.shift import ShiftDetector


class Detectors:
    """Shows every model's chunks to a detector of its own.

    Args:
        pattern: What the detectors are to be like; None for no detectors at all.
    """

    def __init__(self, pattern: ShiftDetector | None) -> None:
        self.pattern = pattern
        self.by_model: dict[str, ShiftDetector] = {}

    def add(self, name: str) -> None:
        """Give a model a detector that has seen nothing."""
        if self.pattern is not None:
            self.by_model[name] = ShiftDetector(self.pattern.mean_rows_between_false_alarms)

    def drop(self, name: str) -> None:
        """Forget a model."""
        self.by_model.pop(name, None)

    def update(self, name: str, record: EvidenceRecord, expected: tuple[float, float] | None) -> None:
        """Show a model's newest chunk to its detector, and what the model expected of it."""
        if name in self.by_model and math.isfinite(record.increment):
            self.by_model[name].update(record, expected=expected)

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        pattern = None if self.pattern is None else self.pattern.mean_rows_between_false_alarms
        return {"pattern": pattern, "detectors": {name: one.state() for name, one in self.by_model.items()}}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Detectors":
        """What had this state."""
        detectors = cls(None if state["pattern"] is None else ShiftDetector(state["pattern"]))
        detectors.by_model = {name: ShiftDetector.restored(one) for name, one in state["detectors"].items()}
        return detectors
