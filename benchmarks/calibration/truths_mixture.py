"""Gaussian mixtures with the library's prior: importance sampling around all modes that EM finds.

Coordinates are log(w_k / w_K), log variances and means. With the Jacobian of these coordinates in the prior, EM's
M-step is in closed form, so that EM ends at the very modes that the Student t's want. Labels: the proposal is the
mean over all orders of the labels, which needs no cell and no K!.
"""

from collections.abc import Iterator
from itertools import permutations

import numpy as np
from scipy.special import logsumexp

from benchmarks.calibration.problem import Rows, Truth
from benchmarks.calibration.truths_importance import Images, LogJoint, Mode, expansion, importance

MEAN_PRECISION = 0.25  # of the means in units of their component's variance
BLOCK = 4_000_000  # numbers in memory at once
STEPS = 400  # of EM
WITHIN = 12.0  # nats of the best mode


def log_joint_of(y: np.ndarray, components: int) -> LogJoint:
    """The log density of coordinates and rows, in blocks."""
    features = np.column_stack([y**2, y]).T
    block = max(1, BLOCK // (components * len(y)))

    def log_joint(points: np.ndarray) -> np.ndarray:
        parts = [points[start : start + block] for start in range(0, len(points), block)]
        return np.concatenate([_log_joint(part, features, components, y.shape[1]) for part in parts])

    return log_joint


def split(points: np.ndarray, components: int, dim: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log weights (draws, K), log variances and means (draws, K, dim) at coordinates."""
    ratios = np.pad(points[:, : components - 1], ((0, 0), (0, 1)))
    log_weights = ratios - logsumexp(ratios, axis=1, keepdims=True)
    rest = points[:, components - 1 :].reshape(len(points), 2, components, dim)
    return log_weights, rest[:, 0], rest[:, 1]


def join(log_weights: np.ndarray, log_variances: np.ndarray, means: np.ndarray) -> np.ndarray:
    """The inverse of `split`."""
    ratios = log_weights[:, :-1] - log_weights[:, -1:]
    return np.concatenate([ratios, log_variances.reshape(len(means), -1), means.reshape(len(means), -1)], axis=1)


def _log_joint(points: np.ndarray, features: np.ndarray, components: int, dim: int) -> np.ndarray:
    log_weights, log_variances, means = split(points, components, dim)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        precisions = np.exp(-log_variances)
        constants = log_weights - 0.5 * (means**2 * precisions + log_variances + np.log(2 * np.pi)).sum(axis=2)
        coefficients = np.concatenate([-0.5 * precisions, means * precisions], axis=2)
        scores = coefficients @ features + constants[:, :, None]
        top = scores.max(axis=1)
        scores -= top[:, None]
        likelihood = (top + np.log(np.exp(scores, out=scores).sum(axis=1))).sum(axis=1)
        # Dirichlet(1) with its Jacobian; inverse gamma(1, 1) of exp(log variance) with its Jacobian; the means.
        prior = log_weights.sum(axis=1) + np.log(np.arange(1, components)).sum()
        prior += (-log_variances - precisions).sum(axis=(1, 2))
        spread = np.log(2 * np.pi / MEAN_PRECISION) + log_variances + MEAN_PRECISION * means**2 * precisions
        return likelihood + prior - 0.5 * spread.sum(axis=(1, 2))


def images_of(components: int, dim: int) -> Images:
    """All orders of the labels of given coordinates."""

    def images(points: np.ndarray) -> Iterator[np.ndarray]:
        parts = split(points, components, dim)
        for order in permutations(range(components)):
            yield join(*(part[:, list(order)] for part in parts))

    return images


def em(y: np.ndarray, means: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """Ascend to modes from many starts at once, (starts, K, dim); their coordinates."""
    starts, components, dim = means.shape
    log_weights = np.full((starts, components), -np.log(components))
    log_variances = np.broadcast_to(np.log(y.var(axis=0) / components), means.shape)
    features = np.column_stack([y**2, y, np.ones(len(y))])
    for _ in range(steps):
        precisions = np.exp(-log_variances)
        constants = log_weights - 0.5 * (means**2 * precisions + log_variances).sum(axis=2)
        scores = np.concatenate([-0.5 * precisions, means * precisions, constants[:, :, None]], axis=2) @ features.T
        scores -= scores.max(axis=1, keepdims=True)
        shares = np.exp(scores)
        shares /= shares.sum(axis=1, keepdims=True)
        sums = shares @ features
        counts = sums[:, :, -1:]
        old = means
        means = sums[:, :, dim : 2 * dim] / (counts + MEAN_PRECISION)
        squares = sums[:, :, :dim] - (counts + MEAN_PRECISION) * means**2
        log_variances = np.log((1 + 0.5 * squares) / (1.5 + 0.5 * counts))
        log_weights = np.log((counts[:, :, 0] + 1) / (len(y) + components))
        if np.abs(means - old).max() < 1e-9:
            break
    return join(log_weights, log_variances, means)


def starting_means(y: np.ndarray, components: int, starts: int, generator: np.random.Generator) -> np.ndarray:
    """Random rows for one half of the starts, k-means++ for the other."""
    chosen = []
    for start in range(starts):
        picked = [int(generator.integers(len(y)))]
        for _ in range(components - 1):
            distances = np.square(y[:, None] - y[picked]).sum(axis=2).min(axis=1)
            share = distances / distances.sum() if start % 2 else None
            picked.append(int(generator.choice(len(y), p=share)))
        chosen.append(y[picked])
    return np.array(chosen)


def find_modes(y: np.ndarray, components: int, starts: int, seed: int = 0) -> list[Mode]:
    """Modes that matter, each once whatever the order of its labels."""
    generator = np.random.default_rng(seed)
    log_joint, dim = log_joint_of(y, components), y.shape[1]
    batch = max(1, BLOCK // (components * len(y)))
    means = starting_means(y, components, starts, generator)
    points = np.concatenate([em(y, means[start : start + batch]) for start in range(0, starts, batch)])
    points = _in_order(points, components, dim)
    heights = log_joint(points)
    found: list[Mode] = []
    for place in np.argsort(-heights):
        if any(np.abs(mode.centre - points[place]).max() < 0.02 for mode in found):
            continue
        if heights[place] < heights.max() - 3 * WITHIN:
            break
        log_weights = split(points[place][None], components, dim)[0][0]
        widths = np.exp(-0.5 * log_weights) / np.sqrt(len(y))
        steps = np.concatenate([widths[:-1], np.repeat(widths, dim), np.repeat(widths, dim)])
        found.append(expansion(log_joint, points[place], 0.1 * np.minimum(steps, 1.0)))
    best = max(mode.log_weight for mode in found)
    return [mode for mode in found if mode.log_weight > best - WITHIN][:40]


def _in_order(points: np.ndarray, components: int, dim: int) -> np.ndarray:
    log_weights, log_variances, means = split(points, components, dim)
    order = np.argsort(means[:, :, 0], axis=1)
    rows = np.arange(len(points))[:, None]
    return join(log_weights[rows, order], log_variances[rows, order], means[rows, order])


def around_modes(rows: Rows, components: int, starts: int = 60, draws: int = 40_000, seed: int = 0) -> Truth:
    """Log Z of a Gaussian mixture by importance sampling around the modes of many EM runs."""
    y = rows["y"].astype(np.float64)
    modes = find_modes(y, components, starts, seed)
    return importance(log_joint_of(y, components), modes, draws, images_of(components, y.shape[1]), seed)
