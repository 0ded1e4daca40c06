"""Linear models: coefficients are integrated out in closed form, an unknown noise scale on a grid.

With coefficients b ~ N(m, diag(s^2)) and A = X diag(s), y - Xm is Gaussian with covariance sigma^2 + A A'. A thin QR
of A and the singular values of R turn that into independent numbers: so it stays exact for columns in raw units.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln

from benchmarks.calibration.problem import Rows, Truth, length
from benchmarks.calibration.truths_grid import log_half_normal, log_integral, log_normal

EXACT, QUADRATURE = "exact", "quadrature"


class Rotated(NamedTuple):
    """Rows turned so that they are independent: some with a variance of their own, the others noise alone."""

    values: np.ndarray
    variances: np.ndarray  # beside the noise
    num_noise: int
    noise_squares: float


def rotate(x: np.ndarray, y: np.ndarray, scales: np.ndarray | float, means: np.ndarray | float = 0.0) -> Rotated:
    """Turn the rows of a linear model."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    residual = y - x @ np.broadcast_to(means, x.shape[1])
    q, r = np.linalg.qr(x * scales)
    left, singular, _ = np.linalg.svd(r)
    inside = q.T @ residual
    outside = residual - q @ inside
    variances = np.zeros(len(inside))
    variances[: len(singular)] = singular**2
    return Rotated(left.T @ inside, variances, len(y) - len(inside), float(outside @ outside))


def log_density(rotated: Rotated, sigma: np.ndarray | float) -> np.ndarray:
    """Log p(y | sigma) for every sigma, the coefficients integrated out."""
    noise = np.square(np.asarray(sigma, dtype=float))
    spread = log_normal(rotated.values, rotated.variances + noise[..., None]).sum(axis=-1)
    return spread - 0.5 * (rotated.num_noise * np.log(2 * np.pi * noise) + rotated.noise_squares / noise)


def known_scale(
    rows: Rows, scales: np.ndarray | float, sigma: float, means: np.ndarray | float = 0.0, intercept: bool = False
) -> Truth:
    """Log Z of a linear model whose noise scale is known."""
    return Truth(float(log_density(rotate(_design(rows, intercept), rows["y"], scales, means), sigma)), 0.0, EXACT)


def unknown_scale(
    rows: Rows,
    scales: np.ndarray | float,
    log_prior: Callable[[np.ndarray], np.ndarray],
    means: np.ndarray | float = 0.0,
) -> Truth:
    """Log Z of a linear model whose noise scale has a prior."""
    rotated = rotate(rows["x"], rows["y"], scales, means)

    def integrand(log_sigma: np.ndarray) -> np.ndarray:
        sigma = np.exp(log_sigma)
        return log_density(rotated, sigma) + log_prior(sigma) + log_sigma

    fine, coarse = (log_integral(integrand, points) for points in (2000, 1000))
    return Truth(fine, abs(fine - coarse), QUADRATURE)


def half_normal_scale(rows: Rows, scales: float, sigma_scale: float, means: np.ndarray | float = 0.0) -> Truth:
    """The same with sigma ~ HalfNormal(sigma_scale)."""
    return unknown_scale(rows, scales, lambda sigma: log_half_normal(sigma, sigma_scale), means)


def gamma_poisson(rows: Rows, shape: float, rate: float) -> Truth:
    """Counts with a rate ~ Gamma(shape, rate)."""
    y = rows["y"].astype(np.float64)
    after, exposure = shape + y.sum(), rate + length(rows)
    prior = shape * np.log(rate) - gammaln(shape)
    return Truth(float(prior + gammaln(after) - after * np.log(exposure) - gammaln(y + 1).sum()), 0.0, EXACT)


def beta_bernoulli(rows: Rows, a: float, b: float) -> Truth:
    """Zeros and ones with a probability ~ Beta(a, b)."""
    ones = float(rows["y"].astype(np.float64).sum())
    return Truth(float(betaln(a + ones, b + length(rows) - ones) - betaln(a, b)), 0.0, EXACT)


def _design(rows: Rows, intercept: bool) -> np.ndarray:
    x = rows["x"].astype(np.float64)
    return np.column_stack([x, np.ones(len(x))]) if intercept else x
