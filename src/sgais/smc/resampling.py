"""Resampling: indices of the particles that survive, each drawn in proportion to its weight.

All four schemes keep particle i an expected `num_particles * weight_i` times; they differ in variance
(multinomial most, systematic usually least).
"""

from collections.abc import Callable

import numpy as np

JUST_BELOW_ONE = np.nextafter(1.0, 0.0)


def select(weights: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The particle in whose share of [0, 1) each point falls; weights need not be normalised."""
    shares = np.cumsum(weights)
    # Neither the shares' total nor the largest point may round to beyond the last particle that has weight.
    return np.searchsorted(shares / shares[-1], np.minimum(points, JUST_BELOW_ONE), side="right")


def multinomial(generator: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Independent draws."""
    return select(weights, np.sort(generator.random(len(weights))))


def stratified(generator: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """One draw in each of M equal strata."""
    count = len(weights)
    return select(weights, (np.arange(count) + generator.random(count)) / count)


def systematic(generator: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """One draw, the same in each of M equal strata."""
    count = len(weights)
    return select(weights, (np.arange(count) + generator.random()) / count)


def residual(generator: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """The whole part of M w_i copies for sure, the rest by independent draws."""
    count = len(weights)
    expected = count * weights
    copies = np.floor(expected * (1 + 1e-12)).astype(int)  # M times 1/M may round to just below one
    sure = np.repeat(np.arange(count), copies)
    left = count - len(sure)
    if left == 0:
        return sure
    rest = np.maximum(expected - copies, 0.0)
    return np.concatenate([sure, select(rest, np.sort(generator.random(left)))])


SCHEMES: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    "multinomial": multinomial,
    "residual": residual,
    "stratified": stratified,
    "systematic": systematic,
}
