"""Groups with an effect each: effects and overall mean in closed form, scales on a grid.

All rows of a group enter by their number, mean and squares: n rows y ~ N(theta, sigma) are worth one
N(mean; theta, sigma^2 / n) and a factor that theta does not enter.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import logsumexp

from benchmarks.calibration.problem import Rows, Truth
from benchmarks.calibration.truths_grid import (
    log_half_cauchy,
    log_integral,
    log_integral_2d,
    log_normal,
)
from benchmarks.calibration.truths_linear import QUADRATURE

LogPrior: TypeAlias = Callable[[np.ndarray], np.ndarray]


class Groups(NamedTuple):
    """What the rows say of each group that has any."""

    counts: np.ndarray
    means: np.ndarray
    squares: float  # of the distances from the groups' means


def groups(rows: Rows) -> Groups:
    """Sum the rows up by group."""
    index, y = rows["group"].astype(int), rows["y"].astype(np.float64)
    counts = np.bincount(index)
    means = np.bincount(index, y) / np.maximum(counts, 1)
    return Groups(counts[counts > 0], means[counts > 0], float(((y - means[index]) ** 2).sum()))


def log_within(found: Groups, sigma: np.ndarray | float) -> np.ndarray:
    """The factor that the effects do not enter."""
    noise = np.square(np.asarray(sigma, dtype=float))
    spare = found.counts.sum() - len(found.counts)
    return -0.5 * (spare * np.log(2 * np.pi * noise) + found.squares / noise + np.log(found.counts).sum())


def log_between(means: np.ndarray, variances: np.ndarray, scale: float) -> np.ndarray:
    """Log p(means) for means ~ N(mu, variances), mu ~ N(0, scale); the last axis is that of the groups."""
    precisions = 1 / variances
    total, weighted = precisions.sum(axis=-1), (precisions * means).sum(axis=-1)
    gain = 0.5 * weighted**2 / (total + 1 / scale**2) - 0.5 * np.log1p(scale**2 * total)
    return log_normal(means, variances).sum(axis=-1) + gain


def random_intercepts(rows: Rows, mean_scale: float, log_tau: LogPrior, log_sigma: LogPrior) -> Truth:
    """Effects ~ N(mu, tau), y ~ N(effect, sigma), mu ~ N(0, mean_scale): a grid over tau and sigma."""
    found = groups(rows)

    def integrand(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        tau, sigma = np.exp(first), np.exp(second)
        variances = (tau**2)[..., None] + (sigma**2)[..., None] / found.counts
        prior = log_tau(tau) + first + log_sigma(sigma) + second
        return log_between(found.means, variances, mean_scale) + log_within(found, sigma) + prior

    fine, coarse = (log_integral_2d(integrand, points) for points in (400, 250))
    return Truth(fine, abs(fine - coarse), QUADRATURE)


def schools(rows: Rows, mean_scale: float, log_tau: LogPrior) -> Truth:
    """One row for each effect, with a noise scale that the row states: a grid over tau."""
    y, noise = rows["y"].astype(np.float64), rows["scale"].astype(np.float64) ** 2

    def integrand(first: np.ndarray) -> np.ndarray:
        tau = np.exp(first)
        return log_between(y, (tau**2)[:, None] + noise, mean_scale) + log_tau(tau) + first

    return _converged(integrand)


def horseshoe(rows: Rows, sigma: float = 1.0) -> Truth:
    """Effects ~ N(0, lambda tau), a half-Cauchy lambda for each and one tau for all: a grid within a grid."""
    found = groups(rows)
    within = float(log_within(found, sigma))

    def integrand(first: np.ndarray, points: int) -> np.ndarray:
        grid = np.linspace(-40.0, 40.0, points)
        local = log_half_cauchy(np.exp(grid), 1.0) + grid + np.log(grid[1] - grid[0])
        total = log_half_cauchy(np.exp(first), 1.0) + first + within
        for count, mean in zip(found.counts, found.means, strict=True):
            variances = np.exp(2 * (first[:, None] + grid)) + sigma**2 / count
            total = total + logsumexp(log_normal(mean, variances) + local, axis=1)
        return total

    fine, coarse = (log_integral(partial(integrand, points=points), 600) for points in (1600, 1000))
    return Truth(fine, abs(fine - coarse), "nested quadrature")


def funnel(rows: Rows, scale: float, sigma: float) -> Truth:
    """V ~ N(0, scale), effects ~ N(0, exp(v / 2)), y ~ N(effect, sigma): a grid over v."""
    found = groups(rows)
    within = float(log_within(found, sigma))

    def integrand(v: np.ndarray) -> np.ndarray:
        variances = np.exp(v)[:, None] + sigma**2 / found.counts
        return log_normal(found.means, variances).sum(axis=1) + log_normal(v, scale**2) + within

    return _converged(integrand)


def product(rows: Rows, scale: float) -> Truth:
    """Y ~ N(a b, 1) with a and b ~ N(0, scale): b in closed form, a grid over a."""
    found = groups(rows | {"group": np.zeros(len(rows["y"]))})

    def integrand(a: np.ndarray) -> np.ndarray:
        variances = (a * scale) ** 2 + 1.0 / found.counts[0]
        return log_normal(found.means[0], variances) + log_normal(a, scale**2) + log_within(found, 1.0)

    return _converged(integrand, 8000)


def _converged(integrand: Callable[[np.ndarray], np.ndarray], points: int = 4000) -> Truth:
    fine, coarse = (log_integral(integrand, count) for count in (points, points // 2))
    return Truth(fine, abs(fine - coarse), QUADRATURE)
