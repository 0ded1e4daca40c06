"""HMC on all rows at once: exact moves, for AIS and for SGAIS while rows are few."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.blocks import Blocks
from sgais.estimators.particles import key_of, sample_prior
from sgais.kernels import HMC, hmc
from sgais.likelihood import block_sums, curvature_in_turn, derivatives, relative_to_reference
from sgais.model import Model, real_dtype
from sgais.parallel import grouped, in_parallel

PURPOSE = 1  # of random numbers
PRIOR_DRAWS = 1024  # from which the scale of each coordinate under the prior is read
METRIC_PARTICLES = 16  # over which the curvature that whitens the moves is averaged
MANY_PARAMETERS = 200  # beyond which each of them sees other rows: all Hessians would cost as much as the move
METRIC_BLOCKS = 128  # of rows that are then seen
GROUP = 512  # particles that move together: enough to make up for what starting a program costs
FLATTEST = 0.1  # the least curvature that the moves reckon with, in units of the prior's
FIRST_STEP_SIZE = 0.3


class Target(NamedTuple):
    """What moves need to know of the density besides the rows.

    Attributes:
        reference: The log-likelihood of each block of rows at one of the particles: others are counted from it.
        whitening: Matrix W, shape (d, d); W W' is the inverse of the particles' mean curvature.
    """

    reference: jax.Array
    whitening: jax.Array


def prior_precision(model: Model, seed: int) -> jax.Array:
    """Of each coordinate, from the middle of the prior's draws, which heavy tails leave alone."""
    low, high = np.quantile(sample_prior(model, PRIOR_DRAWS, seed, PURPOSE), [0.16, 0.84], axis=0)
    return jnp.asarray(4.0 / (high - low) ** 2, real_dtype())


def move(
    model: Model,
    kernel: HMC,
    here: np.ndarray,
    positions: np.ndarray | jax.Array,
    data: Blocks,
    step_size: float,
    precision: np.ndarray | jax.Array,
) -> tuple[np.ndarray, hmc.Info]:
    """HMC on log p(theta) + the weighted sum of the rows' log-likelihoods, whitened by the particles' mean curvature.

    Particles move in groups, so that one compiled program serves many of them or few, on as many cores as there are.

    Args:
        model: The model.
        kernel: The parameters of the moves.
        here: The place of the random numbers.
        positions: One per particle, shape (particles, d).
        data: All rows; those that are annealed in have weights below one.
        step_size: In whitened coordinates; `Info` has the next one.
        precision: Of the prior, see `prior_precision`.
    """
    positions, data = np.asarray(positions), jax.device_put(data)
    generator = np.random.default_rng(np.append(here, np.uint32(PURPOSE)))  # the place itself may serve the caller
    some = generator.choice(positions, min(METRIC_PARTICLES, len(positions)), replace=False)
    target = _target(model, some, data, precision)
    groups = grouped(positions, GROUP)

    def move_group(number: int) -> tuple[np.ndarray, hmc.Info]:
        place = np.append(here, np.uint32(number))
        return jax.device_get(_move_group(model, kernel, place, groups[number], data, target, step_size))

    moved, infos = zip(*in_parallel(move_group, range(len(groups))), strict=True)
    together = hmc.Info(
        np.mean([info.acceptance for info in infos]),
        np.exp(np.mean([np.log(info.step_size) for info in infos])),
        np.sum([info.num_non_finite for info in infos]),
        np.max([info.num_trajectories for info in infos]),
    )
    return np.concatenate(moved)[: len(positions)], together


@partial(jax.jit, static_argnames="model")
def _target(model: Model, some: jax.Array, data: Blocks, precision: jax.Array | np.ndarray) -> Target:
    """What all groups need to know, from some of the particles."""
    return Target(block_sums(model, some[:1], data)[:, 0], whiten(_mean_curvature(model, some, data), precision))


@partial(jax.jit, static_argnames=("model", "kernel"))
def _move_group(
    model: Model, kernel: HMC, here: jax.Array, positions: jax.Array, data: Blocks, target: Target, step_size: float
) -> tuple[jax.Array, hmc.Info]:
    def log_density(at: jax.Array) -> tuple[jax.Array, jax.Array]:
        log_priors, prior_gradients = jax.vmap(jax.value_and_grad(model.log_prior_at))(at)
        log_likelihoods, gradients = relative_to_reference(model, at, data, target.reference)
        return log_priors + log_likelihoods, prior_gradients + gradients

    return hmc.move(key_of(here), positions, log_density, target.whitening, step_size, kernel)


def whiten(curvature: jax.Array, precision: jax.Array | np.ndarray) -> jax.Array:
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
