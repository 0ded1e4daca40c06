"""ShiftDetector: two signals of the evidence curve, each against its baseline, and three sums that raise the alarm."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import require, require_count
from sgais.estimators.record import EvidenceRecord
from sgais.shift.baseline import Baseline, Surprise
from sgais.shift.cusum import Cusum
from sgais.shift.threshold import threshold_for

SURPRISE, ANNEALING = "surprise", "annealing_steps"
# How false alarms are shared out: a shift that the score does not show is rare, so its watch costs little.
SHARES = {"fall": 0.45, "rise": 0.45, "annealing": 0.1}
DOUBLING = math.log(2.0)  # steps are small whole numbers, often all equal: a doubling is taken for ordinary
MOST_SUDDEN = 3  # chunks; what took longer to climb may be a model that learns


class Alarm(NamedTuple):
    """A change of the data.

    Attributes:
        row: Rows seen when the alarm was raised.
        location: The row, counted from 0, at which the change seems to begin. Always where a chunk begins.
        signal: "surprise" or "annealing_steps".
        size: For "surprise", nats per row by which the chunks since `location` are off their prediction, negative if
            they are less probable; for "annealing_steps", the mean logarithm of the factor by which steps grew.
    """

    row: int
    location: int
    signal: str
    size: float


class ShiftDetector:
    """Tells when the data stop being what a model has learned to expect. Protocol of river's drift detectors.

    Two signals are watched. *Surprise*: the log predictive per row of each chunk against a prediction from the chunks
    before (see `sgais.shift.baseline`) or the caller's own, on both sides. *Annealing steps*: their logarithm, upwards.
    Each becomes a standard Gaussian score z, summed by a CUSUM, C = max(0, C + z - k), and C >= h is an alarm. After an
    alarm everything is learned anew.

    The threshold h follows from `mean_rows_between_false_alarms`: over the mean rows per chunk, this is the mean run
    length in chunks, which Siegmund's formula (see `sgais.shift.threshold`) turns into h. False alarms are shared
    out: 45 % to falls of the score, 45 % to rises, at most 10 % to annealing steps. Scores are cut off at k + h / 2: one
    chunk alone, however odd, is an outlier; two in a row are a shift.

    After a fall a model often learns the new data, and its score climbs slowly back. Such a climb, to no more than the
    level before the fall and over more than three chunks, is not an alarm: the detector learns the new level.

    Args:
        mean_rows_between_false_alarms: On a stream that never changes.
        smallest_shift: The change to be found fastest, in standard deviations of a chunk's score; k is half of it.

    Attributes:
        alarms: All alarms so far.
        drift_detected: Whether the last update raised one.
    """

    def __init__(self, mean_rows_between_false_alarms: float = 1_000_000, smallest_shift: float = 1.0) -> None:
        _require_positive("mean_rows_between_false_alarms", mean_rows_between_false_alarms)
        _require_positive("smallest_shift", smallest_shift)
        self.mean_rows_between_false_alarms = float(mean_rows_between_false_alarms)
        self.smallest_shift = float(smallest_shift)
        self.reset()

    def reset(self) -> None:
        """Forget everything, the alarms too."""
        self.alarms: list[Alarm] = []
        self.drift_detected = False
        self.num_rows = 0
        self._num_chunks, self._watched_rows = 0, 0
        self._level_before_fall = -math.inf
        self._start_anew()

    def update(
        self,
        x: EvidenceRecord | float,
        num_rows: int = 1,
        expected: tuple[float, float] | None = None,
    ) -> "ShiftDetector":
        """Take in a chunk; then `drift_detected` tells.

        The first chunk that is shown teaches nothing: its log predictive is that of the prior.

        Args:
            x: A record of `OnlineEvidence`, or the chunk's log predictive as a number (any score of a chunk that is a
                sum over its rows will do).
            num_rows: Rows of the chunk; a record knows its own.
            expected: Mean and standard deviation that the chunk's log predictive should have, if you can say, for
                example from replicates drawn from the posterior predictive distribution. Without it, the history
                of the stream is the judge.
        """
        increment, steps, rows = self._read(x, num_rows)
        _check_expected(expected)
        first = self.num_rows == 0
        self.num_rows += rows
        self.drift_detected = False
        if first:
            self._start_anew()
        if first and expected is None:
            return self
        self._num_chunks += 1
        self._watched_rows += rows
        self._watch(increment / rows, steps, rows, expected)
        self._decide()
        return self

    def scan(self, records: Iterable[EvidenceRecord]) -> list[Alarm]:
        """Take in a whole curve, such as `OnlineEvidence.records`, and return the alarms that it raises."""
        before = len(self.alarms)
        for record in records:
            self.update(record)
        return self.alarms[before:]

    @property
    def location(self) -> int | None:
        """Where the change of the latest alarm seems to begin (see `Alarm`); None if there was none."""
        return self.alarms[-1].location if self.alarms else None

    @property
    def thresholds(self) -> dict[str, float]:
        """The heights at which each sum raises an alarm: "fall" and "rise" of the score, and "annealing"."""
        run_length = self.mean_rows_between_false_alarms * max(self._num_chunks, 1) / max(self._watched_rows, 1)
        rounded = float(f"{run_length:.2g}")  # chunks that vary a little shall not solve the equation every time
        return {name: threshold_for(rounded / share, self._reference) for name, share in SHARES.items()}

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return {
            "mean_rows_between_false_alarms": self.mean_rows_between_false_alarms,
            "smallest_shift": self.smallest_shift,
            "alarms": [list(alarm) for alarm in self.alarms],
            "drift_detected": self.drift_detected,
            "num_rows": self.num_rows,
            "num_chunks": self._num_chunks,
            "watched_rows": self._watched_rows,
            "level_before_fall": self._level_before_fall,
            "start": self._start,
            "first_rows": self._first_rows,
            "score_baseline": self._score_baseline.state(),
            "steps_baseline": self._steps_baseline.state(),
            "sums": {name: cusum.state() for name, cusum in self._sums.items()},
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "ShiftDetector":
        """The detector that had this state."""
        detector = cls(state["mean_rows_between_false_alarms"], state["smallest_shift"])
        detector.alarms = [Alarm(*alarm) for alarm in state["alarms"]]
        detector.drift_detected, detector.num_rows = state["drift_detected"], state["num_rows"]
        detector._num_chunks, detector._watched_rows = state["num_chunks"], state["watched_rows"]
        detector._level_before_fall = state["level_before_fall"]
        detector._start, detector._first_rows = state["start"], state["first_rows"]
        detector._score_baseline = Baseline.restored(state["score_baseline"])
        detector._steps_baseline = Baseline.restored(state["steps_baseline"])
        detector._sums = {name: Cusum.restored(kept) for name, kept in state["sums"].items()}
        return detector

    def __repr__(self) -> str:
        return f"ShiftDetector({self.mean_rows_between_false_alarms:.6g}, {len(self.alarms)} alarms)"

    @property
    def _reference(self) -> float:
        return self.smallest_shift / 2.0

    def _start_anew(self) -> None:
        """Learn what is ordinary from here on."""
        self._start, self._first_rows = self.num_rows, 0
        self._score_baseline = Baseline()
        self._steps_baseline = Baseline(smallest_deviation=DOUBLING)
        self._sums = {name: Cusum(self.num_rows) for name in SHARES}

    def _read(self, x: EvidenceRecord | float, num_rows: int) -> tuple[float, int | None, int]:
        """The chunk's log predictive, its annealing steps if known, and its rows."""
        if not isinstance(x, EvidenceRecord):
            _require_finite("x", x)
            require_count("num_rows", num_rows)
            return float(x), None, int(num_rows)
        _require_finite("x.increment", x.increment)
        cure = "Show a detector one stream, or call reset() before the next one."
        require(x.num_rows > self.num_rows, "x.num_rows", f"be more than {self.num_rows}", x.num_rows, cure)
        return x.increment, x.annealing_steps, x.num_rows - self.num_rows

    def _watch(self, score: float, steps: int | None, rows: int, expected: tuple[float, float] | None) -> None:
        """Bring baselines and sums up to date."""
        self._first_rows = self._first_rows or rows
        # The middle of the chunk, seen from a start that lies a chunk before what was watched first.
        rows_seen = self.num_rows - self._start - rows / 2 + self._first_rows
        surprise = self._score_baseline.surprise(score, rows, rows_seen)
        if expected is not None:
            mean, deviation = expected
            surprise = Surprise((score * rows - mean) / deviation, score - mean / rows)
        self._sum("fall", -surprise.score, surprise.excess, rows)
        self._sum("rise", surprise.score, surprise.excess, rows)
        self._score_baseline.learn(score, rows, rows_seen)
        if steps is not None:
            logarithm = math.log1p(steps)
            growth = self._steps_baseline.surprise(logarithm, 1.0, rows_seen)
            self._sum("annealing", growth.score, growth.excess, 1.0)
            self._steps_baseline.learn(logarithm, 1.0, rows_seen)

    def _sum(self, name: str, score: float, excess: float, weight: float) -> None:
        most = self._reference + self.thresholds[name] / 2.0
        self._sums[name].update(min(score, most), self._reference, excess, weight, self.num_rows)

    def _decide(self) -> None:
        """Raise an alarm if a sum is past its threshold, and start anew."""
        # Two chunks that were both cut off end at the threshold but for rounding.
        crossed = [name for name, height in self.thresholds.items() if self._sums[name].height >= height - 1e-9 > 0.0]
        if not crossed:
            return
        name = crossed[0]
        if not (name == "rise" and self._is_recovery()):
            cusum, signal = self._sums[name], ANNEALING if name == "annealing" else SURPRISE
            self.alarms.append(Alarm(self.num_rows, cusum.start, signal, cusum.size))
            self.drift_detected = True
            self._level_before_fall = self._score_baseline.level if name == "fall" else -math.inf
        self._start_anew()

    def _is_recovery(self) -> bool:
        """Whether a rise is a model that learns what it had not expected."""
        is_slow = self._sums["rise"].num_chunks > MOST_SUDDEN
        return is_slow and self._score_baseline.level < self._level_before_fall


def _require_positive(name: str, value: object) -> None:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    require(is_number and 0.0 < float(value) < math.inf, name, "be a positive number", value)  # type: ignore[arg-type]


def _require_finite(name: str, value: object) -> None:
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    cure = "Leave out chunks without a score."
    require(is_number and math.isfinite(float(value)), name, "be a finite number", value, cure)  # type: ignore[arg-type]


def _check_expected(expected: tuple[float, float] | None) -> None:
    if expected is None:
        return
    is_pair = isinstance(expected, tuple | list) and len(expected) == 2 and all(map(math.isfinite, expected))
    require(is_pair and expected[1] > 0.0, "expected", "be a mean and a positive standard deviation", expected)
