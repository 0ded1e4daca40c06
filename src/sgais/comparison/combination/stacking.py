"""Online Bayesian stacking: the weights whose mixture predicts best, whether or not any model is true.

Cover's universal portfolio, with models for stocks: weights have a uniform prior on the simplex and the mixture's
log score of each row for likelihood, and the posterior mean is used. Over n rows it loses at most (models - 1) log(n
+ 1) nats to the best weights in hindsight. The posterior is carried by particles; when few of them count they are
drawn anew, shrunk to their mean and spread out again, so that mean and covariance stay (Liu and West, 2001).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sgais.comparison.combination.base import ChunkScores
from sgais.smc.resampling import select

NUM_PARTICLES = 2048
ROWS_AT_ONCE = 8
LEAST_ESS = 0.5  # of the particles
SHRINKAGE = 0.97  # of distances to the mean; what is lost of the covariance is added as noise
LEAST_WEIGHT = 1e-12
PURPOSE = 3571  # of random numbers, unlike those that estimators give their draws


class Stacking:
    """Weights for the log score of rows.

    Args:
        seed: Of the particles.
    """

    wants_rows = True

    def __init__(self, seed: int) -> None:
        self._seed, self._num_moves = seed, 0
        self._names: list[str] = []
        self._particles = np.zeros((NUM_PARTICLES, 0))
        self._log_weights = np.zeros(NUM_PARTICLES)

    def updated(self, weights: Mapping[str, float], scores: ChunkScores) -> dict[str, float]:  # noqa: ARG002
        """The posterior mean after the chunk's rows."""
        names = list(scores.increments)
        assert scores.rows is not None, "stacking judges by rows"
        self._settle(names)
        logs = np.array([scores.rows[name] for name in names])
        known = np.isfinite(logs).any(axis=0)  # a row that is impossible for all says nothing of the weights
        logs = logs[:, known]
        densities = np.exp(logs - logs.max(axis=0)) if logs.size else logs
        for start in range(0, densities.shape[1], ROWS_AT_ONCE):
            mixed = self._particles @ densities[:, start : start + ROWS_AT_ONCE]
            self._log_weights = self._log_weights + np.log(np.maximum(mixed, 1e-300)).sum(axis=1)
            self._refresh()
        mean = self._shares() @ self._particles
        return dict(zip(names, (mean / mean.sum()).tolist(), strict=True))

    def _settle(self, names: list[str]) -> None:
        """Draw the first particles, or let the models go that have failed."""
        if names == self._names:
            return
        if set(names) <= set(self._names):
            kept = np.maximum(self._particles[:, [self._names.index(name) for name in names]], LEAST_WEIGHT)
            self._particles = kept / kept.sum(axis=1, keepdims=True)
        else:
            self._particles = self._generator().dirichlet(np.ones(len(names)), NUM_PARTICLES)
            self._log_weights = np.zeros(NUM_PARTICLES)
        self._names = names

    def _shares(self) -> np.ndarray:
        shares = np.exp(self._log_weights - self._log_weights.max())
        return shares / shares.sum()

    def _refresh(self) -> None:
        shares = self._shares()
        if 1.0 / np.sum(shares**2) >= LEAST_ESS * NUM_PARTICLES or len(self._names) < 2:
            return
        generator = self._generator()
        logits = np.log(np.maximum(self._particles, LEAST_WEIGHT))
        logits -= logits.mean(axis=1, keepdims=True)
        mean = shares @ logits
        covariance = (shares[:, None] * (logits - mean)).T @ (logits - mean)
        values, vectors = np.linalg.eigh(covariance)  # logits have a mean of zero: one direction is empty
        places = (np.arange(NUM_PARTICLES) + generator.random()) / NUM_PARTICLES
        chosen = logits[select(shares, places)]
        noise = (generator.normal(size=chosen.shape) * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        moved = mean + SHRINKAGE * (chosen - mean) + np.sqrt(1 - SHRINKAGE**2) * noise
        moved = np.exp(moved - moved.max(axis=1, keepdims=True))
        self._particles = moved / moved.sum(axis=1, keepdims=True)
        self._log_weights = np.zeros(NUM_PARTICLES)

    def _generator(self) -> np.random.Generator:
        self._num_moves += 1
        return np.random.default_rng([self._seed, PURPOSE, self._num_moves])

    def joined(self, name: str) -> None:
        """The next chunk finds a name that is not known, and the particles are drawn anew."""

    def state(self) -> dict[str, Any]:
        """The particles."""
        return {
            "names": self._names,
            "particles": self._particles,
            "log_weights": self._log_weights,
            "num_moves": self._num_moves,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from them."""
        self._names, self._num_moves = list(state["names"]), state["num_moves"]
        self._particles, self._log_weights = np.asarray(state["particles"]), np.asarray(state["log_weights"])
