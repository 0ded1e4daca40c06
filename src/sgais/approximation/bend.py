"""A density that bends: where its other coordinates are, and how far they spread, depends on one or two leading ones.

That is the shape of hierarchical models. Effects narrow with their scale (a funnel), or turn with it and with their
mean (a ridge), and no Gaussian resembles either. Here the means of the others are quadratic in the leading coordinates
and the logs of their scales linear, so that offsets from a centre can be straightened and bent again explicitly. What
is then left is shaped like a Gaussian.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.approximation import student_t
from sgais.approximation.gaussian import Gaussian, of_positions

LEADERS = 2  # one number of them, one compiled program; with more, some hundred particles are fitted too closely
FEATURES = 1 + LEADERS + LEADERS * (LEADERS + 1) // 2  # one, the leading coordinates and their products
LARGEST_STRETCH = 5.0  # of the log of a scale, so that no tail runs away
ROUNDS = 4  # of means, given scales, and of scales, given means
RIDGE = 1.0  # in particles
OUTLIER = 9.0  # squared residual, in units of its scale, beyond which it says no more of that scale
SMALLEST_SQUARE = 1e-3  # the same, below which its log says no more
SMALLEST_GAIN = 0.05  # nats for each particle that was held out, for which one more leading coordinate is worth having


class Bend(NamedTuple):
    """How offsets from a centre are straightened.

    Attributes:
        leading: What picks the leading coordinates, in units of their spread, shape (LEADERS, d); zero if not in use.
        means: Of the others, for each feature of the leading coordinates, shape (FEATURES, d).
        log_scales: Of the others, for each leading coordinate, shape (LEADERS, d).
    """

    leading: np.ndarray
    means: np.ndarray
    log_scales: np.ndarray

    def straightened(self, offsets: Any, xp: Any = np) -> tuple[Any, Any]:
        """Offsets (n, d) as a Gaussian has them, and the log by which volumes have shrunk at each."""
        means, stretches = self._means_and_stretches(offsets @ self.leading.T, xp)
        return (offsets - means) * xp.exp(-stretches), stretches.sum(axis=1)

    def bent(self, straight: np.ndarray) -> np.ndarray:
        """The inverse: leading coordinates are as they were."""
        means, stretches = self._means_and_stretches(straight @ self.leading.T, np)
        return means + np.exp(stretches) * straight

    def _means_and_stretches(self, leading: Any, xp: Any) -> tuple[Any, Any]:
        stretches = xp.clip(leading @ self.log_scales, -LARGEST_STRETCH, LARGEST_STRETCH)
        return _features(leading, xp) @ self.means, stretches


class Shape(NamedTuple):
    """A Gaussian, and how what is straightened from it bends."""

    gaussian: Gaussian
    bend: Bend


def straight(dimension: int) -> Bend:
    """None at all."""
    return Bend(*(np.zeros((rows, dimension)) for rows in (LEADERS, FEATURES, LEADERS)))


def shape_of(positions: np.ndarray, freedom: float) -> Shape | None:
    """The shape of positions (n, d); None where they do not spread in all directions.

    It has as many leading coordinates as make positions likelier that were held out: often none.

    Args:
        positions: Equally weighted.
        freedom: Degrees of freedom of the t that is to have this shape.
    """
    gaussian, dimension = of_positions(positions), positions.shape[1]
    if gaussian is None:
        return None
    leaders = _leaders(_standardised(positions), min(LEADERS, dimension - 1))
    known = np.unique(positions, axis=0)  # copies would be on either side
    halves = known[::2], known[1::2]
    best, best_gain = Shape(gaussian, straight(dimension)), -np.inf
    for count in range(len(leaders) + 1):
        gain = sum(_held_out(some, others, leaders[:count], freedom) for some, others in (halves, halves[::-1]))
        if not gain / len(known) > best_gain + SMALLEST_GAIN:
            continue
        shape = _fitted(positions, leaders[:count])
        if shape is not None:
            best, best_gain = shape, gain / len(known)
    return best


def _held_out(fitted_to: np.ndarray, held_out: np.ndarray, leaders: Sequence[int], freedom: float) -> float:
    """The log density of positions under a shape that was fitted to others."""
    shape = _fitted(fitted_to, leaders)
    if shape is None:
        return -np.inf
    offsets, log_shrinkage = shape.bend.straightened(held_out - shape.gaussian.centre)
    squares = shape.gaussian.distances(offsets + shape.gaussian.centre) ** 2
    return float(np.sum(student_t.log_densities(shape.gaussian, squares, freedom) - log_shrinkage))


def _leaders(positions: np.ndarray, count: int) -> list[int]:
    """The coordinates that tell most of the others, one after the other."""
    chosen: list[int] = []
    for _ in range(count):
        others = [number for number in range(positions.shape[1]) if number not in chosen]
        gains = [_gain(positions, chosen, number) for number in others]
        chosen.append(others[int(np.argmax(gains))])
    return chosen


def _gain(positions: np.ndarray, chosen: list[int], new: int) -> float:
    """What one more leading coordinate tells of the others: bends in their means and changes of their scales."""
    leading = [*chosen, new]
    others = np.delete(positions, leading, axis=1)
    linear = np.column_stack([np.ones(len(positions)), positions[:, leading]])
    residuals = _without(linear, others)
    products = _without(linear, positions[:, [new]] * positions[:, leading])
    bends = _explained(residuals, residuals - _without(products, residuals))
    logs = np.log(residuals**2 / np.maximum(residuals.var(axis=0), np.finfo(float).tiny) + SMALLEST_SQUARE)
    logs -= logs.mean(axis=0)
    stretches = _explained(logs, logs - _without(positions[:, [new]], logs))
    return float(-np.log1p(-bends).sum() - np.log1p(-stretches).sum())


def _without(basis: np.ndarray, values: np.ndarray) -> np.ndarray:
    """What a basis (n, k) does not explain of values (n, m), by least squares."""
    directions = np.linalg.qr(basis)[0]
    return values - directions @ (directions.T @ values)


def _explained(values: np.ndarray, part: np.ndarray) -> np.ndarray:
    """The share of the squares of each column that a part of it has."""
    squares = np.maximum((values**2).sum(axis=0), np.finfo(float).tiny)
    return np.minimum((part**2).sum(axis=0) / squares, 0.99)


def _fitted(positions: np.ndarray, leaders: Sequence[int]) -> Shape | None:
    """The shape with these leading coordinates: weighted least squares for means, scoring for the logs of scales."""
    centre, spread, dimension = positions.mean(axis=0), positions.std(axis=0), positions.shape[1]
    if not (spread > 0).all():
        return None
    standardised = (positions - centre) / spread
    picks = np.zeros((LEADERS, dimension))
    picks[np.arange(len(leaders)), leaders] = 1.0
    features = _features(standardised @ picks.T, np)
    linear = features[:, : 1 + LEADERS]
    means, log_scales = np.zeros((FEATURES, dimension)), np.zeros((1 + LEADERS, dimension))
    others = np.setdiff1d(np.arange(dimension), leaders)
    for _ in range(ROUNDS if len(leaders) else 0):
        weights = np.exp(-2 * linear @ log_scales[:, others])
        means[:, others] = _weighted_least_squares(features, weights, standardised[:, others])
        squares = weights * (standardised[:, others] - features @ means[:, others]) ** 2
        score = linear.T @ (np.minimum(squares, OUTLIER) - 1)
        log_scales[:, others] += np.linalg.solve(2 * linear.T @ linear + RIDGE * np.eye(len(score)), score)
    bend = Bend(picks / spread, means * spread, log_scales[1:])
    gaussian = of_positions(centre + bend.straightened(positions - centre)[0])
    return None if gaussian is None else Shape(gaussian._replace(centre=centre), bend)


def _weighted_least_squares(features: np.ndarray, weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Coefficients (features, m) of each column of values (n, m), whose rows have weights of their own, (n, m)."""
    grams = np.einsum("nf,nm,ng->mfg", features, weights, features) + RIDGE * np.eye(features.shape[1])
    sides = np.einsum("nf,nm->mf", features, weights * values)
    return np.linalg.solve(grams, sides[..., None])[..., 0].T


def _features(leading: Any, xp: Any) -> Any:
    """One, the leading coordinates (n, LEADERS) and their products."""
    products = [leading[:, one] * leading[:, other] for one in range(LEADERS) for other in range(one, LEADERS)]
    columns = [xp.ones_like(leading[:, 0]), *(leading[:, one] for one in range(LEADERS)), *products]
    return xp.stack(columns, axis=1)


def _standardised(positions: np.ndarray) -> np.ndarray:
    return (positions - positions.mean(axis=0)) / positions.std(axis=0)
