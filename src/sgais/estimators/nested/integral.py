"""The integral of nested sampling: from the order in which points died to the evidence and its error.

The i-th point to die was the worst of n_i live ones, which lie uniformly in the prior volume X_{i-1} left over, so
that log X falls by 1 / n_i on average, with a standard deviation of 1 / n_i. Points that die together (the k worst
of n, a plateau, the last live points) die one after the other in this count, n_i falling by one each time.
"""

from typing import NamedTuple

import numpy as np

from sgais.smc.annealing import log_mean_exp


class Integral(NamedTuple):
    """What the dead points add up to.

    Attributes:
        log_evidence: log Z.
        standard_error: Of log Z, from the unknown volumes alone.
        information: H, the Kullback-Leibler divergence of the posterior from the prior, in nats.
        log_weights: Normalised log weights of the points.
    """

    log_evidence: float
    standard_error: float
    information: float
    log_weights: np.ndarray


def live_counts(log_likelihoods: np.ndarray, births: np.ndarray) -> np.ndarray:
    """How many points were alive just before each death: born below it, and not dead yet.

    Args:
        log_likelihoods: Of the points in the order of their death, which is ascending.
        births: The contour that each was born above; -inf for draws from the prior.
    """
    later = np.sort(births[np.isfinite(births)])
    num_born = len(births) - len(later) + np.searchsorted(later, log_likelihoods, side="left")
    return (num_born - np.arange(len(log_likelihoods))).astype(float)


def integrate(log_likelihoods: np.ndarray, num_live: np.ndarray) -> Integral:
    """Sum the likelihood over the prior volume.

    Args:
        log_likelihoods: Of the points in the order of their death, which is ascending; -inf is allowed.
        num_live: How many points were alive just before each death.
    """
    log_edges = _log_edges(num_live)
    log_terms = log_likelihoods + log_edges[:-1] + np.log(-np.expm1(np.diff(log_edges)))
    log_evidence = log_sum_exp(log_terms)
    log_weights = log_terms - log_evidence
    return Integral(
        log_evidence,
        _standard_error(log_likelihoods - log_evidence, log_edges, num_live),
        _information(log_likelihoods, log_weights, log_evidence),
        log_weights,
    )


def log_sum_exp(log_values: np.ndarray) -> float:
    """Log of the sum of exp(log_values)."""
    return log_mean_exp(log_values) + float(np.log(len(log_values)))


def _log_edges(num_live: np.ndarray) -> np.ndarray:
    """The volumes between which each point stands: half way to its neighbours', from 1 down to 0.

    This is the trapezoid rule, with the likelihood of the first and the last point continuing to the ends; so the
    weights sum to one, and the evidence of a constant likelihood is exact.
    """
    log_volumes = -np.cumsum(1.0 / num_live)
    middles = np.logaddexp(log_volumes[:-1], log_volumes[1:]) - np.log(2)
    return np.concatenate([[0.0], middles, [-np.inf]])


def _standard_error(log_likelihoods: np.ndarray, log_edges: np.ndarray, num_live: np.ndarray) -> float:
    """To first order in the unknown shrinkages; sqrt(H / n) for n live points, n large and H not small.

    Z = L_1 + sum of X_i (L_{i+1} - L_i), and an error of the i-th shrinkage shifts this and all later log X.

    Args:
        log_likelihoods: Relative to the log evidence.
        log_edges: The X_i, with the two ends.
        num_live: How many points were alive just before each death.
    """
    above, below = np.exp(log_likelihoods[1:] + log_edges[1:-1]), np.exp(log_likelihoods[:-1] + log_edges[1:-1])
    sensitivities = np.cumsum((above - below)[::-1])[::-1]
    return float(np.sqrt(np.sum((sensitivities / num_live[:-1]) ** 2)))


def _information(log_likelihoods: np.ndarray, log_weights: np.ndarray, log_evidence: float) -> float:
    counts = np.isfinite(log_weights)
    return float(np.exp(log_weights[counts]) @ (log_likelihoods[counts] - log_evidence))
