"""Estimates of the gradient of the potential energy U = -log f, f the annealed distribution."""

import jax

from sgais.blocks import Blocks
from sgais.likelihood import batch_gradient, gradient_sum
from sgais.model import Model, Rows


def full(model: Model, positions: jax.Array, data: Blocks, inverse_temperature: jax.Array | float) -> jax.Array:
    """The exact gradient of -log [p(data | theta)^lambda p(theta)] at each position, shape (particles, d)."""
    likelihood = gradient_sum(model, positions, data)
    return -(inverse_temperature * likelihood + _prior(model, positions))


def mini_batch(
    model: Model,
    positions: jax.Array,
    chunk: Blocks,
    inverse_temperature: jax.Array | float,
    batch: Rows,
    past_per_batch_row: jax.Array | float,
) -> jax.Array:
    """The gradient of Eq. (seq-potential) at each position, shape (particles, d).

    The new chunk counts in full, tempered; the past by a mini-batch, scaled up.

    Args:
        model: The model.
        positions: One per particle, shape (particles, d).
        chunk: The new rows, y_n of the paper.
        inverse_temperature: lambda.
        batch: The mini-batch B of past rows.
        past_per_batch_row: (n - 1) / |B|: how many past rows each row of the batch stands for.
    """
    new = gradient_sum(model, positions, chunk)
    past = batch_gradient(model, positions, batch)
    return -(inverse_temperature * new + past_per_batch_row * past + _prior(model, positions))


def _prior(model: Model, positions: jax.Array) -> jax.Array:
    return jax.vmap(jax.grad(model.log_prior_at))(positions)
