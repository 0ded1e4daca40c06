"""A/B tests whose rows fall into six cells, so that evidences and maxima of thousands of streams cost next to nothing.

Each row has a covariate in {-1, 0, 1} and an arm, 0 or 1. The null knows intercept and covariate, the alternative
the arm as well. Everything is float64, for all streams at once: maxima by Newton's method, evidences by adaptive
Gauss-Hermite quadrature around the mode (or in closed form, where the scale of the noise is unknown).
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import gammaln, logsumexp

CELLS = np.array([[1.0, covariate, arm] for covariate in (-1.0, 0.0, 1.0) for arm in (0.0, 1.0)])
NULL, ALTERNATIVE = [0, 1], [0, 1, 2]  # columns of the cells
NODES, STEPS = 7, 60
LOG_2_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Family:
    """What a row is distributed like, given its linear predictor.

    Attributes:
        name: In tables.
        draw: Outcomes, from predictors and a generator.
        log_partition: Per row, such that log p = y eta - log_partition(eta) + what does not depend on eta; None for
            a Gaussian
            of unknown scale.
        derivatives: The first two of `log_partition`.
    """

    name: str
    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    log_partition: Callable[[np.ndarray], np.ndarray] | None
    derivatives: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None


def _logistic_derivatives(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = 1 / (1 + np.exp(-eta))
    return mean, mean * (1 - mean)


LINEAR = Family("linear, unknown scale", lambda eta, rng: rng.normal(eta), None, None)
LOGISTIC = Family(
    "logistic",
    lambda eta, rng: (rng.random(eta.shape) < 1 / (1 + np.exp(-eta))).astype(float),
    lambda eta: np.logaddexp(0.0, eta),
    _logistic_derivatives,
)
POISSON = Family(
    "Poisson",
    lambda eta, rng: rng.poisson(np.exp(eta)).astype(float),
    np.exp,
    lambda eta: (np.exp(eta), np.exp(eta)),
)
FAMILIES = (LINEAR, LOGISTIC, POISSON)


@dataclass(frozen=True)
class Sums:
    """Of the rows of many streams, shapes (streams, cells)."""

    counts: np.ndarray
    totals: np.ndarray
    squares: np.ndarray

    def plus(self, other: "Sums") -> "Sums":
        """Of both."""
        return Sums(self.counts + other.counts, self.totals + other.totals, self.squares + other.squares)


def draw_cells(arm_share: float, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    """The cell of each row, this share of them with arm 1."""
    return 2 * generator.integers(3, size=shape) + (generator.random(shape) < arm_share)


def chunk_of(family: Family, truth: np.ndarray, cells: np.ndarray, generator: np.random.Generator) -> Sums:
    """The sums of a chunk, whose cells have shape (streams, rows)."""
    streams = len(cells)
    y = family.draw((CELLS @ truth)[cells], generator)
    index = (np.arange(streams)[:, None] * len(CELLS) + cells).ravel()
    size = streams * len(CELLS)
    parts = (np.bincount(index, part.ravel(), size).reshape(streams, -1) for part in (np.ones_like(y), y, y * y))
    return Sums(*parts)


def largest_log_likelihood(family: Family, sums: Sums, columns: list[int]) -> np.ndarray:
    """The largest over all parameters, but for what depends on the rows alone; +inf where there is none."""
    if family.log_partition is None:
        return _largest_gaussian(sums, columns)
    position, _ = _mode(family, sums, columns, precision=0.0)
    return _log_likelihood(family, sums, columns, position[:, None])[:, 0]


def log_evidence(family: Family, sums: Sums, columns: list[int], prior_mean: float) -> np.ndarray:
    """With priors N(prior_mean, 1) on the intercept, N(0, 1) on the others (times the scale, for a Gaussian)."""
    if family.log_partition is None:
        return _gaussian_evidence(sums, columns, prior_mean)
    shift = np.zeros(len(columns))
    shift[0] = prior_mean
    mode, curvature = _mode(family, sums, columns, 1.0, shift)
    root = np.linalg.inv(np.linalg.cholesky(curvature)).transpose(0, 2, 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    grid = np.array(list(product(nodes, repeat=len(columns))))
    log_weights = np.log(np.array(list(product(weights, repeat=len(columns))))).sum(axis=1)
    positions = mode[:, None] + np.einsum("sij,gj->sgi", root, grid)
    logs = _log_likelihood(family, sums, columns, positions)
    logs += -0.5 * np.sum((positions - shift) ** 2, axis=2) - 0.5 * len(columns) * LOG_2_PI
    logs += 0.5 * np.sum(grid**2, axis=1) + log_weights
    return logsumexp(logs, axis=1) + np.linalg.slogdet(root)[1]


def _log_likelihood(family: Family, sums: Sums, columns: list[int], positions: np.ndarray) -> np.ndarray:
    assert family.log_partition is not None
    eta = positions @ CELLS[:, columns].T
    return np.sum(sums.totals[:, None] * eta - sums.counts[:, None] * family.log_partition(eta), axis=2)


def _mode(
    family: Family, sums: Sums, columns: list[int], precision: float, shift: np.ndarray | float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Newton's method from a start that is the same for all streams; minus the Hessian there."""
    assert family.derivatives is not None
    design = CELLS[:, columns]
    position = np.zeros((len(sums.counts), len(columns)))
    ridge = max(precision, 1e-9) * np.eye(len(columns))
    for _ in range(STEPS):
        first, second = family.derivatives(position @ design.T)
        gradient = (sums.totals - sums.counts * first) @ design - precision * (position - shift)
        curvature = np.einsum("sc,ci,cj->sij", sums.counts * second, design, design) + ridge
        step = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        position = position + step * np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=1), 1e-12))[:, None]
        if np.abs(step).max() < 1e-10:
            break
    return position, curvature


def _moments(sums: Sums, columns: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    design = CELLS[:, columns]
    return np.einsum("sc,ci,cj->sij", sums.counts, design, design), sums.totals @ design, sums.squares.sum(axis=1)


def _largest_gaussian(sums: Sums, columns: list[int]) -> np.ndarray:
    products, projections, squares = _moments(sums, columns)
    solved = np.linalg.solve(products, projections[..., None])[..., 0]
    rows = sums.counts.sum(axis=1)
    return -0.5 * rows * (LOG_2_PI + np.log((squares - np.sum(projections * solved, axis=1)) / rows) + 1)


def _gaussian_evidence(sums: Sums, columns: list[int], prior_mean: float) -> np.ndarray:
    """Coefficients N(m, s^2 I), s^2 inverse gamma (1, 1)."""
    products, projections, squares = _moments(sums, columns)
    mean = np.zeros(len(columns))
    mean[0] = prior_mean
    precision, weighted = products + np.eye(len(columns)), projections + mean
    solved = np.linalg.solve(precision, weighted[..., None])[..., 0]
    rows = sums.counts.sum(axis=1)
    scale = 1.0 + 0.5 * (squares + mean @ mean - np.sum(weighted * solved, axis=1))
    volume = np.linalg.slogdet(precision)[1]
    return -0.5 * rows * LOG_2_PI - 0.5 * volume + gammaln(1.0 + rows / 2) - (1.0 + rows / 2) * np.log(scale)
