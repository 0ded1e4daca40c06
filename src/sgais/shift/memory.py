"""How much of the past a baseline rests on: the latest half at least, and no chunk that may belong to a shift.

The first chunks of a stream are unlike the rest, since the model still learns. So a second baseline, without a trend,
is begun on the way and takes over when it has seen as many chunks as were seen before it. Chunks that look like the
beginning of a shift wait before they are learned: the next ones should be judged by what was before.
"""

from typing import Any

from sgais.shift.baseline import Baseline, Surprise

FIRST_SPAN = 8  # chunks before the second baseline is begun
# Chunks that may wait, over those learned: they all share the error of one prediction, so let them be few beside what
# it rests on. A short history has none.
WAITING_SHARE = 0.1


class Memory:
    """A `Baseline` that forgets how the stream began.

    Args:
        smallest_deviation: As `Baseline` has it.
    """

    def __init__(self, smallest_deviation: float = 0.0) -> None:
        self._smallest_deviation = smallest_deviation
        self._used, self._next = Baseline(smallest_deviation), self._fresh()
        self._span, self._num_chunks = FIRST_SPAN, 0
        self._waiting: list[tuple[float, float, float]] = []

    @property
    def level(self) -> float:
        """The mean signal of the chunks remembered."""
        return self._used.level

    def surprise(self, signal: float, weight: float, rows_seen: float) -> Surprise:
        """How far off the prediction a chunk is."""
        return self._used.surprise(signal, weight, rows_seen)

    def learn(self, signal: float, weight: float, rows_seen: float, is_suspect: bool) -> None:
        """Take in a chunk; suspects wait until one that is none follows, or too many wait."""
        self._waiting.append((signal, weight, rows_seen))
        most = WAITING_SHARE * self._used.num_chunks if is_suspect else 0
        while len(self._waiting) > most:
            self._learn(*self._waiting.pop(0))

    def _fresh(self) -> Baseline:
        return Baseline(self._smallest_deviation, has_trend=False)

    def _learn(self, signal: float, weight: float, rows_seen: float) -> None:
        self._num_chunks += 1
        self._used.learn(signal, weight, rows_seen)
        if self._num_chunks > self._span:
            self._next.learn(signal, weight, rows_seen)
        if self._next.num_chunks == self._span:
            self._used, self._next = self._next, self._fresh()
            self._span *= 2

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return {
            "smallest_deviation": self._smallest_deviation,
            "used": self._used.state(),
            "next": self._next.state(),
            "span": self._span,
            "num_chunks": self._num_chunks,
            "waiting": [list(chunk) for chunk in self._waiting],
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Memory":
        """The memory that had this state."""
        memory = cls(state["smallest_deviation"])
        memory._used, memory._next = Baseline.restored(state["used"]), Baseline.restored(state["next"])
        memory._span, memory._num_chunks = state["span"], state["num_chunks"]
        memory._waiting = [(signal, weight, rows) for signal, weight, rows in state["waiting"]]
        return memory
