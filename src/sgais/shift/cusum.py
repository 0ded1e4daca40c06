"""The sequential test: a one-sided CUSUM (Page 1954) that remembers where its climb began."""

from typing import Any


class Cusum:
    """Sums what standard scores exceed a reference value by, and starts again at zero whenever the sum is negative.

    Attributes:
        height: The sum; the higher, the clearer the change.
        start: The row at which the climb began: the best guess of where the change is.
        num_chunks: Chunks since then.
        size: The mean excess over what was expected since then, in the units of the signal.
    """

    def __init__(self, row: int) -> None:
        self.height = 0.0
        self.start = row
        self.num_chunks = 0
        self._weight, self._excess, self._scores = 0.0, 0.0, 0.0

    def update(self, score: float, most: float, reference: float, excess: float, weight: float, row: int) -> None:
        """Take in a chunk.

        Args:
            score: Standard Gaussian while nothing has changed, positive in the direction watched.
            most: What a score counts at most.
            reference: What is taken off every score.
            excess: What the signal exceeds its expectation by.
            weight: Of this excess in `size`.
            row: Where the chunk ends.
        """
        self.height = max(0.0, self.height + min(score, most) - reference)
        if self.height == 0.0:
            self.start, self.num_chunks, self._weight, self._excess, self._scores = row, 0, 0.0, 0.0, 0.0
            return
        self.num_chunks += 1
        self._weight += weight
        self._excess += weight * excess
        self._scores += score

    @property
    def clarity(self) -> float:
        """How much likelier the scores since the climb began are with the mean they have than with none, in nats."""
        return max(self._scores, 0.0) ** 2 / (2.0 * self.num_chunks) if self.num_chunks else 0.0

    @property
    def size(self) -> float:
        """The mean excess since the climb began; 0 if there is none."""
        return self._excess / self._weight if self._weight else 0.0

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return dict(vars(self))

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Cusum":
        """The sum that had this state."""
        cusum = cls(state["start"])
        vars(cusum).update(state)
        return cusum
