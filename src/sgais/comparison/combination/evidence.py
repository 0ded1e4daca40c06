"""Weights that are the models' probabilities, or that forget at a rate which somebody has chosen."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sgais.comparison.combination.base import ChunkScores
from sgais.comparison.probabilities import shares_of


class Evidence:
    """Bayesian model averaging: no other weights lose less to the best model, if one of them is true."""

    wants_rows = False

    def updated(self, weights: Mapping[str, float], scores: ChunkScores) -> dict[str, float]:  # noqa: ARG002
        """The probabilities."""
        return dict(scores.probabilities)

    def joined(self, name: str) -> None:
        """There is nothing to do."""

    def state(self) -> dict[str, Any]:
        """There is none."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """There is none."""


class FixedShare(Evidence):
    """A share of the weights is given back to the prior odds with each row.

    Args:
        rate: That share.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate

    def updated(self, weights: Mapping[str, float], scores: ChunkScores) -> dict[str, float]:
        """Bayes' rule, then the share."""
        with np.errstate(divide="ignore"):
            moved = {name: np.log(weights[name]) + value for name, value in scores.increments.items()}
        kept = (1 - self._rate) ** scores.num_rows
        prior = shares_of({name: scores.log_odds[name] for name in scores.increments})
        return {name: kept * share + (1 - kept) * prior[name] for name, share in shares_of(moved).items()}
