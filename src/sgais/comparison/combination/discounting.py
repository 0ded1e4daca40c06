"""Forgetting whose rate is chosen by how well each rate predicts.

At a rate, a score counts half after so many rows (exponential forgetting); the rates themselves are weighted by the
scores of their mixtures, as models are (loss discounting). One of the rates never forgets. So this loses at most the
log of the number of rates, 2.3 nats, to any of them, evidence weights included.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sgais.comparison.combination.base import ChunkScores
from sgais.comparison.probabilities import log_sum, shares_of

HALF_LIVES = (np.inf, 30_000.0, 10_000.0, 3_000.0, 1_000.0, 300.0, 100.0, 30.0, 10.0, 3.0)  # rows


class Discounting:
    """Models weighted by discounted scores, mixed over rates of discounting."""

    wants_rows = False

    def __init__(self) -> None:
        self._scores: dict[str, np.ndarray] = {}  # of each model, one for each rate
        self._rate_scores = np.zeros(len(HALF_LIVES))

    def updated(self, weights: Mapping[str, float], scores: ChunkScores) -> dict[str, float]:  # noqa: ARG002
        """Judge rates and models by the chunk, then mix."""
        names = list(scores.increments)
        before = self._weights_by_rate(scores)
        with np.errstate(divide="ignore"):
            mixed = [log_sum(np.log(shares) + list(scores.increments.values())) for shares in before.T]
        self._rate_scores = self._rate_scores + mixed
        kept = 0.5 ** (scores.num_rows / np.array(HALF_LIVES))
        nothing = np.zeros(len(HALF_LIVES))
        self._scores = {name: kept * self._scores.get(name, nothing) + scores.increments[name] for name in names}
        shares = np.exp(self._rate_scores - log_sum(self._rate_scores))
        found = self._weights_by_rate(scores) @ shares
        return dict(zip(names, (found / found.sum()).tolist(), strict=True))

    def _weights_by_rate(self, scores: ChunkScores) -> np.ndarray:
        """Shape (models, rates)."""
        nothing = np.zeros(len(HALF_LIVES))
        logs = np.array([scores.log_odds[name] + self._scores.get(name, nothing) for name in scores.increments])
        return np.array([list(shares_of(dict(enumerate(column))).values()) for column in logs.T]).T  # type: ignore[arg-type]

    def joined(self, name: str) -> None:  # noqa: ARG002
        """Scores of chunks that the newcomer has not been judged by would be held against it."""
        self._scores = {}

    def state(self) -> dict[str, Any]:
        """The scores."""
        return {"scores": self._scores, "rate_scores": self._rate_scores}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from them."""
        self._scores, self._rate_scores = dict(state["scores"]), np.asarray(state["rate_scores"])
