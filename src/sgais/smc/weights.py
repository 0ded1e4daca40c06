"""Importance weights of particles, as every annealed method keeps them: log weights, float64, on the host."""

from typing import NamedTuple

import jax
import numpy as np

from sgais.errors import EstimationError, ModelError
from sgais.smc import annealing, resampling


class Estimate(NamedTuple):
    """A log evidence and its Monte Carlo error."""

    log_evidence: float
    standard_error: float


def without_failures(log_likelihoods: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give weight zero to particles whose log-likelihood is not a number, and tell which they are."""
    failed = np.isnan(log_likelihoods) | (log_likelihoods == np.inf)
    return np.where(failed, -np.inf, log_likelihoods), failed


def require_numbers(log_likelihoods: np.ndarray) -> None:
    """Refuse a model whose log-likelihood fails at draws from its own prior."""
    _, failed = without_failures(log_likelihoods)
    if failed.any():
        raise ModelError(
            f"`log_likelihood` must be a number at draws from the prior, got {log_likelihoods[failed][0]} for "
            f"{failed.sum()} of {len(failed)} particles. Look for overflow, a log of zero or a scale of zero."
        )


def usable(log_likelihoods: np.ndarray, at_prior: bool) -> tuple[np.ndarray, int]:
    """Log-likelihoods without failures and the number of these; an error if none of them can be used."""
    if at_prior:
        require_numbers(log_likelihoods)
    kept, failed = without_failures(log_likelihoods)
    if np.isneginf(kept).all():
        raise EstimationError(
            f"every particle gives these rows probability zero ({failed.sum()} of {len(failed)} by a "
            "log-likelihood that is not a number). They were not used. Check them for values that the "
            "model rules out; fewer rows at a time or more particles may find a way."
        )
    return kept, int(failed.sum())


def accumulate(log_weights: np.ndarray, log_increments: np.ndarray) -> np.ndarray:
    """Multiply the increments in (Algorithm 1, line 8), or say that no particle is left."""
    accumulated = log_weights + log_increments
    if np.isneginf(accumulated).all():
        raise EstimationError(
            "no particle explains both these rows and those before them. They were not used. "
            "Use more particles, or resampling."
        )
    return accumulated


def resample(
    scheme: str | None, generator: np.random.Generator, positions: jax.Array, log_weights: np.ndarray
) -> tuple[jax.Array, np.ndarray]:
    """The option of section 3: draw particles by their weights, then give all of them the mean weight."""
    if scheme is None:
        return positions, log_weights
    log_mean = annealing.log_mean_exp(log_weights)
    weights = np.exp(log_weights - log_mean) / len(log_weights)
    survivors = resampling.SCHEMES[scheme](generator, weights)
    return _take(positions, survivors), np.full_like(log_weights, log_mean)


def log_mean_variance(log_weights: np.ndarray) -> float:
    """The variance of log(mean of the weights), to first order: 1 / ESS - 1 / M."""
    return 1.0 / annealing.effective_sample_size(log_weights) - 1.0 / len(log_weights)


def log_mean_with_control(log_weights: np.ndarray, log_controls: np.ndarray) -> tuple[float, float]:
    """Log of the mean weight and its standard error, from (pairs, 2) weights and a control of mean one."""
    top = log_weights.max()
    weights, controls = np.exp(log_weights - top).mean(axis=1), np.exp(log_controls).mean(axis=1)
    spread = controls.var()
    slope = np.mean((weights - weights.mean()) * (controls - controls.mean())) / spread if spread > 0 else 0.0
    values = weights - slope * (controls - 1.0)
    if values.mean() <= 0:
        values = weights
    error = values.std(ddof=1) / np.sqrt(len(values)) / values.mean()
    return float(top + np.log(values.mean())), float(error)


def normalised(log_weights: np.ndarray) -> np.ndarray:
    """Log weights that sum to one."""
    return log_weights - annealing.log_mean_exp(log_weights) - np.log(len(log_weights))


def select(log_weights: np.ndarray, count: int, offset: float) -> np.ndarray:
    """Systematic resampling: which particles to take for `count` draws of equal weight.

    Args:
        log_weights: Not necessarily normalised.
        count: How many to draw.
        offset: The one random number, between 0 and 1.
    """
    top = log_weights.max()
    weights = np.exp(log_weights - top) if np.isfinite(top) else np.ones_like(log_weights)  # they are lost anyway
    return resampling.select(weights, (np.arange(count) + offset) / count)


@jax.jit
def _take(positions: jax.Array, indices: jax.Array) -> jax.Array:
    return positions[indices]
