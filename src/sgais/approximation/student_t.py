"""Multivariate Student t's: what importance sampling draws from, for their tails are heavier than a posterior's."""

from math import lgamma, log, pi
from typing import Any

import numpy as np

from sgais.approximation.gaussian import Gaussian


def standard_draws(generator: np.random.Generator, count: int, dimension: int, freedom: float) -> np.ndarray:
    """Draws around the origin whose scale matrix is the identity, shape (count, d)."""
    normal = generator.normal(size=(count, dimension))
    return normal * np.sqrt(freedom / generator.chisquare(freedom, size=(count, 1)))


def log_densities(gaussian: Gaussian, squares: np.ndarray, freedom: float) -> np.ndarray:
    """Log densities of the t shaped by a Gaussian, at squared distances from its centre in standard deviations."""
    dimension = len(gaussian.centre)
    scale = 0.5 * dimension * log(2 * pi) - gaussian.log_volume
    return log_constant(dimension, freedom) + scale + log_fall(squares, dimension, freedom)


def log_constant(dimension: int, freedom: float) -> float:
    """Log density at the centre where the scale matrix is the identity."""
    half = 0.5 * (freedom + dimension)
    return lgamma(half) - lgamma(0.5 * freedom) - 0.5 * dimension * log(freedom * pi)


def log_fall(squares: Any, dimension: int, freedom: float, xp: Any = np) -> Any:
    """By how much the log density is less at these squared distances, in units of the scale, than at the centre."""
    return -0.5 * (freedom + dimension) * xp.log1p(squares / freedom)
