"""A shift detector for each model of a comparison."""

import math
from collections.abc import Mapping
from typing import Any

from sgais.results.record import EvidenceRecord
from sgais.shift import ShiftDetector


class Watching:
    """Shows every model's chunks to a detector of its own.

    Args:
        pattern: What the detectors are to be like; None for no detectors at all.
    """

    def __init__(self, pattern: ShiftDetector | None) -> None:
        self.pattern = pattern
        self.detectors: dict[str, ShiftDetector] = {}

    def add(self, name: str) -> None:
        """Give a model a detector that has seen nothing."""
        if self.pattern is not None:
            self.detectors[name] = ShiftDetector(self.pattern.mean_rows_between_false_alarms)

    def drop(self, name: str) -> None:
        """Forget a model."""
        self.detectors.pop(name, None)

    def update(self, name: str, record: EvidenceRecord, expected: tuple[float, float] | None) -> None:
        """Show a model's newest chunk to its detector, and what the model expected of it."""
        if name in self.detectors and math.isfinite(record.increment):
            self.detectors[name].update(record, expected=expected)

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        pattern = None if self.pattern is None else self.pattern.mean_rows_between_false_alarms
        return {"pattern": pattern, "detectors": {name: one.state() for name, one in self.detectors.items()}}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Watching":
        """What had this state."""
        watching = cls(None if state["pattern"] is None else ShiftDetector(state["pattern"]))
        watching.detectors = {name: ShiftDetector.restored(one) for name, one in state["detectors"].items()}
        return watching
