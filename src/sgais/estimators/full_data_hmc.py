"""HMC on all rows at once: exact moves, for AIS and for SGAIS while rows are few."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.approximation import reference
from sgais.approximation.reference import Reference
from sgais.compute.blocks import Blocks
from sgais.compute.label_symmetry import LabelOrder, is_in_order
from sgais.compute.likelihood import block_sums, curvature_in_turn, derivatives, relative_to_reference
from sgais.compute.parallel import grouped, in_parallel
from sgais.compute.prior_draws import sample_prior
from sgais.compute.random_keys import jax_key
from sgais.kernels import HMC, hmc
from sgais.kernels.hmc import Trajectories
from sgais.models.base import Model, real_dtype

PURPOSE = 1  # of random numbers
PRIOR_DRAWS = 1024  # from which the scale of each coordinate under the prior is read
METRIC_PARTICLES = 16  # over which the curvature that whitens the moves is averaged
MANY_PARAMETERS = 200  # beyond which each of them sees other rows: all Hessians would cost as much as the move
METRIC_BLOCKS = 128  # of rows that are then seen
GROUP = 256  # particles that move together: enough to make up for what starting a program costs
SHARE_IN_ORDER = 0.5  # of a Gaussian like the particles, above which moves keep to one order of the labels
FLATTEST = 0.1  # the least curvature that the moves reckon with, in units of the prior's
NARROWEST = 1e-6  # the least spread of particles, in units of the prior's or of their own
FIRST_STEP_SIZES = np.array([0.3, 0.3])  # one for each kind of whitening

_COMPILED: set[Any] = set()  # programs that have run already


class Target(NamedTuple):
    """What moves need to know of the density besides the rows.

    Attributes:
        reference: The log-likelihood of each block of rows at one of the particles: others are counted from it.
        whitenings: Matrices W, shape (2, d, d); W W' is the inverse of the particles' mean curvature, and their
            covariance. The first is right where modes are narrow and apart, the second where the curvature varies by
            orders of magnitude over the particles, as under wide priors and in funnels.
    """

    reference: jax.Array
    whitenings: jax.Array


class Tilt(NamedTuple):
    """A target part of the way from a reference density to the posterior: posterior^power reference^(1 - power).

    Attributes:
        power: Of the posterior. The rows carry it in their weights; this one is for the prior and the reference.
        reference: The density at power zero.
    """

    power: float
    reference: Reference


def prior_precision(model: Model, seed: int) -> jax.Array:
    """The precision of each coordinate, from the middle of the prior's draws, which heavy tails leave alone."""
    low, high = np.quantile(sample_prior(model, PRIOR_DRAWS, seed, PURPOSE), [0.16, 0.84], axis=0)
    return jnp.asarray(4.0 / (high - low) ** 2, real_dtype())


class Density(NamedTuple):
    """What particles are to follow: log p(theta) + the weighted sum of the rows' log-likelihoods.

    Attributes:
        data: All rows; those that are annealed in have weights below one.
        order: The order of the labels that particles keep to, if any; they have to be in it at the start.
        tilt: Towards a reference density, if any.
    """

    data: Blocks
    order: LabelOrder | None = None
    tilt: Tilt | None = None


def move(
    model: Model,
    kernel: HMC,
    key: np.ndarray,
    positions: np.ndarray | jax.Array,
    density: Density,
    step_sizes: np.ndarray | float,
    precision: np.ndarray | jax.Array,
) -> tuple[np.ndarray, hmc.Info]:
    """HMC on a density, whitened by what the particles show of it.

    Particles move in groups, so that one compiled program serves many of them or few, on as many cores as there are.

    Args:
        model: The model.
        kernel: The parameters of the moves.
        key: Of the random numbers.
        positions: One per particle, shape (particles, d).
        density: What the particles follow.
        step_sizes: In whitened coordinates; `Info` has the next ones.
        precision: Of the prior, see `prior_precision`.
    """
    positions, data, order = np.asarray(positions), jax.device_put(density.data), density.order
    generator = np.random.default_rng(np.append(key, np.uint32(PURPOSE)))  # the key itself may serve the caller
    some = generator.choice(positions, min(METRIC_PARTICLES, len(positions)), replace=False)
    tilt = Tilt(1.0, reference.nothing(model.dimension)) if density.tilt is None else density.tilt
    target = _target(model, some, data, precision, _spread(positions, np.asarray(precision)))
    step_sizes = np.broadcast_to(step_sizes, FIRST_STEP_SIZES.shape).astype(real_dtype())
    groups = grouped(positions, GROUP)
    program_kernel = replace(kernel, num_trajectories=1)  # their number is told apart from the program

    def move_group(number: int) -> tuple[np.ndarray, hmc.Info]:
        trajectories = _trajectories(np.append(key, np.uint32(number)), kernel.num_trajectories)
        return jax.device_get(
            _move_group(model, program_kernel, trajectories, groups[number], data, target, step_sizes, order, tilt)
        )

    program = (model, program_kernel, groups[0].shape, data.weights.shape, order is None)
    moved, infos = zip(*in_parallel(move_group, range(len(groups)), program in _COMPILED), strict=True)
    _COMPILED.add(program)
    together = hmc.Info(
        np.mean([info.acceptance for info in infos]),
        np.exp(np.mean([np.log(info.step_size) for info in infos], axis=0)),
        np.sum([info.num_non_finite for info in infos]),
        np.max([info.num_trajectories for info in infos]),
    )
    return np.concatenate(moved)[: len(positions)], together


@partial(jax.jit, static_argnames="model")
def _target(
    model: Model, some: jax.Array, data: Blocks, precision: jax.Array | np.ndarray, spread: jax.Array | np.ndarray
) -> Target:
    """What all groups need to know, from some of the particles and the spread of all."""
    by_curvature = whiten(_mean_curvature(model, some, data), precision)
    return Target(block_sums(model, some[:1], data)[:, 0], jnp.stack([by_curvature, spread]))


@partial(jax.jit, static_argnames="most")
def _trajectories(key: jax.Array, most: int) -> Trajectories:
    return hmc.trajectories(jax_key(key), most)


@partial(jax.jit, static_argnames=("model", "kernel"))
def _move_group(
    model: Model,
    kernel: HMC,
    trajectories: Trajectories,
    positions: jax.Array,
    data: Blocks,
    target: Target,
    step_sizes: jax.Array,
    order: LabelOrder | None,
    tilt: Tilt,
) -> tuple[jax.Array, hmc.Info]:
    def log_density(at: jax.Array) -> tuple[jax.Array, jax.Array]:
        log_likelihoods, gradients = relative_to_reference(model, at, data, target.reference)
        log_tilts, tilt_gradients = _prior_and_reference(model, at, tilt)
        return log_tilts + log_likelihoods, tilt_gradients + gradients

    region = None if order is None else partial(is_in_order, model, order=order)
    return hmc.move(trajectories, positions, log_density, target.whitenings, step_sizes, kernel, region)


def _prior_and_reference(model: Model, at: jax.Array, tilt: Tilt) -> tuple[jax.Array, jax.Array]:
    """Log of prior^power reference^(1 - power), and its gradient."""

    def of_prior(at: jax.Array) -> tuple[jax.Array, jax.Array]:
        return jax.vmap(jax.value_and_grad(model.log_prior_at))(at)

    def of_both(at: jax.Array) -> tuple[jax.Array, jax.Array]:
        def total(at: jax.Array) -> tuple[jax.Array, jax.Array]:
            log_priors = jax.vmap(model.log_prior_at)(at)
            log_references = reference.log_density(tilt.reference, at, log_priors)
            each = tilt.power * log_priors + (1 - tilt.power) * log_references
            return jnp.sum(each), each

        gradients, each = jax.grad(total, has_aux=True)(at)
        return each, gradients

    return jax.lax.cond(tilt.power < 1, of_both, of_prior, at)


def _spread(positions: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """W with W W' the particles' covariance, its correlations shrunk where particles are few for their number."""
    particles, dimension = positions.shape
    scales = np.maximum(positions.std(axis=0, dtype=np.float64), NARROWEST / np.sqrt(precision))
    standardised = (positions - positions.mean(axis=0)) / scales
    correlations = standardised.T @ standardised / particles
    share = dimension / (particles + dimension)
    values, vectors = np.linalg.eigh((1 - share) * correlations + share * np.eye(dimension))
    return (scales[:, None] * vectors * np.sqrt(np.maximum(values, NARROWEST))).astype(real_dtype())


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
