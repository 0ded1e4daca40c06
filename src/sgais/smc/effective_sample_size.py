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


def effective_sample_sizes(log_weights: np.ndarray) -> np.ndarray:
    """The effective sample size of each line of weights, shape (lines, draws)."""
    if not len(log_weights):
        return np.zeros(0)
    first = np.logaddexp.reduce(log_weights, axis=1)
    with np.errstate(invalid="ignore"):  # where all weights are zero
        return np.nan_to_num(np.exp(2 * first - np.logaddexp.reduce(2 * log_weights, axis=1)))


def log_means(log_weights: np.ndarray) -> np.ndarray:
    """The log of the mean weight of each line."""
    if not len(log_weights):
        return np.zeros(0)
    return np.logaddexp.reduce(log_weights, axis=1) - np.log(log_weights.shape[1])


def errors_of_log_means(log_weights: np.ndarray) -> np.ndarray:
    """The standard error of each of these, where draws are independent."""
    share = 1.0 / np.maximum(effective_sample_sizes(log_weights), 1e-12) - 1.0 / max(log_weights.shape[1], 1)
    return np.sqrt(np.maximum(share, 0.0))
