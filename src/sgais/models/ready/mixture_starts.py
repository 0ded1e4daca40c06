"""Where to begin a search for the modes of a Gaussian mixture: clusters of the rows.

Centres are rows, either any or far from each other (k-means++), and a few steps of expectation maximisation make
components of them; at times none, so that not all searches fall for the same clusters.
"""

import numpy as np
from numpy.typing import NDArray

MOST_ROWS = 1000  # that a guess looks at
EM_STEPS = (0, 5, 25)
FIRST_SPREAD = (0.1, 0.3, 1.0)  # of a component, in units of the spread of all rows
PSEUDO_ROWS = 1.0  # that every component has for sure
SMALLEST_VARIANCE = 1e-4  # in units of that of all rows
CONSTANT = 1e-10  # the relative variance of a column that float32 cannot tell from a constant

Array = NDArray[np.float64]


def guess(y: np.ndarray, components: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
    """Weights (components,), variances and means (components, dim), another guess at each call."""
    rows = np.asarray(generator.permutation(y)[:MOST_ROWS], np.float64)
    choose = _far_rows if generator.random() < 0.5 else _any_rows
    total = rows.var(axis=0)
    total = np.where(total > CONSTANT * (1 + rows.mean(axis=0) ** 2), total, 1.0)
    means = choose(rows / np.sqrt(total), components, generator) * np.sqrt(total)
    variances = np.tile(total * generator.choice(FIRST_SPREAD) ** 2, (components, 1))
    weights = np.full(components, 1 / components)
    for _ in range(generator.choice(EM_STEPS)):
        weights, variances, means = _em_step(rows, weights, variances, means, SMALLEST_VARIANCE * total)
    return {"weights": weights, "variances": variances, "means": means}


def _any_rows(rows: Array, count: int, generator: np.random.Generator) -> Array:
    return rows[generator.choice(len(rows), count, replace=len(rows) < count)]


def _far_rows(rows: Array, count: int, generator: np.random.Generator) -> Array:
    """k-means++: each next row is drawn by its squared distance to the nearest one so far."""
    chosen = [rows[generator.integers(len(rows))]]
    squares = np.full(len(rows), np.inf)
    while len(chosen) < count:
        squares = np.minimum(squares, ((rows - chosen[-1]) ** 2).sum(axis=1))
        shares = squares / squares.sum() if squares.sum() > 0 else None
        chosen.append(rows[generator.choice(len(rows), p=shares)])
    return np.array(chosen)


def _em_step(rows: Array, weights: Array, variances: Array, means: Array, floor: Array) -> tuple[Array, Array, Array]:
    """One step of expectation maximisation, in which no component ever dies out."""
    scores = np.log(weights) - 0.5 * np.sum((rows[:, None] - means) ** 2 / variances + np.log(variances), axis=2)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    counts = shares.sum(axis=0)[:, None] + PSEUDO_ROWS
    new_means = (shares.T @ rows + PSEUDO_ROWS * means) / counts
    squares = np.einsum("nk,nkd->kd", shares, (rows[:, None] - new_means) ** 2)
    new_variances = (squares + PSEUDO_ROWS * variances) / counts
    return counts[:, 0] / counts.sum(), np.maximum(new_variances, floor), new_means
