"""Where a run stands after a chunk, in the one shape that views and reports read."""

from typing import NamedTuple

from sgais.comparison.comparison import Comparison
from sgais.online import OnlineEvidence
from sgais.results.record import EvidenceRecord
from sgais.shift import ShiftDetector


class Line(NamedTuple):
    """One model.

    Attributes:
        name: Of the model.
        log_evidence: log Z of all rows so far.
        standard_error: Of it; NaN where there is none.
        probability: Of the model; None where nothing is compared.
        failure: Why it cannot go on; empty if it can.
        warning: Why its evidence should not be trusted.
    """

    name: str
    log_evidence: float
    standard_error: float
    probability: float | None
    failure: str = ""
    warning: str = ""


class ModelAlarm(NamedTuple):
    """A change of the data, as one model has noticed it; the fields of `sgais.shift.Alarm`, and the model's name."""

    model: str
    row: int
    location: int
    signal: str
    size: float


class Snapshot(NamedTuple):
    """All models after a chunk.

    Attributes:
        num_rows: Rows taken in so far.
        num_bad_rows: Rows refused so far.
        lines: The models, the most probable first.
        alarms: All so far, the oldest first.
    """

    num_rows: int
    num_bad_rows: int
    lines: list[Line]
    alarms: list[ModelAlarm]


class Observer:
    """Looks at a run after every chunk, with a shift detector for each model."""

    def __init__(self, name: str, follower: OnlineEvidence | Comparison) -> None:
        self._name, self._follower = name, follower
        self._detectors: dict[str, ShiftDetector] = {}
        self._alarms: list[ModelAlarm] = []
        for model, curve in self._curves().items():
            self._detectors[model] = ShiftDetector()
            for record in curve:  # what a resumed run had seen before
                self._watch(model, record)
        self._alarms.sort(key=lambda alarm: alarm.row)

    def after_chunk(self) -> bool:
        """Show the newest chunk to the detectors; tells whether one of them has raised an alarm."""
        before = len(self._alarms)
        for model, detector in self._detectors.items():
            record = self._last_record(model)
            if record is not None and record.num_rows > detector.num_rows:
                self._watch(model, record)
        return len(self._alarms) > before

    @property
    def alarms(self) -> list[ModelAlarm]:
        """All so far, the oldest first."""
        return self._alarms

    def snapshot(self) -> Snapshot:
        """Where the run stands."""
        lines = _lines(self._name, self._follower)
        return Snapshot(self._follower.num_rows, self._follower.place.num_bad_rows, lines, list(self._alarms))

    def _watch(self, model: str, record: EvidenceRecord) -> None:
        detector = self._detectors[model].update(record)
        if detector.drift_detected:
            self._alarms.append(ModelAlarm(model, *detector.alarms[-1]))

    def _curves(self) -> dict[str, tuple[EvidenceRecord, ...]]:
        if isinstance(self._follower, Comparison):
            return self._follower.curves
        return {self._name: self._follower.records}

    def _last_record(self, model: str) -> EvidenceRecord | None:
        one = self._follower[model] if isinstance(self._follower, Comparison) else self._follower
        return one.last_record


def _lines(name: str, follower: OnlineEvidence | Comparison) -> list[Line]:
    if isinstance(follower, OnlineEvidence):
        return [Line(name, follower.log_evidence, follower.standard_error, None, warning=follower.warning)]
    probabilities, failures = follower.probabilities, follower.failures
    lines = [
        Line(
            one,
            follower[one].log_evidence,
            follower[one].standard_error,
            probabilities.get(one, 0.0),
            failures.get(one, ""),
            follower[one].warning,
        )
        for one in follower.names
    ]
    return sorted(lines, key=lambda line: (bool(line.failure), -(line.probability or 0.0), -line.log_evidence))
