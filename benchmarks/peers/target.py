"""The likelihood that all peers are given: compiled, over blocks of rows, with its gradient.

Positions are vectors of standard Gaussian numbers, so that every problem has the same simple prior. Rows are seen in
float32, as by our own methods; blocks are added in float64 where JAX has it, or the last digits of a log-likelihood of
millions of rows would be lost.
"""

from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.special import ndtri

from benchmarks.peers.data import from_gaussian
from benchmarks.problems import PROBLEMS

BLOCK_ROWS = 1024  # few enough to stay in the cache with a hundred positions, many enough for one
SMALLEST, LARGEST = 1e-300, 1.0 - 1e-16  # of a unit cube that the Gaussian distribution function can be inverted on
IMPOSSIBLE = -1e300  # a log-likelihood
Columns = dict[str, jax.Array]


class Target:
    """A prior of `dimension` standard Gaussian numbers and a log-likelihood.

    Args:
        problem: A name of `problems.PROBLEMS`.
        data: Its rows.

    Attributes:
        model: The model, with its own prior and parameters.
        data: The rows as they were given.
        num_likelihoods: Evaluations so far that went through `log_likelihoods`.
    """

    def __init__(self, problem: str, data: dict[str, np.ndarray]) -> None:
        self.model = PROBLEMS[problem].model
        self.dimension: int = self.model.dimension
        self.data = data
        self.num_rows = len(next(iter(data.values())))
        self.num_likelihoods = 0
        self._from_gaussian = from_gaussian(problem)
        self._sum = _differentiable(partial(_total, self.model))
        self._many = jax.jit(jax.vmap(self._at, in_axes=(0, None, None)))
        self._one_row = jax.jit(jax.vmap(self._at_row, in_axes=(0, None, None)))

    @cached_property
    def columns(self) -> Columns:
        """The rows in blocks, for functions that take them as an argument.

        A compiled program that holds them as constants would take long to compile.
        """
        return {name: jnp.asarray(_in_blocks(values)) for name, values in self.data.items()}

    def log_prior(self, position: jax.Array) -> jax.Array:
        """Of one position: standard Gaussian."""
        return -0.5 * jnp.sum(position**2) - 0.5 * self.dimension * jnp.log(2 * jnp.pi)

    def log_likelihood(self, position: jax.Array, columns: Columns) -> jax.Array:
        """Of all rows at one position: a pure function that can be differentiated, compiled and mapped."""
        return self._at(position, columns, self.num_rows)

    def draws(self, count: int, seed: int) -> np.ndarray:
        """Positions from the prior, shape (count, dimension)."""
        return np.random.default_rng(seed).normal(size=(count, self.dimension))

    def from_cube(self, cube: np.ndarray) -> np.ndarray:
        """The prior transform of nested samplers, for one point of the unit cube or many."""
        return ndtri(np.clip(cube, SMALLEST, LARGEST))

    def log_likelihoods(self, positions: np.ndarray, num_rows: int | None = None) -> np.ndarray:
        """Of the first `num_rows` rows (all) at each position. Called from the host, and counted."""
        self.num_likelihoods += len(positions)
        padded = _padded(positions)
        values = self._many(padded, self.columns, self.num_rows if num_rows is None else num_rows)
        return _for_the_host(values)[: len(positions)]

    def row_log_likelihoods(self, positions: np.ndarray, row: int) -> np.ndarray:
        """Of one row at each position. Called from the host; not counted, as it sees next to no data."""
        return _for_the_host(self._one_row(_padded(positions), self.columns, row))[: len(positions)]

    def log_likelihood_of(self, position: np.ndarray) -> float:
        """Of all rows at one position. Called from the host, and counted."""
        return float(self.log_likelihoods(position[None])[0])

    def _at(self, position: jax.Array, columns: Columns, num_rows: Any) -> jax.Array:
        return self._sum(self._from_gaussian(position), columns, num_rows)

    def _at_row(self, position: jax.Array, columns: Columns, row: jax.Array) -> jax.Array:
        block, place = row // BLOCK_ROWS, row % BLOCK_ROWS
        one = {name: values[block, place][None] for name, values in columns.items()}
        return self.model.log_likelihood_at(self._from_gaussian(position).astype(jnp.float32), one)[0]


def _in_blocks(values: np.ndarray) -> np.ndarray:
    """Padded with repeats of a true row, at which the likelihood is sure to be defined."""
    missing = -len(values) % BLOCK_ROWS
    return np.concatenate([values, np.repeat(values[:1], missing, axis=0)]).reshape(-1, BLOCK_ROWS, *values.shape[1:])


def _padded(positions: np.ndarray) -> np.ndarray:
    """As many as the next number of three binary digits and zeros, so that few programs are compiled."""
    count = len(positions)
    step = 1 << max(count.bit_length() - 3, 0)
    return np.concatenate([positions, np.repeat(positions[:1], -count % step, axis=0)])


def _for_the_host(values: jax.Array) -> np.ndarray:
    """An array that may be written to, with numbers that all samplers take: far out in the prior there may be none."""
    return np.nan_to_num(np.array(values, np.float64), nan=IMPOSSIBLE, neginf=IMPOSSIBLE)


def _total(model: Any, position: jax.Array, columns: Columns, num_rows: Any, with_gradient: bool) -> Any:
    """The log-likelihood of the first rows, or that and its gradient."""

    def block_sum(at: jax.Array, index: jax.Array) -> jax.Array:
        pointwise = model.log_likelihood_at(at, {name: values[index] for name, values in columns.items()})
        counted = index * BLOCK_ROWS + jnp.arange(BLOCK_ROWS) < num_rows
        return jnp.where(counted, pointwise, 0.0) @ counted.astype(pointwise.dtype)

    def add_block(index: jax.Array, totals: Any) -> Any:
        function = jax.value_and_grad(block_sum) if with_gradient else block_sum
        return jax.tree.map(jnp.add, totals, function(position.astype(jnp.float32), index))

    value = jnp.zeros((), position.dtype)
    start = (value, jnp.zeros_like(position)) if with_gradient else value
    return jax.lax.fori_loop(0, (num_rows + BLOCK_ROWS - 1) // BLOCK_ROWS, add_block, start)


def _differentiable(total: Any) -> Any:
    """Value and gradient come from one pass over the data; a loop by itself would have no gradient."""

    @jax.custom_vjp
    def log_likelihood(position: jax.Array, columns: Columns, num_rows: Any) -> jax.Array:
        return total(position, columns, num_rows, with_gradient=False)

    def forward(position: jax.Array, columns: Columns, num_rows: Any) -> tuple[jax.Array, jax.Array]:
        return total(position, columns, num_rows, with_gradient=True)

    def backward(gradient: jax.Array, cotangent: jax.Array) -> tuple[jax.Array, None, None]:
        return cotangent * gradient, None, None

    log_likelihood.defvjp(forward, backward)
    return log_likelihood
