"""Log-likelihoods and their derivatives, summed over rows.

Totals over many rows would lose their digits in float32, so they are never formed on the device: log-likelihoods
come as one sum per block (added in float64 on the host), or relative to the blocks of a reference position.
"""

from collections.abc import Sequence
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute.blocks import BLOCK_ROWS, Blocks, slabs
from sgais.compute.parallel import GROUP, in_groups
from sgais.fields import Chunk
from sgais.models.base import Model, Rows, real_dtype

DERIVATIVE_BLOCKS = (2048, 1024)  # rows of a block, where parameters are few
PAIRS_AT_ONCE = 16384  # of a particle and a row, whose numbers stay in the cache; twice as fast as all at once
LARGE_GROUP = 512  # particles, where there are as many: on few rows, starting a program costs more than it does

_Derivatives: TypeAlias = tuple[jax.Array, jax.Array, jax.Array]


def block_sums(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    """The log-likelihood of each block at each position, shape (blocks, particles)."""

    def at(position: jax.Array) -> jax.Array:
        def add_block(index: jax.Array, sums: jax.Array) -> jax.Array:
            return sums.at[index].set(_sum(model, position, *_block(blocks, index)))

        return jax.lax.fori_loop(0, blocks.num_blocks, add_block, jnp.zeros(len(blocks.weights), position.dtype))

    return jax.lax.map(at, positions, batch_size=_particles_at_once(blocks)).T


_block_sums = jax.jit(block_sums, static_argnames="model")


def log_likelihoods(model: Model, positions: np.ndarray | jax.Array, rows: Sequence[Blocks]) -> np.ndarray:
    """The log-likelihood of all rows at each position, its blocks added in float64."""

    def of_group(group: np.ndarray) -> np.ndarray:
        sums = (np.asarray(_block_sums(model, group, slab)).sum(axis=0, dtype=np.float64) for slab in rows)
        return np.sum(list(sums), axis=0)

    size = LARGE_GROUP if len(positions) >= LARGE_GROUP else GROUP
    return np.asarray(in_groups(of_group, np.asarray(positions, real_dtype()), size=size))


def pointwise(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    """The log-likelihood of each row at each position, padding included, shape (particles, rows)."""

    def at(position: jax.Array) -> jax.Array:
        return jax.lax.map(lambda rows: model.log_likelihood_at(position, rows), blocks.columns).ravel()

    return jax.vmap(at)(positions)


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

    def at(position: jax.Array) -> tuple[jax.Array, jax.Array]:
        def add_block(index: jax.Array, totals: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            rows, weights = _block(blocks, index)
            value, gradient = jax.value_and_grad(lambda position: _sum(model, position, rows, weights))(position)
            return totals[0] + (value - reference[index]), totals[1] + gradient

        start = jnp.zeros((), position.dtype), jnp.zeros_like(position)
        return jax.lax.fori_loop(0, blocks.num_blocks, add_block, start)

    return jax.lax.map(at, positions, batch_size=_particles_at_once(blocks))


def gradient_sum(model: Model, positions: jax.Array, blocks: Blocks) -> jax.Array:
    """The gradient of the log-likelihood of all blocks at each position, shape (particles, d)."""

    def block_gradient(index: jax.Array | int) -> jax.Array:
        rows, weights = _block(blocks, index)
        return jax.vmap(jax.grad(lambda position: _sum(model, position, rows, weights)))(positions)

    if len(blocks.weights) == 1:  # the usual small chunk needs no loop, which would cost more than its body
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
        rows, weights = _block(blocks, index)
        gradient = jax.grad(lambda position: _sum(model, position, rows, weights))
        gradients, hessians = jax.vmap(lambda position: (gradient(position), jax.jacfwd(gradient)(position)))(positions)
        return totals[0] + gradients, totals[1] + hessians

    particles, dimension = positions.shape
    start = jnp.zeros_like(positions), jnp.zeros((particles, dimension, dimension), positions.dtype)
    return jax.lax.fori_loop(0, blocks.num_blocks, add_block, start)


def curvature_in_turn(model: Model, positions: jax.Array, blocks: Blocks, most_blocks: int) -> jax.Array:
    """Minus the Hessian of the log-likelihood of all rows, averaged over positions: one Hessian per row at most.

    Each block is seen from one of the positions, in turn, and of more blocks than `most_blocks` only every second or
    third or so is seen. An estimate for models of many parameters, where the Hessians of all rows at all positions
    would cost more than what they are wanted for.
    """
    stride = (blocks.num_blocks + most_blocks - 1) // most_blocks

    def add_block(turn: jax.Array, totals: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        rows, weights = _block(blocks, turn * stride)
        gradient = jax.grad(lambda position: _sum(model, position, rows, weights))
        hessian = jax.jacfwd(gradient)(positions[turn % len(positions)])
        usable = jnp.isfinite(hessian).all()
        return totals[0] - jnp.where(usable, hessian, 0.0), totals[1] + jnp.where(usable, jnp.sum(weights), 0.0)

    dimension = positions.shape[1]
    start = jnp.zeros((dimension, dimension), positions.dtype), jnp.zeros((), blocks.weights.dtype)
    turns = (blocks.num_blocks + stride - 1) // stride
    total, weight = jax.lax.fori_loop(0, turns, add_block, start)
    return total * (jnp.sum(blocks.weights) / jnp.maximum(weight, 1e-30)).astype(total.dtype)


def slabs_for_derivatives(model: Model, chunk: Chunk) -> list[Blocks]:
    """The chunk in slabs, for derivatives at one position.

    A Hessian takes as many numbers a row as the parameters take particles. Where these are few, larger blocks fit into
    the cache, and fewer of them cost less to start.
    """
    rows = PAIRS_AT_ONCE // model.dimension
    return slabs(chunk, block_rows=next((size for size in DERIVATIVE_BLOCKS if size <= rows), BLOCK_ROWS))


def derivatives_by_group(
    model: Model,
    position: jax.Array,
    blocks: Blocks,
    num_groups: int,
    blocks_per_group: jax.Array | int,
    basis: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Log-likelihood, gradient and Hessian at one position, in parts to be added in float64.

    A Hessian summed in float32 throughout would be off by about 0.3 in every entry at a million rows, while a
    direction that only the prior determines (a constant added to all logits of a softmax) has a curvature of 1.

    Given a basis B, the derivatives are those by u at position + B u. Where columns are far from their mean, as a year
    is, the entries of the Hessian are that much larger than the least of its eigenvalues, whose digits float32 then
    loses. In a basis that whitens it, they are kept.

    Returns:
        One value per block, and per group of blocks the gradient (groups, d) and the Hessian (groups, d, d).
    """
    origin = position if basis is None else jnp.zeros_like(position)

    def shifted(at: jax.Array) -> jax.Array:
        return at if basis is None else position + basis @ at

    def add_block(index: jax.Array, totals: _Derivatives) -> _Derivatives:
        rows, weights = _block(blocks, index)
        value_and_gradient = jax.value_and_grad(lambda at: _sum(model, shifted(at), rows, weights))
        value, gradient = value_and_gradient(origin)
        hessian = jax.jacfwd(lambda at: value_and_gradient(at)[1])(origin)
        group = index // blocks_per_group
        values, gradients, hessians = totals
        return values.at[index].set(value), gradients.at[group].add(gradient), hessians.at[group].add(hessian)

    num_blocks, dimension = len(blocks.weights), len(position)
    shapes = (num_blocks,), (num_groups, dimension), (num_groups, dimension, dimension)
    values, gradients, hessians = (jnp.zeros(shape, position.dtype) for shape in shapes)
    return jax.lax.fori_loop(0, blocks.num_blocks, add_block, (values, gradients, hessians))


def change_by_group(
    model: Model,
    before: jax.Array,
    after: jax.Array,
    blocks: Blocks,
    num_groups: int,
    blocks_per_group: jax.Array | int,
) -> jax.Array:
    """How the log-likelihood of each group of blocks changes from one position to another, shape (particles, groups).

    The difference is taken row by row, so that a small one keeps its digits.
    """

    def between(ends: tuple[jax.Array, jax.Array]) -> jax.Array:
        def add_block(index: jax.Array, totals: jax.Array) -> jax.Array:
            rows, weights = _block(blocks, index)
            old, new = (model.log_likelihood_at(position, rows) for position in ends)
            change = jnp.where(weights > 0, new - old, 0.0)
            return totals.at[index // blocks_per_group].add(change @ weights.astype(change.dtype))

        return jax.lax.fori_loop(0, blocks.num_blocks, add_block, jnp.zeros(num_groups, before.dtype))

    return jax.lax.map(between, (before, after), batch_size=_particles_at_once(blocks))


def _particles_at_once(blocks: Blocks) -> int:
    return max(1, PAIRS_AT_ONCE // blocks.weights.shape[1])


def _block(blocks: Blocks, index: jax.Array | int) -> tuple[Rows, jax.Array]:
    return {name: values[index] for name, values in blocks.columns.items()}, blocks.weights[index]


def _sum(model: Model, position: jax.Array, rows: Rows, weights: jax.Array) -> jax.Array:
    # Padding counts zero times even where its log-likelihood is infinite. A product is summed by vectorised code,
    # which a plain reduction on CPU is not.
    pointwise = jnp.where(weights != 0, model.log_likelihood_at(position, rows), 0.0)
    return pointwise @ weights.astype(pointwise.dtype)
