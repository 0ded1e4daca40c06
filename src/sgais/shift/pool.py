"""Chunks of a few rows, judged together: the sum of a few log predictives is far from Gaussian."""

import math
from typing import Any, NamedTuple

LEAST_ROWS = 20  # that are judged together


class Judged(NamedTuple):
    """What is judged at once: a chunk, or some small ones.

    Attributes:
        increment: Their log predictive.
        steps: Annealing steps, the most of a chunk; None where they are not known.
        rows: How many rows.
        expected: Mean and standard deviation of the log predictive, where the caller knows.
    """

    increment: float
    steps: int | None
    rows: int
    expected: tuple[float, float] | None


class Pool:
    """Small chunks that wait for others."""

    def __init__(self) -> None:
        self._waiting: list[Judged] = []

    def joined(self, chunk: Judged) -> Judged | None:
        """A chunk with those that waited; None while they are too few rows to be judged."""
        self._waiting.append(chunk)
        rows = sum(one.rows for one in self._waiting)
        if rows < LEAST_ROWS:
            return None
        waited, self._waiting = self._waiting, []
        steps = [one.steps for one in waited if one.steps is not None]
        expected = [one.expected for one in waited if one.expected is not None]
        all_expected = None
        if len(expected) == len(waited):
            all_expected = sum(mean for mean, _ in expected), math.hypot(*(deviation for _, deviation in expected))
        return Judged(sum(one.increment for one in waited), max(steps, default=None), rows, all_expected)

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, for a checkpoint."""
        return {"waiting": [list(one) for one in self._waiting]}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Pool":
        """The pool that had this state."""
        pool = cls()
        for increment, steps, rows, expected in state["waiting"]:
            pool._waiting.append(Judged(increment, steps, rows, None if expected is None else tuple(expected)))
        return pool
