"""Regressions that are not Gaussian: importance sampling around the one mode.

Coefficients ~ N(0, 5) throughout; scales, concentrations and degrees of freedom enter by their logarithms.
"""

import numpy as np
from scipy.special import expit, gammaln

from benchmarks.calibration.problem import Rows, Truth
from benchmarks.calibration.truths_grid import log_half_normal, log_normal
from benchmarks.calibration.truths_importance import LogJoint, importance, mode_near
from benchmarks.calibration.truths_tempered import tempered

SCALE = 5.0
BLOCK = 4_000_000  # numbers in memory at once
DRAWS = 20_000


def poisson(rows: Rows) -> Truth:
    """Counts with a rate of exp(x.b)."""
    x, y = _columns(rows)
    constant = gammaln(y + 1).sum()

    def log_joint(b: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            rates = np.exp(b @ x.T).sum(axis=1)
        return b @ (x.T @ y) - rates - constant + _log_prior(b, SCALE)

    return _around_mode(log_joint, np.zeros(x.shape[1]), len(y))


def logistic(rows: Rows) -> Truth:
    """Zeros and ones with log odds x.b."""
    x, y = _columns(rows)

    def log_joint(b: np.ndarray) -> np.ndarray:
        return b @ (x.T @ y) - np.logaddexp(0, b @ x.T).sum(axis=1) + _log_prior(b, SCALE)

    return _around_mode(log_joint, np.zeros(x.shape[1]), len(y))


def logistic_tempered(rows: Rows) -> Truth:
    """The same by tempering, for rows that are all alike: no mode is near Gaussian then."""
    x, y = _columns(rows)
    x = SCALE * x  # of coefficients that are N(0, 1)

    def target(b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        eta = b @ x.T
        return b @ (x.T @ y) - np.logaddexp(0, eta).sum(axis=1), (y - expit(eta)) @ x

    return tempered(target, x.shape[1], particles=500)


def negative_binomial(rows: Rows) -> Truth:
    """Counts with mean exp(x.b) and a concentration ~ Gamma(2, 1)."""
    x, y = _columns(rows)
    values, times = np.unique(y, return_counts=True)
    constant = gammaln(y + 1).sum()

    def log_joint(points: np.ndarray) -> np.ndarray:
        b, log_r = points[:, :-1], points[:, -1:]
        r = np.exp(log_r)
        gammas = (gammaln(values + r) - gammaln(r)) @ times - constant
        excess = b @ x.T - log_r
        softplus = np.logaddexp(0, excess)
        likelihood = gammas - (r * softplus).sum(axis=1) + (y * (excess - softplus)).sum(axis=1)
        return likelihood + _log_prior(b, SCALE) + (2 * log_r - r)[:, 0]

    return _around_mode(log_joint, np.zeros(x.shape[1] + 1), len(y))


def student(rows: Rows, scale: float) -> Truth:
    """Student's t with b ~ N(0, scale), sigma ~ HalfNormal(scale), degrees of freedom ~ Gamma(2, 0.1)."""
    x, y = _columns(rows)

    def log_joint(points: np.ndarray) -> np.ndarray:
        b, log_sigma, log_nu = points[:, :-2], points[:, -2:-1], points[:, -1:]
        sigma, nu = np.exp(log_sigma), np.exp(log_nu)
        residual = (y - b @ x.T) / sigma
        constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * nu) - log_sigma
        likelihood = (constant - 0.5 * (nu + 1) * np.log1p(residual**2 / nu)).sum(axis=1)
        prior = log_half_normal(sigma, scale) + log_sigma + 2 * np.log(0.1) + 2 * log_nu - 0.1 * nu
        return likelihood + _log_prior(b, scale) + prior[:, 0]

    least_squares = np.linalg.lstsq(x, y, rcond=None)[0]
    start = np.array([*least_squares, np.log((y - x @ least_squares).std()), np.log(10.0)])
    return _around_mode(log_joint, start, len(y), 40_000)


def _columns(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    return rows["x"].astype(np.float64), rows["y"].astype(np.float64)


def _log_prior(b: np.ndarray, scale: float) -> np.ndarray:
    return log_normal(b, scale**2).sum(axis=1)


def _around_mode(log_joint: LogJoint, start: np.ndarray, num_rows: int, draws: int = DRAWS) -> Truth:
    block = max(1, BLOCK // num_rows)

    def in_blocks(points: np.ndarray) -> np.ndarray:
        return np.concatenate([log_joint(points[begin : begin + block]) for begin in range(0, len(points), block)])

    return importance(in_blocks, [mode_near(in_blocks, start)], draws)
