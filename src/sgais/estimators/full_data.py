"""HMC on all rows at once: exact moves, for AIS and for SGAIS while rows are few."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from sgais.blocks import Blocks
from sgais.estimators.particles import key_of, sample_prior
from sgais.kernels import HMC, hmc
from sgais.likelihood import block_sums, curvature_in_turn, derivatives, relative_to_reference
from sgais.model import Model, real_dtype

PURPOSE = 1  # of random numbers
PRIOR_DRAWS = 1024  # from which the scale of each coordinate under the prior is read
METRIC_PARTICLES = 16  # over which the curvature that whitens the moves is averaged
MANY_PARAMETERS = 200  # beyond which each of them sees other rows: all Hessians would cost as much as the move
METRIC_BLOCKS = 128  # of rows that are then seen
FLATTEST = 0.1  # the least curvature that the moves reckon with, in units of the prior's
FIRST_STEP_SIZE = 0.3


def prior_precision(model: Model, seed: int) -> jax.Array:
    """Of each coordinate, from the middle of the prior's draws, which heavy tails leave alone."""
    low, high = np.quantile(sample_prior(model, PRIOR_DRAWS, seed, PURPOSE), [0.16, 0.84], axis=0)
    return jnp.asarray(4.0 / (high - low) ** 2, real_dtype())


@partial(jax.jit, static_argnames=("model", "kernel"))
def move(
    model: Model,
    kernel: HMC,
    here: jax.Array,
    positions: jax.Array,
    data: Blocks,
    step_size: float,
    precision: jax.Array,
) -> tuple[jax.Array, hmc.Info]:
    """HMC on log p(theta) + the weighted sum of the rows' log-likelihoods, whitened by the particles' mean curvature.

    Args:
        model: The model.
        kernel: The parameters of the moves.
        here: The place of the random numbers.
        positions: One per particle, shape (particles, d).
        data: All rows; those that are annealed in have weights below one.
        step_size: In whitened coordinates; `Info` has the next one.
        precision: Of the prior, see `prior_precision`.
    """
    metric_key, move_key = jax.random.split(key_of(here))
    some = jax.random.choice(metric_key, positions, (min(METRIC_PARTICLES, len(positions)),), replace=False)
    reference = block_sums(model, positions[:1], data)[:, 0]

    def log_density(at: jax.Array) -> tuple[jax.Array, jax.Array]:
        log_priors, prior_gradients = jax.vmap(jax.value_and_grad(model.log_prior_at))(at)
        log_likelihoods, gradients = relative_to_reference(model, at, data, reference)
        return log_priors + log_likelihoods, prior_gradients + gradients

    whitening = whiten(_mean_curvature(model, some, data), precision)
    return hmc.move(move_key, positions, log_density, whitening, step_size, kernel)


def whiten(curvature: jax.Array, precision: jax.Array) -> jax.Array:
    """W with W W' the inverse of the curvature.

    Directions in which the density curves upwards count by absolute value, flat ones by a little of the prior.
    """
    scales = jnp.sqrt(precision)
    values, vectors = jnp.linalg.eigh(curvature / scales / scales[:, None])
    return (vectors / jnp.sqrt(jnp.maximum(jnp.abs(values), FLATTEST))) / scales[:, None]


def _mean_curvature(model: Model, positions: jax.Array, data: Blocks) -> jax.Array:
    """Minus the Hessian of the log posterior, averaged over these positions.

    It shapes the moves and biases nothing, so that with many parameters an estimate will do.
    """
    if model.dimension > MANY_PARAMETERS:
        of_prior = -jax.hessian(model.log_prior_at)(positions[0])
        return curvature_in_turn(model, positions, data, METRIC_BLOCKS) + of_prior
    curvatures = -derivatives(model, positions, data)[1] - jax.vmap(jax.hessian(model.log_prior_at))(positions)
    usable = jnp.isfinite(curvatures).all(axis=(1, 2), keepdims=True)
    return jnp.sum(jnp.where(usable, curvatures, 0.0), axis=0) / jnp.maximum(jnp.sum(usable), 1)
