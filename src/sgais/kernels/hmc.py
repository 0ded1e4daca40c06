"""Hamiltonian Monte Carlo with a Metropolis test: leaves the target exactly invariant.

Trajectories run in coordinates whitened by matrices that all particles share; one computed from a particle's own
position would bias the move. Where there are several matrices, trajectories take them in turn, each with a step size
of its own, which follows the acceptance rate from one trajectory to the next. The shorter the steps, the more of them
make a trajectory: a quarter turn, as far as the limits allow. A move may end when the particles no longer tell where
they began (Buchholz, Chopin, Jacob 2021), or when they have stopped forgetting it, as where they cannot leave a mode.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from sgais.errors import require, require_count

LogDensity: TypeAlias = Callable[[jax.Array], tuple[jax.Array, jax.Array]]
Region: TypeAlias = Callable[[jax.Array], jax.Array]

ADAPTATION_RATE = 0.5
SMALLEST_STEP = 1e-3
QUARTER_TURN = math.pi / 2  # longer trajectories come back: on a Gaussian, half a turn only changes the sign
JITTER = (0.7, 1.3)  # of each particle's step size, so that no trajectory length resonates with an orbit
CHANCE = 2.0  # standard deviations of the correlation that independent particles show by chance
PROGRESS = 0.95  # of the correlation: trajectories that leave more than this of it have not got anywhere
KEYS_AT_ONCE = 16  # of trajectories: moves with as many or fewer share one program
PATIENCE = 4  # such trajectories in a row, with each matrix, after which a move ends


@dataclass(frozen=True)
class HMC:
    """The parameters of the kernel.

    Attributes:
        num_trajectories: Trajectories (and Metropolis tests) per move, at most.
        num_leapfrog: Leapfrog steps per trajectory, at least.
        target_acceptance: The acceptance rate that the step size is steered to.
        largest_correlation: Of any coordinate of the particles (or their log density) before a move and after, beyond
            what chance explains, at which it ends sooner; at zero it never does.
        most_leapfrog: Leapfrog steps per trajectory, at most: where short steps need more for a quarter turn.

    Example:
        >>> sgais.Config(early_kernel=sgais.HMC(num_trajectories=6)).early_kernel.num_trajectories
        6
    """

    num_trajectories: int = 5
    num_leapfrog: int = 3
    target_acceptance: float = 0.75
    largest_correlation: float = 0.0
    most_leapfrog: int = 12

    def __post_init__(self) -> None:
        require_count("num_trajectories", self.num_trajectories)
        require_count("num_leapfrog", self.num_leapfrog)
        require_count("most_leapfrog", self.most_leapfrog, smallest=self.num_leapfrog)
        require(0 < self.target_acceptance < 1, "target_acceptance", "lie between 0 and 1", self.target_acceptance)
        in_range = 0 <= self.largest_correlation < 1
        require(in_range, "largest_correlation", "be at least 0 and less than 1", self.largest_correlation)


class Trajectories(NamedTuple):
    """How many trajectories a move may have, which is no part of its program: one serves long moves and short ones.

    Attributes:
        keys: Random keys, one for each, and others that are not used.
        most: Trajectories, at most.
    """

    keys: jax.Array
    most: jax.Array | int


class State(NamedTuple):
    """Positions with the log density and its gradient there."""

    positions: jax.Array
    log_densities: jax.Array
    gradients: jax.Array


class Info(NamedTuple):
    """What a move tells about itself.

    Attributes:
        acceptance: Mean acceptance probability.
        step_size: For the next move, one for each matrix.
        num_non_finite: Trajectories that left the finite numbers (and were rejected).
        num_trajectories: How many there were for each particle.
    """

    acceptance: jax.Array
    step_size: jax.Array | np.ndarray
    num_non_finite: jax.Array
    num_trajectories: jax.Array


class _Progress(NamedTuple):
    """What a move has told so far: sums over its trajectories so far."""

    state: State
    step_sizes: jax.Array
    num_trajectories: jax.Array
    acceptance: jax.Array
    num_non_finite: jax.Array
    correlation: jax.Array  # the smallest so far
    num_stalled: jax.Array  # trajectories since it fell


@partial(jax.jit, static_argnames="most")
def trajectories(key: jax.Array, most: int) -> Trajectories:
    """The random keys of a move."""
    unused = -most % KEYS_AT_ONCE
    keys = jax.random.split(key, most)
    return Trajectories(jnp.concatenate([keys, jnp.broadcast_to(key, unused)]), most)


def move(
    trajectories: Trajectories,
    positions: jax.Array,
    log_density: LogDensity,
    whitenings: jax.Array,
    step_sizes: jax.Array,
    kernel: HMC,
    region: Region | None = None,
) -> tuple[jax.Array, Info]:
    """Trajectories for every particle, until they have forgotten where they began or there are no more.

    Args:
        trajectories: How many at most, and their random keys; `kernel.num_trajectories` does not count here.
        positions: One per particle, shape (particles, d).
        log_density: Maps positions to log densities (particles,), up to a constant, and gradients (particles, d).
        whitenings: Matrices W, shape (matrices, d, d); W W' is roughly the covariance of the target.
        step_sizes: In whitened coordinates, one for each matrix.
        kernel: The parameters.
        region: Maps positions to whether they lie in the region to which the target is confined.
    """
    start = State(positions, *log_density(positions))
    allowance = kernel.largest_correlation + CHANCE / math.sqrt(len(positions))

    def goes_on(now: _Progress) -> jax.Array:
        is_allowed = now.num_trajectories < trajectories.most
        if kernel.largest_correlation == 0:
            return is_allowed
        remembers = ~(now.correlation <= allowance)  # also if it is not a number
        moves_on = now.num_stalled < PATIENCE * len(whitenings)
        return is_allowed & remembers & moves_on

    def advance(now: _Progress) -> _Progress:
        turn = now.num_trajectories % len(whitenings)
        state, probabilities, is_finite = _trajectory(
            trajectories.keys[now.num_trajectories],
            now.state,
            log_density,
            whitenings[turn],
            now.step_sizes[turn],
            kernel,
            region,
        )
        acceptance = jnp.mean(probabilities)
        size = now.step_sizes[turn] * jnp.exp(ADAPTATION_RATE * (acceptance - kernel.target_acceptance))
        correlation = _correlation(start, state)
        has_fallen = correlation < PROGRESS * now.correlation
        return _Progress(
            state,
            now.step_sizes.at[turn].set(jnp.clip(size, SMALLEST_STEP, QUARTER_TURN / kernel.num_leapfrog)),
            now.num_trajectories + 1,
            now.acceptance + acceptance,
            now.num_non_finite + jnp.sum(~is_finite),
            jnp.where(has_fallen, correlation, now.correlation),
            jnp.where(has_fallen, 0, now.num_stalled + 1),
        )

    none, one = jnp.zeros((), int), jnp.ones((), positions.dtype)
    begun = _Progress(start, jnp.asarray(step_sizes, positions.dtype), none, 0 * one, none, one, none)
    end = jax.lax.while_loop(goes_on, advance, begun)
    acceptance = end.acceptance / end.num_trajectories
    return end.state.positions, Info(acceptance, end.step_sizes, end.num_non_finite, end.num_trajectories)


def _correlation(before: State, after: State) -> jax.Array:
    """The largest among the coordinates and the log density."""
    ends = [jnp.column_stack([state.positions, state.log_densities]) for state in (before, after)]
    old, new = (values - jnp.mean(values, axis=0) for values in ends)
    squares = jnp.sum(old**2, axis=0) * jnp.sum(new**2, axis=0)
    return jnp.max(jnp.abs(jnp.sum(old * new, axis=0)) / jnp.sqrt(squares))


def _trajectory(
    key: jax.Array,
    state: State,
    log_density: LogDensity,
    whitening: jax.Array,
    step_size: jax.Array,
    kernel: HMC,
    region: Region | None,
) -> tuple[State, jax.Array, jax.Array]:
    """One trajectory and its Metropolis test; returns acceptance probabilities and which ends were finite."""
    velocity_key, jitter_key, accept_key = jax.random.split(key, 3)
    shape, dtype = state.positions.shape, state.positions.dtype
    start_velocities = jax.random.normal(velocity_key, shape, dtype)
    low, high = JITTER
    sizes = step_size * jax.random.uniform(jitter_key, (shape[0], 1), dtype, low, high)

    def leapfrog(_: jax.Array, carry: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
        at, velocities = carry
        velocities = velocities + 0.5 * sizes * (at.gradients @ whitening)
        positions = at.positions + (sizes * velocities) @ whitening.T
        at = State(positions, *log_density(positions))
        return at, velocities + 0.5 * sizes * (at.gradients @ whitening)

    num_steps = jnp.clip(jnp.round(QUARTER_TURN / step_size), kernel.num_leapfrog, kernel.most_leapfrog).astype(int)
    end, velocities = jax.lax.fori_loop(0, num_steps, leapfrog, (state, start_velocities))
    energy_gain = 0.5 * jnp.sum(start_velocities**2 - velocities**2, axis=1)
    log_ratios = end.log_densities - state.log_densities + energy_gain
    is_finite = jnp.isfinite(log_ratios) & jnp.isfinite(end.gradients).all(axis=1)
    probabilities = jnp.where(is_finite, jnp.exp(jnp.minimum(log_ratios, 0.0)), 0.0)
    accepted = jax.random.uniform(accept_key, probabilities.shape, dtype) < probabilities
    if region is not None:  # not part of the probabilities, which steer the step size: shorter steps cross borders, too
        accepted &= region(end.positions)
    chosen = State(
        jnp.where(accepted[:, None], end.positions, state.positions),
        jnp.where(accepted, end.log_densities, state.log_densities),
        jnp.where(accepted[:, None], end.gradients, state.gradients),
    )
    return chosen, probabilities, is_finite
