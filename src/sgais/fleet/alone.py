"""Keys that have a comparison of their own: where draws around one mode do not do, or rows are many."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sgais.comparison.comparison import Comparison
from sgais.errors import EstimationError
from sgais.estimators.default.config import Config
from sgais.fields import Chunk
from sgais.models.base import Model
from sgais.shift import ShiftDetector
from sgais.shift.detector import SURPRISE


class Alone:
    """Comparisons by the number of their key.

    Args:
        config: The estimator's parameters.
        mean_rows_between_false_alarms: Of a key that never changes.

    Attributes:
        members: The comparisons.
        failures: Why keys cannot go on.
    """

    def __init__(self, config: Config, mean_rows_between_false_alarms: float) -> None:
        self._config, self._mean_rows = config, mean_rows_between_false_alarms
        self.members: dict[int, Comparison] = {}
        self.failures: dict[int, str] = {}

    def __contains__(self, key: int) -> bool:
        return key in self.members or key in self.failures

    def begun(
        self, models: Mapping[str, Model], log_odds: Mapping[str, float], seed: int, rows: Chunk
    ) -> Comparison | str:
        """A comparison that has seen these rows, or why there can be none; nothing changes yet."""
        odds = {name: float(np.exp(each)) for name, each in log_odds.items()}
        member = Comparison(models, self._config, seed, odds, detector=ShiftDetector(self._mean_rows))
        try:
            member.update(rows)
        except EstimationError as error:
            return str(error)
        return member

    def accept(self, key: int, member: Comparison | str) -> None:
        """Keep what `begun` has made."""
        if isinstance(member, str):
            self.failures[key] = member
        else:
            self.members[key] = member

    def updated(self, key: int, rows: Chunk, leader: str) -> tuple[str, int, int, int] | None:
        """Take in rows; an alarm of the model that led, as `FleetAlarm` has it without its key."""
        member = self.members[key]
        try:
            member.update(rows)
        except EstimationError as error:
            self.failures[key] = str(error)
            del self.members[key]
            return None
        detector = member.detectors[leader]
        if not detector.drift_detected or detector.num_rows != member.num_rows:
            return None
        alarm = detector.alarms[-1]
        sign = 1 if alarm.signal == SURPRISE and alarm.size > 0 else -1
        return leader, alarm.row, alarm.location, sign

    def evidences(self, key: int, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Log Z and its error under each model, NaN where there is none."""
        standings = self.members[key].standings if key in self.members else {}
        found = [standings.get(name) for name in names]
        logs = [np.nan if one is None else one.log_evidence for one in found]
        return np.array(logs), np.array([np.nan if one is None else one.standard_error for one in found])

    def state(self, folder: Path) -> dict[str, Any]:
        """For a checkpoint in a folder."""
        members = {str(key): member.saved(folder) for key, member in self.members.items()}
        return {"members": members, "failures": {str(key): why for key, why in self.failures.items()}}

    def restore(self, state: Mapping[str, Any], models: Mapping[str, Model], folder: Path) -> None:
        """Take on a state."""
        self.members = {int(key): Comparison.restored(one, models, folder) for key, one in state["members"].items()}
        self.failures = {int(key): why for key, why in state["failures"].items()}
