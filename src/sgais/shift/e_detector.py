"""An e-detector: a sum of evidence for a change that may have begun at any row (Shin, Ramdas and Rinaldo, 2023).

Each chunk's score is ranked among those before it. While nothing changes every rank is as probable as any other,
whatever the scores are distributed like: a conformal p-value, uniform and independent of those before. A bet on low
ranks then has an expectation of one, and R = bet x (R + rows of the chunk) minus the rows seen is a martingale:
whenever R is at least A at an alarm, the rows before it are at least A on average. No approximation for long runs or
large chunks comes in.
"""

from bisect import bisect_left, bisect_right, insort
from typing import Any

import numpy as np

from sgais.shift.cusum import Cusum

POWERS = np.array([0.1, 0.3, 0.5, 0.7])  # k of the bets k p^(k - 1), for clear changes and for small ones
# Bets that p is below this: soon after a change, the chunks since it share the lowest ranks, and none is alone there.
LEVELS, STAKE = np.array([0.05, 0.15, 0.3]), 0.8
NUM_BETS = len(POWERS) + len(LEVELS)
LEAST_P = 1e-12


class Ranks:
    """Where each score stands among those before it; ties are broken by chance, the same each time."""

    def __init__(self) -> None:
        self._scores: list[float] = []

    def p_value(self, score: float) -> float:
        """The share of scores below, this one included; uniform while all are alike. Then it is one of them."""
        below, up_to = bisect_left(self._scores, score), bisect_right(self._scores, score)
        count = len(self._scores)
        chance = float(np.random.default_rng(count).random())
        insort(self._scores, score)
        return min(max((below + chance * (up_to - below + 1)) / (count + 1), LEAST_P), 1.0 - LEAST_P)

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return {"scores": list(self._scores)}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Ranks":
        """The ranks that had this state."""
        ranks = cls()
        ranks._scores = list(state["scores"])
        return ranks


def bets(p_values: np.ndarray | float) -> np.ndarray:
    """What each bet makes of a stake of one, shape (..., bets); one on average, where p-values are uniform."""
    each = np.asarray(p_values)[..., None]
    steps = 1.0 - STAKE + STAKE * (each < LEVELS) / LEVELS
    return np.concatenate([POWERS * each ** (POWERS - 1.0), steps], axis=-1)


class EDetector:
    """Evidence for a change in one direction.

    Attributes:
        cusum: Where the climb of the evidence began, and how large the change is.
    """

    def __init__(self, row: int) -> None:
        self._heights = np.zeros(NUM_BETS)  # of a detector for each
        self.cusum = Cusum(row)

    @property
    def height(self) -> float:
        """The evidence, in rows: averages over detectors are detectors as well."""
        return float(self._heights.mean())

    def update(self, p_value: float, excess: float, weight: float, rows: int, row: int) -> None:
        """Take in a chunk.

        Args:
            p_value: Small where the chunk speaks for a change.
            excess: What the signal exceeds its expectation by.
            weight: Of this excess in the size of the change.
            rows: Of the chunk.
            row: Where it ends.
        """
        won = bets(p_value)
        self._heights = won * (self._heights + rows)
        self.cusum.update(float(np.log(won.mean())), np.inf, 0.0, excess, weight, row)

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return {"heights": self._heights.tolist(), "cusum": self.cusum.state()}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "EDetector":
        """The detector that had this state."""
        detector = cls(0)
        detector._heights, detector.cusum = np.array(state["heights"]), Cusum.restored(state["cusum"])
        return detector
