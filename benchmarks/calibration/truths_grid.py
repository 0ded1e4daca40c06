"""Integrals over one or two scales on a grid of their logarithms.

The integrands are smooth and vanish at both ends, so that the plain sum over an even grid converges faster than any
power of its step: with some hundred points across the bulk it is exact to rounding.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

LOWEST, HIGHEST = -45.0, 45.0  # of log scale; no scale of a problem is near
DEEPEST = 50.0  # nats below the top that still count
ZOOMS = 5


def log_integral(log_density: Callable[[np.ndarray], np.ndarray], points: int = 2000) -> float:
    """Log of the integral over a line of exp(log_density(u)), which has one bulk."""
    low, high = LOWEST, HIGHEST
    for _ in range(ZOOMS):
        grid = np.linspace(low, high, points)
        values = log_density(grid)
        low, high = _bulk(grid, values)
    grid = np.linspace(low, high, points)
    return float(logsumexp(log_density(grid)) + np.log(grid[1] - grid[0]))


def log_integral_2d(log_density: Callable[[np.ndarray, np.ndarray], np.ndarray], points: int = 400) -> float:
    """The same over a plane; `log_density` gets two arrays that broadcast."""
    box = [(LOWEST, HIGHEST), (LOWEST, HIGHEST)]
    for _ in range(ZOOMS):
        first, second = (np.linspace(*side, points) for side in box)
        values = log_density(first[:, None], second[None, :])
        box = [_bulk(first, values.max(axis=1)), _bulk(second, values.max(axis=0))]
    first, second = (np.linspace(*side, points) for side in box)
    steps = np.log(first[1] - first[0]) + np.log(second[1] - second[0])
    return float(logsumexp(log_density(first[:, None], second[None, :])) + steps)


def _bulk(grid: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """The part of a grid that counts, a cell wider on both sides than what was seen."""
    inside = np.flatnonzero(values > np.max(values) - DEEPEST)
    return float(grid[max(inside[0] - 1, 0)]), float(grid[min(inside[-1] + 1, len(grid) - 1)])


def log_half_normal(value: np.ndarray, scale: float) -> np.ndarray:
    """The log density of a half-normal scale."""
    return 0.5 * np.log(2 / np.pi) - np.log(scale) - 0.5 * (value / scale) ** 2


def log_half_cauchy(value: np.ndarray, scale: float) -> np.ndarray:
    """The log density of a half-Cauchy scale."""
    return np.log(2 / np.pi) - np.log(scale) - np.log1p((value / scale) ** 2)


def log_normal(value: np.ndarray | float, variance: np.ndarray | float) -> np.ndarray:
    """The log density of a centred Gaussian."""
    return np.asarray(-0.5 * (np.log(2 * np.pi * variance) + np.square(value) / variance))
