"""What every way to combine models is given, and what it has to do."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from sgais.comparison.probabilities import log_mixture, log_sum


class ChunkScores(NamedTuple):
    """How well each model predicted a chunk.

    Attributes:
        num_rows: Of the chunk.
        increments: Its log predictive, by model.
        rows: The log predictive of each of its rows by itself, by model; None where nobody asked.
        log_odds: Prior log odds of the models.
        probabilities: Of the models, now that the chunk is part of the evidence.
    """

    num_rows: int
    increments: Mapping[str, float]
    rows: Mapping[str, np.ndarray] | None
    log_odds: Mapping[str, float]
    probabilities: Mapping[str, float]

    def of_model(self, name: str) -> float:
        """The log predictive of the chunk under one model, by the same measure."""
        return self.increments[name] if self.rows is None else float(self.rows[name].sum())

    def of_mixture(self, weights: Mapping[str, float]) -> float:
        """The log predictive of the chunk under the models' mixture: of all rows together, or row by row."""
        if self.rows is None:
            return log_mixture(weights, self.increments)
        logs = np.array([self.rows[name] for name in self.increments])
        with np.errstate(divide="ignore"):
            shares = np.log([weights[name] for name in self.increments])
        shares = shares - log_sum(shares)
        return float(np.logaddexp.reduce(logs + shares[:, None], axis=0).sum())


class Combination(Protocol):
    """Moves the weights of models on, chunk by chunk."""

    wants_rows: bool  # whether it judges by the rows one by one

    def updated(self, weights: Mapping[str, float], scores: ChunkScores) -> dict[str, float]:
        """The weights after a chunk; they sum to one, over the models that have scores."""

    def joined(self, name: str) -> None:
        """A model has come; the weights begin anew with the probabilities."""

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, but for the weights."""

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from such a state."""
