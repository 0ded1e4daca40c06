"""Log-likelihoods and their derivatives, summed over rows.

Totals over many rows would lose their digits in float32, so they are never formed on the device: log-likelihoods
come as one sum per block (added in float64 on the host), or relative to the blocks of a reference position.
"""

import jax
import jax.numpy as jnp
import numpy as np

from sgais.blocks import Blocks
from sgais.model import Model, Rows


def block_sums(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    """The log-likelihood of each block at each position, shape (blocks, particles)."""

    def add_block(index: jax.Array, sums: jax.Array) -> jax.Array:
        rows, is_row = _block(blocks, index)
        return sums.at[index].set(jax.vmap(lambda position: _sum(model, position, rows, is_row))(positions))

    sums = jnp.zeros((len(blocks.is_row), len(positions)), positions.dtype)
    return jax.lax.fori_loop(0, blocks.num_blocks, add_block, sums)


_block_sums = jax.jit(block_sums, static_argnames="model")


def log_likelihoods(model: Model, positions: jax.Array, blocks: Blocks) -> np.ndarray:
    """The log-likelihood of all rows at each position, its blocks added in float64."""
    return np.asarray(_block_sums(model, positions, blocks)).sum(axis=0, dtype=np.float64)


def relative_to_reference(
    model: Model, positions: jax.Array, blocks: Blocks, reference: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The log-likelihood of all rows minus `reference.sum()`, and its gradient, at each position.

    Args:
        model: The model.
        positions: Shape (particles, d).
        blocks: The rows.
        reference: The log-likelihood of each block at some position near these, shape (blocks,). Differences
            from it are small, so their sum keeps its digits.
    """

    def add_block(index: jax.Array, totals: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        rows, is_row = _block(blocks, index)
        value_and_gradient = jax.value_and_grad(lambda position: _sum(model, position, rows, is_row))
        values, gradients = jax.vmap(value_and_gradient)(positions)
        return totals[0] + (values - reference[index]), totals[1] + gradients

    start = jnp.zeros(len(positions), positions.dtype), jnp.zeros_like(positions)
    return jax.lax.fori_loop(0, blocks.num_blocks, add_block, start)


def gradient_sum(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    """The gradient of the log-likelihood of all blocks at each position, shape (particles, d)."""

    def block_gradient(index: jax.Array | int) -> jax.Array:
        rows, is_row = _block(blocks, index)
        return jax.vmap(jax.grad(lambda position: _sum(model, position, rows, is_row)))(positions)

    if len(blocks.is_row) == 1:  # the usual small chunk needs no loop, which would cost more than its body
        return block_gradient(0)
    return jax.lax.fori_loop(
        0, blocks.num_blocks, lambda index, total: total + block_gradient(index), jnp.zeros_like(positions)
    )


def batch_gradient(model: Model, positions: jax.Array, rows: Rows) -> jax.Array:
    """The gradient of the log-likelihood of rows without padding at each position, shape (particles, d)."""
    return jax.vmap(jax.grad(lambda position: jnp.sum(model.log_likelihood_at(position, rows))))(positions)


def derivatives(model: Model, positions: jax.Array, blocks: Blocks) -> tuple[jax.Array, jax.Array]:
    """Gradient (particles, d) and Hessian (particles, d, d) of the log-likelihood of all rows at each position."""

    def add_block(index: jax.Array, totals: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        rows, is_row = _block(blocks, index)
        gradient = jax.grad(lambda position: _sum(model, position, rows, is_row))
        gradients, hessians = jax.vmap(lambda position: (gradient(position), jax.jacfwd(gradient)(position)))(positions)
        return totals[0] + gradients, totals[1] + hessians

    particles, dimension = positions.shape
    start = jnp.zeros_like(positions), jnp.zeros((particles, dimension, dimension), positions.dtype)
    return jax.lax.fori_loop(0, blocks.num_blocks, add_block, start)


def _block(blocks: Blocks, index: jax.Array | int) -> tuple[Rows, jax.Array]:
    return {name: values[index] for name, values in blocks.columns.items()}, blocks.is_row[index]


def _sum(model: Model, position: jax.Array, rows: Rows, is_row: jax.Array) -> jax.Array:
    pointwise = jnp.where(is_row, model.log_likelihood_at(position, rows), 0.0)
    # A product with ones is summed by vectorised code, which a plain reduction on CPU is not.
    return pointwise @ jnp.ones_like(pointwise)
