"""A shift detector for each model, which can be saved with the service."""

from collections.abc import Mapping
from typing import Any

from sgais.comparison import Comparison
from sgais.serve.board import ShownAlarm
from sgais.shift import ShiftDetector


class Watchers:
    """Look at every chunk."""

    def __init__(self, models: list[str]) -> None:
        self._detectors = {name: ShiftDetector() for name in models}

    def look(self, comparison: Comparison) -> list[ShownAlarm]:
        """The alarms that the newest chunk raises."""
        alarms = []
        for name, detector in self._detectors.items():
            record = comparison[name].last_record
            if record is not None and record.num_rows > detector.num_rows and detector.update(record).drift_detected:
                alarms.append(ShownAlarm(name, *detector.alarms[-1]))
        return alarms

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {name: detector.state() for name, detector in self._detectors.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what was saved."""
        self._detectors = {name: ShiftDetector.restored(kept) for name, kept in state.items()}
