"""Estimates of the gradient of the potential energy U = -log f, f the annealed distribution."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from sgais.compute.blocks import Blocks
from sgais.compute.likelihood import batch_gradient, gradient_sum
from sgais.models.base import Model, Rows


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
    """An anchor near each particle, or one for all, with what all rows say there.

    Attributes:
        positions: Shape (particles, d), or (d,) for one that all particles share.
        gradients: Of the log-likelihood of all rows at the anchor, in the same shape.
        hessians: The same with one more axis of size d; None where only gradients are kept.
    """

    positions: jax.Array
    gradients: jax.Array
    hessians: jax.Array | None = None


def control_variate(
    model: Model, positions: jax.Array, anchors: Anchors, batch: Rows, rows_per_batch_row: jax.Array | float
) -> jax.Array:
    """The gradient of the potential of all rows at each position: what anchors know of it, the rest by a mini-batch.

    With Hessians it is exact to second order, and the noise vanishes with the square of the distance to the anchor;
    without them it is exact at the anchor, and the noise grows with the distance. The prior's part is always exact.

    Args:
        model: The model.
        positions: One per particle, shape (particles, d).
        anchors: One per particle, or one for all.
        batch: A mini-batch of all rows.
        rows_per_batch_row: How many rows each row of the batch stands for: one number, or one for each.
    """

    def log_likelihood(at: jax.Array) -> jax.Array:
        return jnp.sum(rows_per_batch_row * model.log_likelihood_at(at, batch))

    def of_particle(at: jax.Array, anchor: jax.Array, gradient: jax.Array, hessian: jax.Array | None) -> jax.Array:
        if hessian is None:
            return gradient + _beyond(jax.grad(log_likelihood), anchor, at, order=1)
        return gradient + hessian @ (at - anchor) + _beyond(jax.grad(log_likelihood), anchor, at, order=2)

    of_particles = None if anchors.positions.ndim == 1 else 0
    found = jax.vmap(of_particle, in_axes=(0, of_particles, of_particles, of_particles))(positions, *anchors)
    return -(found + _prior(model, positions))


def _beyond(gradient: Callable[[jax.Array], jax.Array], anchor: jax.Array, at: jax.Array, order: int) -> jax.Array:
    """What the gradient, or with order 2 also its derivative, at the anchor leaves of the gradient elsewhere."""
    if order == 1:
        return gradient(at) - gradient(anchor)
    there, change = jax.jvp(gradient, (anchor,), (at - anchor,))
    return gradient(at) - there - change


def _prior(model: Model, positions: jax.Array) -> jax.Array:
    return jax.vmap(jax.grad(model.log_prior_at))(positions)
