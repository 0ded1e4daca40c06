"""Backwards from the last row: the probability of a change anywhere, and the most probable segmentation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sgais.changepoints.recursion import RunLengths, by_start

LEAST_SHARE = 1e-12  # of the posterior, below which a possible predecessor is not noted


@dataclass(frozen=True)
class Predecessors:
    """For each border between chunks: which segments may have ended there, as its rows told when they had come.

    What comes behind a change says nothing about the segments before it. So the probability of a change anywhere,
    all rows considered, follows from these, backwards from the last row.

    Attributes:
        borders: The rows before which there may be a change, ascending; the first is 0.
        ends: Where each border's predecessors end in the next two.
        starts: Their first rows.
        shares: Their probabilities.
        best_starts: The first row of the segment that ends at a border in the most probable segmentation up to there.
        best_models: The number of its model.
    """

    borders: list[int]
    ends: list[int]
    starts: list[int]
    shares: list[float]
    best_starts: list[int]
    best_models: list[int]

    @classmethod
    def none(cls) -> "Predecessors":
        """Before the first row."""
        return cls([], [], [], [], [], [])

    def append(self, border: int, before: RunLengths) -> None:
        """Note a border, and what was known when the rows before it had come."""
        starts, shares = by_start(before)
        known = shares > LEAST_SHARE
        self.borders.append(border)
        self.starts.extend(starts[known].tolist())
        self.shares.extend(shares[known].tolist())
        self.ends.append(len(self.starts))
        best = before.best if len(before.starts) else None
        self.best_starts.append(-1 if best is None else int(before.starts[best]))
        self.best_models.append(-1 if best is None else int(before.models[best]))

    def probabilities(self, now: RunLengths) -> np.ndarray:
        """The probability of a change at each border, all rows considered; 1 at the first."""
        borders = np.array(self.borders)
        found = np.zeros(len(borders))
        starts, shares = by_start(now)
        found[np.searchsorted(borders, starts)] += shares
        ends, all_starts, all_shares = np.array([0, *self.ends]), np.array(self.starts, int), np.array(self.shares)
        places = np.searchsorted(borders, all_starts)
        for number in range(len(borders) - 1, 0, -1):
            part = slice(ends[number], ends[number + 1])
            np.add.at(found, places[part], found[number] * all_shares[part])
        return np.minimum(found, 1.0)

    def best_segments(self, now: RunLengths) -> list[tuple[int, int]]:
        """First row and number of the model of each segment of the most probable segmentation."""
        place = {border: number for number, border in enumerate(self.borders)}
        best = now.best
        start, model = int(now.starts[best]), int(now.models[best])
        found = [(start, model)]
        while start > 0:
            number = place[start]
            start, model = self.best_starts[number], self.best_models[number]
            found.append((start, model))
        return found[::-1]

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {name: np.array(values) for name, values in vars(self).items()}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Predecessors":
        """What had this state."""
        return cls(**{name: values.tolist() for name, values in state.items()})
