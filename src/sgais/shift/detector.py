"""ShiftDetector: two signals of the evidence curve, each against its baseline, and three sums that raise the alarm."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import require, require_count
from sgais.results.record import EvidenceRecord
from sgais.shift.baseline import Surprise
from sgais.shift.checks import check_expected, require_finite, require_positive
from sgais.shift.cusum import Cusum
from sgais.shift.e_detector import EDetector, Ranks
from sgais.shift.memory import Memory
from sgais.shift.pool import Judged, Pool
from sgais.shift.threshold import largest_score, threshold_for

SURPRISE, ANNEALING = "surprise", "annealing_steps"
BELIEVED = 8  # chunks of history that an expectation is worth
DOUBLING = math.log(2.0)  # steps are small whole numbers, often all equal: a doubling is taken for ordinary


class Watch(NamedTuple):
    """What one CUSUM looks out for.

    Attributes:
        signal: "surprise" or "annealing_steps".
        sign: +1 for a rise, -1 for a fall.
        shift: The change that it finds fastest, in standard deviations of a chunk's signal.
        share: Of the false alarms.
    """

    signal: str
    sign: int
    shift: float
    share: float

    @property
    def reference(self) -> float:
        """What is taken off every score: half the shift makes the CUSUM a sequence of likelihood ratio tests."""
        return self.shift / 2.0


SMALL, LARGE = 1.0, 3.0
# A shift that the score does not show is rare: to watch for it costs few of the false alarms.
WATCHES = (
    Watch(SURPRISE, -1, LARGE, 0.225),
    Watch(SURPRISE, -1, SMALL, 0.225),
    Watch(SURPRISE, +1, LARGE, 0.225),
    Watch(SURPRISE, +1, SMALL, 0.225),
    Watch(ANNEALING, +1, LARGE, 0.1),
)


CUSUM, E_DETECTOR = "cusum", "e-detector"
E_WATCHES = (Watch(SURPRISE, -1, SMALL, 0.45), Watch(SURPRISE, +1, SMALL, 0.45), Watch(ANNEALING, +1, SMALL, 0.1))


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
    before (`sgais.shift.baseline`, `sgais.shift.memory`), on both sides; where the caller says what to expect, against
    that, believed as if eight chunks had confirmed it. *Annealing steps*: their logarithm, upwards. Each becomes a
    standard Gaussian score z, summed by CUSUMs, C = max(0, C + z - k), one for small changes (k = 1/2, for shifts of
    one standard deviation of a chunk's score) and one for large ones (k = 3/2); C >= h is an alarm. After an alarm
    everything is learned anew.

    The threshold h follows from `mean_rows_between_false_alarms`: over the mean rows per chunk, this is the mean run
    length in chunks, from which `sgais.shift.threshold` finds h. False alarms are shared out (`WATCHES`): 45 % to falls
    of the score, 45 % to rises, at most 10 % to annealing steps. Scores are cut off at k + 0.55 h: one chunk alone,
    however odd, is an outlier, and two in a row are a shift. Chunks of a few rows, whose scores are far from Gaussian,
    are judged together, twenty rows at least.

    After a fall a model often learns the new data, and its score climbs slowly back. A climb that only the CUSUM for
    small changes sees, to no more than the level before the fall, is no alarm: the detector learns the new level.

    With `method="e-detector"`, scores are ranked among those before them, and evidence for a change at any row is
    summed up (`sgais.shift.e_detector`): the mean distance between false alarms is then at least the one asked for,
    for chunks of any size and scores of any distribution, but for what the baseline has to learn in its first
    chunks. It takes some chunks more to find a change, since a score can only be as odd as the number of those
    before it allows.

    Args:
        mean_rows_between_false_alarms: On a stream that never changes.
        method: "cusum" or "e-detector".

    Attributes:
        alarms: All alarms so far.
        drift_detected: Whether the last update raised one.
        num_rows: Rows seen so far.

    Example:
        >>> detector = sgais.ShiftDetector()
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2), detector=detector)
        >>> record = evidence.run(sgais.stream(sgais.simulate.linear_regression(400, dim=2).data, chunk_size=50))
        >>> detector.alarms  # nothing has changed
        []
    """

    def __init__(self, mean_rows_between_false_alarms: float = 1_000_000, method: str = CUSUM) -> None:
        require_positive("mean_rows_between_false_alarms", mean_rows_between_false_alarms)
        require(method in (CUSUM, E_DETECTOR), "method", "be cusum or e-detector", method)
        self.mean_rows_between_false_alarms, self.method = float(mean_rows_between_false_alarms), method
        self.reset()

    def like(self) -> "ShiftDetector":
        """Another with the same arguments, which has seen nothing."""
        return ShiftDetector(self.mean_rows_between_false_alarms, self.method)

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
            expected: Mean and standard deviation that the chunk's log predictive should have, if you can say: those of
                replicates drawn from the posterior predictive distribution (`OnlineEvidence.expected`). Without it,
                the history of the stream is the judge. With it, no history is needed; but chunks that are steadily
                off are taken for what the model gets wrong, not for a change, and after an alarm only the history
                counts: the model has shown that it does not know what to expect.
        """
        increment, steps, rows = self._read(x, num_rows)
        check_expected(expected)
        first = self.num_rows == 0
        self.num_rows += rows
        self.drift_detected = False
        if first:
            self._start_anew()
        if first and expected is None:
            return self
        chunk = Judged(increment, steps, rows, expected)
        judged = self._pool.joined(chunk) if self.method == CUSUM else chunk
        if judged is not None:
            self._num_chunks += 1
            self._watched_rows += judged.rows
            self._watch(judged.increment / judged.rows, judged.steps, judged.rows, judged.expected)
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

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return {
            "mean_rows_between_false_alarms": self.mean_rows_between_false_alarms,
            "alarms": [list(alarm) for alarm in self.alarms],
            "drift_detected": self.drift_detected,
            "num_rows": self.num_rows,
            "num_chunks": self._num_chunks,
            "watched_rows": self._watched_rows,
            "level_before_fall": self._level_before_fall,
            "start": self._start,
            "first_rows": self._first_rows,
            "score_memory": self._score_memory.state(),
            "excess_memory": self._excess_memory.state(),
            "steps_memory": self._steps_memory.state(),
            "sums": [cusum.state() for cusum in self._sums],
            "method": self.method,
            "ranks": {signal: ranks.state() for signal, ranks in self._ranks.items()},
            "e_detectors": [one.state() for one in self._e_detectors],
            "pool": self._pool.state(),
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "ShiftDetector":
        """The detector that had this state."""
        detector = cls(state["mean_rows_between_false_alarms"], state.get("method", CUSUM))  # there was no other
        detector.alarms = [Alarm(*alarm) for alarm in state["alarms"]]
        detector.drift_detected, detector.num_rows = state["drift_detected"], state["num_rows"]
        detector._num_chunks, detector._watched_rows = state["num_chunks"], state["watched_rows"]
        detector._level_before_fall = state["level_before_fall"]
        detector._start, detector._first_rows = state["start"], state["first_rows"]
        detector._score_memory = Memory.restored(state["score_memory"])
        detector._excess_memory = Memory.restored(state["excess_memory"])
        detector._steps_memory = Memory.restored(state["steps_memory"])
        detector._sums = [Cusum.restored(kept) for kept in state["sums"]]
        if "pool" in state:  # not in checkpoints of before
            detector._pool = Pool.restored(state["pool"])
        if "ranks" in state:
            detector._ranks = {signal: Ranks.restored(kept) for signal, kept in state["ranks"].items()}
            detector._e_detectors = [EDetector.restored(kept) for kept in state["e_detectors"]]
        return detector

    def __repr__(self) -> str:
        method = "" if self.method == CUSUM else f"{self.method}, "
        return f"ShiftDetector({self.mean_rows_between_false_alarms:.6g}, {method}{len(self.alarms)} alarms)"

    def _start_anew(self) -> None:
        """Learn what is ordinary from here on."""
        self._start, self._first_rows = self.num_rows, 0
        self._score_memory = Memory()
        self._excess_memory = Memory(believed=0 if self.alarms else BELIEVED)
        self._steps_memory = Memory(smallest_deviation=DOUBLING)
        self._sums = [Cusum(self.num_rows) for _ in WATCHES]
        self._ranks = {SURPRISE: Ranks(), ANNEALING: Ranks()}
        self._e_detectors = [EDetector(self.num_rows) for _ in E_WATCHES]
        self._pool = Pool()

    def _read(self, x: EvidenceRecord | float, num_rows: int) -> tuple[float, int | None, int]:
        """The chunk's log predictive, its annealing steps if known, and its rows."""
        if not isinstance(x, EvidenceRecord):
            require_finite("x", x)
            require_count("num_rows", num_rows)
            return float(x), None, int(num_rows)
        require_finite("x.increment", x.increment)
        cure = "Show a detector one stream, or call reset() before the next one."
        require(x.num_rows > self.num_rows, "x.num_rows", f"be more than {self.num_rows}", x.num_rows, cure)
        return x.increment, x.annealing_steps, x.num_rows - self.num_rows

    def _watch(self, score: float, steps: int | None, rows: int, expected: tuple[float, float] | None) -> None:
        """Bring memories and sums up to date."""
        self._first_rows, self._chunk_rows = self._first_rows or rows, rows
        # The middle of the chunk, seen from a start that lies a chunk before what was watched first.
        rows_seen = self.num_rows - self._start - rows / 2 + self._first_rows
        surprise = self._score_memory.surprise(score, rows, rows_seen)
        if expected is not None:
            surprise = self._against(expected, score, rows, rows_seen)
        self._sum_up(SURPRISE, surprise, rows)
        self._score_memory.learn(score, rows, rows_seen)
        if steps is not None:
            logarithm = math.log1p(steps)
            self._sum_up(ANNEALING, self._steps_memory.surprise(logarithm, 1.0, rows_seen), 1.0)
            self._steps_memory.learn(logarithm, 1.0, rows_seen)

    def _against(self, expected: tuple[float, float], score: float, rows: int, rows_seen: float) -> Surprise:
        """How far off an expectation a chunk is, beyond what the chunks before were."""
        mean, deviation = expected
        standardised = (score * rows - mean) / deviation
        surprise = self._excess_memory.surprise(standardised, 1.0, rows_seen)
        self._excess_memory.learn(standardised, 1.0, rows_seen)
        return surprise._replace(excess=surprise.excess * deviation / rows)

    def _sum_up(self, signal: str, surprise: Surprise, weight: float) -> None:
        """Add a chunk to the sums that watch this signal."""
        if self.method == E_DETECTOR:
            self._bet(signal, surprise, weight)
            return
        for watch, cusum in zip(WATCHES, self._sums, strict=True):
            if watch.signal == signal:
                most = largest_score(self._threshold(watch), watch.reference)
                cusum.update(watch.sign * surprise.score, most, watch.reference, surprise.excess, weight, self.num_rows)

    def _bet(self, signal: str, surprise: Surprise, weight: float) -> None:
        """Let the e-detectors of this signal bet on the chunk's rank."""
        p_value = self._ranks[signal].p_value(surprise.score)
        for watch, one in zip(E_WATCHES, self._e_detectors, strict=True):
            if watch.signal == signal:
                small = p_value if watch.sign < 0 else 1.0 - p_value
                one.update(small, surprise.excess, weight, self._chunk_rows, self.num_rows)

    def _threshold(self, watch: Watch) -> float:
        """The height at which a sum raises an alarm, for chunks of the mean size so far."""
        run_length = self.mean_rows_between_false_alarms * self._num_chunks / self._watched_rows
        rounded = float(f"{run_length / watch.share:.2g}")  # so that the equation is not solved for every chunk
        return threshold_for(rounded, watch.reference)

    def _decide(self) -> None:
        """Raise an alarm if a sum is past its threshold, and start anew."""
        if self.method == E_DETECTOR:
            self._decide_by_evidence()
            return
        crossed = [
            (watch, cusum)
            for watch, cusum in zip(WATCHES, self._sums, strict=True)
            if cusum.height >= self._threshold(watch)
        ]
        if not crossed:
            return
        watch, _ = crossed[0]
        if not self._is_recovery(watch):
            self._raise(watch, self._clearest(watch))
        self._start_anew()

    def _decide_by_evidence(self) -> None:
        shares = [watch.share * one.height for watch, one in zip(E_WATCHES, self._e_detectors, strict=True)]
        if sum(shares) < self.mean_rows_between_false_alarms:
            return
        number = int(np.argmax(shares))
        watch, cusum = E_WATCHES[number], self._e_detectors[number].cusum
        if not self._is_recovery(watch):
            self._raise(watch, cusum)
        self._start_anew()

    def _raise(self, watch: Watch, cusum: Cusum) -> None:
        """Note an alarm."""
        self.alarms.append(Alarm(self.num_rows, cusum.start, watch.signal, cusum.size))
        self.drift_detected = True
        fell = watch.signal == SURPRISE and watch.sign < 0
        self._level_before_fall = self._score_memory.level if fell else -math.inf

    def _clearest(self, crossed: Watch) -> Cusum:
        """The sum that knows where the change is: one for small changes may have climbed a little long before it."""
        candidates = [
            cusum
            for watch, cusum in zip(WATCHES, self._sums, strict=True)
            if (watch.signal, watch.sign) == (crossed.signal, crossed.sign) and watch.shift >= crossed.shift
        ]
        return max(candidates, key=lambda cusum: cusum.clarity)

    def _is_recovery(self, watch: Watch) -> bool:
        """Whether a rise is slow, and to no more than what was before a fall: a model that learns."""
        is_slow_rise = watch.signal == SURPRISE and watch.sign > 0 and watch.shift == SMALL
        return is_slow_rise and self._score_memory.level < self._level_before_fall
