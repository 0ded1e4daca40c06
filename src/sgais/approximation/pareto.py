"""How heavy the tail of importance weights is: the shape k of a generalised Pareto distribution.

Weights have about 1/k finite moments; above 0.7 neither their mean nor its standard error can be believed at any
practical number of draws (Vehtari, Simpson, Gelman, Yao and Gabry, "Pareto smoothed importance sampling", 2024). The
fit is that of Zhang and Stephens (Technometrics, 2009) with the weak prior of the former.
"""

import numpy as np

LARGEST_TRUSTED = 0.7
PRIOR_SHAPE, PRIOR_COUNT = 0.5, 10.0
SMALLEST_TAIL = 5  # weights
LIGHT_TAIL = 0.3  # up to which the spread of the weights says all
TAIL_FACTOR = 2.0  # makes intervals of 1.96 errors cover 95 % for shapes up to 0.65, 93 % at 0.7


def tail_shape(log_weights: np.ndarray) -> float:
    """The shape k of the largest weights; -inf if they are all equal, +inf if too few of them are not zero."""
    count = len(log_weights)
    tail_size = int(min(count / 5, 3 * np.sqrt(count)))
    ordered = np.sort(log_weights)
    if tail_size < SMALLEST_TAIL or not np.isfinite(ordered[-tail_size - 1]):
        return np.inf
    threshold = ordered[-tail_size - 1]
    excesses = np.expm1(ordered[-tail_size:] - threshold) if np.ptp(ordered[-tail_size - 1 :]) < 600 else None
    if excesses is None:
        return np.inf  # the largest weight alone is everything
    if excesses[-1] < 1e-10:
        return -np.inf
    if excesses[int(tail_size / 4 + 0.5) - 1] == 0.0:
        return np.inf  # a quarter of the tail is tied: digits are used up, and no curve fits the rest
    shape = _fit_shape(np.maximum(excesses, np.finfo(np.float64).tiny))
    return (tail_size * shape + PRIOR_COUNT * PRIOR_SHAPE) / (tail_size + PRIOR_COUNT)


def unseen_tail(log_weights: np.ndarray, shape: float) -> float:
    """The error, relative to the mean weight, for want of weights beyond the largest that was drawn.

    Beyond a shape of 1/2 the variance is infinite, and the spread of a sample knows little of it. A Pareto tail
    continues beyond the largest of n weights with a mass of about that weight / n / (1 - shape).
    """
    if shape <= LIGHT_TAIL or not np.isfinite(log_weights.max()):
        return 0.0
    share = float(np.exp(log_weights.max() - np.logaddexp.reduce(log_weights)))
    return TAIL_FACTOR * share / (1 - shape) if shape < 1 else np.inf


def _fit_shape(excesses: np.ndarray) -> float:
    """Zhang and Stephens: the profile likelihood in b = -k / scale, averaged over a grid that the data choose."""
    count, largest = len(excesses), excesses[-1]
    grid_size = 30 + int(np.sqrt(count))
    quartile = excesses[int(count / 4 + 0.5) - 1]
    grid = 1 / largest + (1 - np.sqrt(grid_size / (np.arange(1, grid_size + 1) - 0.5))) / (3 * quartile)
    shapes = np.mean(np.log1p(-grid[:, None] * excesses), axis=1)
    log_likelihoods = count * (np.log(-grid / shapes) - shapes - 1)
    weights = np.exp(log_likelihoods - log_likelihoods.max())
    chosen = float(weights @ grid / weights.sum())
    return float(np.mean(np.log1p(-chosen * excesses)))
