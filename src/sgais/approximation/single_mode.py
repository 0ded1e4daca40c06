"""Draws that stand for a posterior with one mode, with their densities: one compiled call.

A mode is found by Newton's method, from the best of a few starts. Most draws come from a Student distribution with
the mode's curvature, the others from the prior: together they are a mixture (the balance heuristic), whose weights
cannot be larger than the likelihood over the prior's share, so that what the mode does not show is not missed
unnoticed.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln

from sgais.compute.blocks import Blocks
from sgais.compute.likelihood import block_sums, derivatives
from sgais.compute.random_keys import jax_key
from sgais.models.base import Model

FREEDOM = 5  # of the Student distribution: heavier tails than any posterior of some rows
PRIOR_SHARE = 0.125  # of the draws
MOST_STEPS = 25
STEP_LENGTHS = np.array([1.0, 0.25, 0.05, 0.01], np.float32)
CLOSE = 1e-2  # squared Newton decrement at which the climb ends
FLOOR = 1e-5  # of the largest curvature: what float32 leaves of its digits


class Draws(NamedTuple):
    """What a proposal has drawn.

    Attributes:
        positions: Shape (draws, d).
        log_ratios: Of prior to proposal.
        block_sums: Log-likelihoods, shape (blocks, draws), to be added in float64.
        mode: Where the climb ended.
    """

    positions: jax.Array
    log_ratios: jax.Array
    block_sums: jax.Array
    mode: jax.Array


class Ascents(NamedTuple):
    """Where several ascents have ended.

    Attributes:
        heights: Of the log posterior, not normalised.
        distances: From the highest of the ends, in standard deviations there.
    """

    heights: jax.Array
    distances: jax.Array


class _Newton(NamedTuple):
    """What the derivatives at a position say.

    Attributes:
        direction: The step, uphill.
        squared_decrement: Twice the gain that the quadratic promises.
        root: Of the covariance: standard numbers become steps.
        whitening: The inverse of the root, known without solving for it.
        log_volume: Log determinant of the root.
    """

    direction: jax.Array
    squared_decrement: jax.Array
    root: jax.Array
    whitening: jax.Array
    log_volume: jax.Array


class _Climb(NamedTuple):
    """Where an ascent is."""

    position: jax.Array
    num_steps: jax.Array
    squared_decrement: jax.Array


def num_from_prior(num_draws: int) -> int:
    """How many of the draws come from the prior."""
    return int(PRIOR_SHARE * num_draws)


@partial(jax.jit, static_argnames=("model", "num_draws"))
def propose(
    model: Model, starts: jax.Array, from_prior: jax.Array, blocks: Blocks, key: jax.Array, num_draws: int
) -> Draws:
    """Draw, and weigh the draws on the segment's rows.

    Args:
        model: The model.
        starts: Positions to begin from, shape (starts, d).
        from_prior: Draws from the prior, as many as `num_from_prior` says.
        blocks: The rows.
        key: Of the random numbers.
        num_draws: In all.
    """
    first = starts[jnp.argmax(_log_posteriors(model, blocks, starts))]
    mode, shape = _climbed(model, blocks, first)
    num_student = num_draws - len(from_prior)
    normal_key, chi_key = jax.random.split(jax_key(key))
    normals = jax.random.normal(normal_key, (num_student, len(mode)), mode.dtype)
    squares = jnp.sum(jax.random.normal(chi_key, (num_student, FREEDOM), mode.dtype) ** 2, axis=1)
    whitened = normals * jnp.sqrt(FREEDOM / squares)[:, None]
    positions = jnp.concatenate([mode + whitened @ shape.root.T, from_prior])
    log_priors = jax.vmap(model.log_prior_at)(positions)
    share = len(from_prior) / num_draws
    log_students = _log_student((positions - mode) @ shape.whitening.T) - shape.log_volume + jnp.log1p(-share)
    ratios = log_priors - jnp.logaddexp(log_students, log_priors + jnp.log(share))
    return Draws(positions, ratios, block_sums(model, positions, blocks), mode)


def ascents(model: Model, starts: jax.Array, blocks: Blocks) -> Ascents:
    """Climb from each of some positions, to see whether all end at one mode."""
    ends, shapes = jax.vmap(lambda first: _climbed(model, blocks, first))(starts)
    heights = _log_posteriors(model, blocks, ends)
    best = jnp.argmax(heights)
    offsets = (ends - ends[best]) @ shapes.whitening[best].T
    return Ascents(heights, jnp.sqrt(jnp.sum(offsets**2, axis=1)))


def _log_posteriors(model: Model, blocks: Blocks, positions: jax.Array) -> jax.Array:
    logs = jax.vmap(model.log_prior_at)(positions) + block_sums(model, positions, blocks).sum(axis=0)
    return jnp.where(jnp.isfinite(logs), logs, -jnp.inf)


def _climbed(model: Model, blocks: Blocks, first: jax.Array) -> tuple[jax.Array, _Newton]:
    """The mode, and what the derivatives there say."""

    def newton(position: jax.Array) -> _Newton:
        gradients, hessians = derivatives(model, position[None], blocks)
        gradient = gradients[0] + jax.grad(model.log_prior_at)(position)
        curvature = -(hessians[0] + jax.hessian(model.log_prior_at)(position))
        scales = jnp.sqrt(jnp.maximum(jnp.abs(jnp.diag(curvature)), 1e-20))
        scaled = curvature / scales / scales[:, None]
        scaled = jnp.where(jnp.isfinite(scaled).all(), 0.5 * (scaled + scaled.T), jnp.eye(len(position)))
        values, vectors = jnp.linalg.eigh(scaled)
        sizes = jnp.maximum(jnp.abs(values), FLOOR * jnp.abs(values).max())
        root = (vectors / jnp.sqrt(sizes)) / scales[:, None]
        whitening = (vectors * jnp.sqrt(sizes)).T * scales
        along = jnp.nan_to_num(root.T @ gradient)
        log_volume = -0.5 * jnp.sum(jnp.log(sizes)) - jnp.sum(jnp.log(scales))
        return _Newton(root @ along, jnp.sum(along**2), root, whitening, log_volume)

    def goes_on(climb: _Climb) -> jax.Array:
        return (climb.num_steps < MOST_STEPS) & (climb.squared_decrement > CLOSE)

    def step(climb: _Climb) -> _Climb:
        found = newton(climb.position)
        squared, steps = found.squared_decrement, STEP_LENGTHS[:, None] * found.direction
        candidates = jnp.concatenate([climb.position[None], climb.position + steps])
        heights = _log_posteriors(model, blocks, candidates)
        # Where the gain drowns in rounding, the gradient is believed once.
        is_close = (squared < 1e-4 * (1 + jnp.abs(heights[0]))) & jnp.isfinite(heights[1])
        best = jnp.where(is_close, 1, jnp.argmax(heights))
        left = jnp.where(is_close | (best == 0), 0.0, squared)
        return _Climb(candidates[best], climb.num_steps + 1, left)

    start = _Climb(first, jnp.int32(0), jnp.asarray(jnp.inf, first.dtype))
    position = jax.lax.while_loop(goes_on, step, start).position
    return position, newton(position)


def _log_student(whitened: jax.Array) -> jax.Array:
    dimension = whitened.shape[1]
    squares = jnp.sum(whitened**2, axis=1)
    constant = gammaln((FREEDOM + dimension) / 2) - gammaln(FREEDOM / 2) - 0.5 * dimension * np.log(FREEDOM * np.pi)
    return constant - 0.5 * (FREEDOM + dimension) * jnp.log1p(squares / FREEDOM)
