"""Estimates of the gradient of the potential energy U = -log f, f the annealed distribution."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

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


class Anchors(NamedTuple):
    """For every particle an anchor near it, with what all rows and the prior say there.

    Attributes:
        positions: Shape (particles, d).
        gradients: Of the log posterior at the anchor, shape (particles, d).
        hessians: Of the log posterior at the anchor, shape (particles, d, d).
    """

    positions: jax.Array
    gradients: jax.Array
    hessians: jax.Array


def control_variate(
    model: Model, positions: jax.Array, anchors: Anchors, batch: Rows, rows_per_batch_row: jax.Array | float
) -> jax.Array:
    """The gradient of the potential of all rows at each position: exact to second order, the rest by a mini-batch.

    Its noise is that of the third order: it vanishes with the cube of the distance to the anchor.

    Args:
        model: The model.
        positions: One per particle, shape (particles, d).
        anchors: One per particle.
        batch: A mini-batch of all rows.
        rows_per_batch_row: How many rows each row of the batch stands for.
    """

    def beyond(gradient: Callable[[jax.Array], jax.Array], at: jax.Array, anchor: jax.Array) -> jax.Array:
        there, change = jax.jvp(gradient, (anchor,), (at - anchor,))
        return gradient(at) - there - change

    def of_particle(at: jax.Array, anchor: jax.Array, gradient: jax.Array, hessian: jax.Array) -> jax.Array:
        of_batch = beyond(jax.grad(lambda to: jnp.sum(model.log_likelihood_at(to, batch))), at, anchor)
        of_prior = beyond(jax.grad(model.log_prior_at), at, anchor)
        return -(gradient + hessian @ (at - anchor) + rows_per_batch_row * of_batch + of_prior)

    return jax.vmap(of_particle)(positions, *anchors)


def _prior(model: Model, positions: jax.Array) -> jax.Array:
    return jax.vmap(jax.grad(model.log_prior_at))(positions)
