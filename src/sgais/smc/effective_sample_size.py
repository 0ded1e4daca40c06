"""Effective sample size: how many particles of equal weight weighted ones are worth (section 3 of the paper)."""

import numpy as np


def effective_sample_size(log_weights: np.ndarray) -> float:
    """(sum of weights)^2 / (sum of squared weights): 1 to the number of particles, 0 if all weights are zero.

    Example:
        >>> round(sgais.annealing.effective_sample_size(np.log([0.5, 0.5, 1e-300])), 3)
        2.0
    """
    top = np.max(log_weights)
    if not np.isfinite(top):
        return 0.0
    weights = np.exp(log_weights - top)
    return float(weights.sum() ** 2 / (weights @ weights))


def ess_fraction(log_weights: np.ndarray) -> float:
    """The effective sample size over the number of particles, averaged over the islands."""
    tops = log_weights.max(axis=1, keepdims=True)
    alive = np.isfinite(tops[:, 0])
    if not alive.any():
        return 0.0
    weights = np.exp(log_weights[alive] - tops[alive])
    return float(np.mean(weights.sum(axis=1) ** 2 / (weights**2).sum(axis=1)) / log_weights.shape[1])
