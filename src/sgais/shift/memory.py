"""How much of the past a baseline rests on: the latest half at least.

The first chunks of a stream are unlike the rest, since the model still learns. So a second baseline, without a trend,
is begun on the way and takes over when it has seen as many chunks as were seen before it.
"""

from typing import Any

from sgais.shift.baseline import Baseline, Surprise

FIRST_SPAN = 8  # chunks before the second baseline is begun


class Memory:
    """A `Baseline` that forgets how the stream began.

    Args:
        smallest_deviation: As `Baseline` has it.
        believed: As `Baseline` has it, to begin with; what there is to believe in has no trend.
    """

    def __init__(self, smallest_deviation: float = 0.0, believed: int = 0) -> None:
        self._smallest_deviation = smallest_deviation
        self._used, self._next = Baseline(smallest_deviation, not believed, believed), self._fresh()
        self._span, self._num_chunks = FIRST_SPAN, 0

    @property
    def level(self) -> float:
        """The mean signal of the chunks remembered."""
        return self._used.level

    def surprise(self, signal: float, weight: float, rows_seen: float) -> Surprise:
        """How far off the prediction a chunk is."""
        return self._used.surprise(signal, weight, rows_seen)

    def learn(self, signal: float, weight: float, rows_seen: float) -> None:
        """Take in a chunk."""
        # At once, also if it is odd: chunks judged by one and the same past would share its errors, and false alarms
        # would come twice as often.
        self._num_chunks += 1
        self._used.learn(signal, weight, rows_seen)
        if self._num_chunks > self._span:
            self._next.learn(signal, weight, rows_seen)
        if self._next.num_chunks == self._span:
            self._used, self._next = self._next, self._fresh()
            self._span *= 2

    def _fresh(self) -> Baseline:
        return Baseline(self._smallest_deviation, has_trend=False)

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return {
            "smallest_deviation": self._smallest_deviation,
            "used": self._used.state(),
            "next": self._next.state(),
            "span": self._span,
            "num_chunks": self._num_chunks,
        }

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Memory":
        """The memory that had this state."""
        memory = cls(state["smallest_deviation"])
        memory._used, memory._next = Baseline.restored(state["used"]), Baseline.restored(state["next"])
        memory._span, memory._num_chunks = state["span"], state["num_chunks"]
        return memory
