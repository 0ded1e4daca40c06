"""How much of the past a baseline rests on: the latest half at least, and odd chunks not before their time.

The first chunks of a stream are unlike the rest, since the model still learns. So a second baseline is begun on the
way and takes over when it has seen as many chunks as were seen before it. An odd chunk waits before it is learned: it
may be the first of a shift, and the next ones should be judged by what was before.
"""

from typing import Any

from sgais.shift.baseline import Baseline, Surprise

FIRST_SPAN = 8  # chunks before the second baseline is begun
ODD = 2.5  # a score beyond which a chunk is odd
MOST_WAITING = 2  # odd chunks in a row that are not learned yet


class Memory:
    """A `Baseline` that forgets how the stream began.

    Args:
        smallest_deviation: As `Baseline` has it.
    """

    def __init__(self, smallest_deviation: float = 0.0) -> None:
        self._smallest_deviation = smallest_deviation
        self._used, self._next = Baseline(smallest_deviation), Baseline(smallest_deviation)
        self._span, self._num_chunks = FIRST_SPAN, 0
        self._waiting: list[tuple[float, float, float]] = []

    @property
    def level(self) -> float:
        """The mean signal of the chunks remembered."""
        return self._used.level

    def surprise(self, signal: float, weight: float, rows_seen: float) -> Surprise:
        """How far off the prediction a chunk is."""
        return self._used.surprise(signal, weight, rows_seen)

    def learn(self, signal: float, weight: float, rows_seen: float) -> None:
        """Take in a chunk; an odd one waits until an ordinary one follows, or too many wait."""
        is_odd = abs(self.surprise(signal, weight, rows_seen).score) > ODD
        self._waiting.append((signal, weight, rows_seen))
        while len(self._waiting) > (MOST_WAITING if is_odd else 0):
            self._learn(*self._waiting.pop(0))

    def _learn(self, signal: float, weight: float, rows_seen: float) -> None:
        self._num_chunks += 1
        self._used.learn(signal, weight, rows_seen)
        if self._num_chunks > self._span:
            self._next.learn(signal, weight, rows_seen)
        if self._next.num_chunks == self._span:
            self._used, self._next = self._next, Baseline(self._smallest_deviation)
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
