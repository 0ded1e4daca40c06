"""Log-likelihoods and their gradients, summed over rows for every particle."""

import jax
import jax.numpy as jnp

from sgais.blocks import Blocks
from sgais.model import Model, Rows


def block_sums(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    """The log-likelihood of each block at each position, shape (blocks, particles).

    One number per block, not the total: a block's sum keeps its digits in float32, and the caller adds the
    blocks in float64.
    """

    def add_block(index: jax.Array, sums: jax.Array) -> jax.Array:
        rows, is_row = _block(blocks, index)
        return sums.at[index].set(jax.vmap(lambda position: _sum(model, position, rows, is_row))(positions))

    sums = jnp.zeros((len(blocks.is_row), len(positions)), positions.dtype)
    return jax.lax.fori_loop(0, blocks.num_blocks, add_block, sums)


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


def _block(blocks: Blocks, index: jax.Array | int) -> tuple[Rows, jax.Array]:
    return {name: values[index] for name, values in blocks.columns.items()}, blocks.is_row[index]


def _sum(model: Model, position: jax.Array, rows: Rows, is_row: jax.Array) -> jax.Array:
    pointwise = jnp.where(is_row, model.log_likelihood_at(position, rows), 0.0)
    # A product with ones is summed by vectorised code, which a plain reduction on CPU is not.
    return pointwise @ jnp.ones_like(pointwise)
