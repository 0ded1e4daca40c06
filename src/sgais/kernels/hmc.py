"""Hamiltonian Monte Carlo with a Metropolis test: leaves the target exactly invariant.

Trajectories run in coordinates whitened by a matrix that all particles share; one computed from a particle's own
position would bias the move. The step size follows the acceptance rate from one trajectory to the next. A move may end
when the particles no longer tell where they began (Buchholz, Chopin, Jacob 2021): where a posterior is nearly Gaussian
that takes two trajectories, where modes hardly mix it takes all that are allowed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from sgais.errors import require, require_count

LogDensity: TypeAlias = Callable[[jax.Array], tuple[jax.Array, jax.Array]]

ADAPTATION_RATE = 0.5
SMALLEST_STEP = 1e-3
QUARTER_TURN = math.pi / 2  # longer trajectories come back: on a Gaussian, half a turn only changes the sign
JITTER = (0.7, 1.3)  # of each particle's step size, so that no trajectory length resonates with an orbit


@dataclass(frozen=True)
class HMC:
    """The parameters of the kernel.

    Attributes:
        num_trajectories: Trajectories (and Metropolis tests) per move, at most.
        num_leapfrog: Leapfrog steps per trajectory.
        target_acceptance: The acceptance rate that the step size is steered to.
        largest_correlation: Of any coordinate of the particles (or their log density) before a move and after, at
            which it ends sooner; at zero it never does. Few particles always have some, by chance.
    """

    num_trajectories: int = 5
    num_leapfrog: int = 3
    target_acceptance: float = 0.75
    largest_correlation: float = 0.0

    def __post_init__(self) -> None:
        require_count("num_trajectories", self.num_trajectories)
        require_count("num_leapfrog", self.num_leapfrog)
        require(0 < self.target_acceptance < 1, "target_acceptance", "lie between 0 and 1", self.target_acceptance)
        in_range = 0 <= self.largest_correlation < 1
        require(in_range, "largest_correlation", "be at least 0 and less than 1", self.largest_correlation)


class State(NamedTuple):
    """Positions with the log density and its whitened gradient there."""

    positions: jax.Array
    log_densities: jax.Array
    forces: jax.Array


class Info(NamedTuple):
    """What a move tells about itself.

    Attributes:
        acceptance: Mean acceptance probability.
        step_size: For the next move.
        num_non_finite: Trajectories that left the finite numbers (and were rejected).
        num_trajectories: How many there were for each particle.
    """

    acceptance: jax.Array
    step_size: jax.Array
    num_non_finite: jax.Array
    num_trajectories: jax.Array


class _Progress(NamedTuple):
    """Of a move: sums over its trajectories so far."""

    state: State
    step_size: jax.Array
    num_trajectories: jax.Array
    acceptance: jax.Array
    num_non_finite: jax.Array


def move(
    key: jax.Array,
    positions: jax.Array,
    log_density: LogDensity,
    whitening: jax.Array,
    step_size: jax.Array | float,
    kernel: HMC,
) -> tuple[jax.Array, Info]:
    """Trajectories for every particle, until they have forgotten where they began or `num_trajectories` are over.

    Args:
        key: Random key.
        positions: One per particle, shape (particles, d).
        log_density: Maps positions to log densities (particles,), up to a constant, and gradients (particles, d).
        whitening: Matrix W, shape (d, d); W W' is roughly the covariance of the target.
        step_size: In whitened coordinates.
        kernel: The parameters.
    """
    start = _state(positions, log_density, whitening)
    keys = jax.random.split(key, kernel.num_trajectories)

    def goes_on(now: _Progress) -> jax.Array:
        remembers = ~(_correlation(start, now.state) <= kernel.largest_correlation)  # also if it is not a number
        return (now.num_trajectories < kernel.num_trajectories) & remembers

    def advance(now: _Progress) -> _Progress:
        state, probabilities, is_finite = _trajectory(
            keys[now.num_trajectories], now.state, log_density, whitening, now.step_size, kernel
        )
        acceptance = jnp.mean(probabilities)
        size = now.step_size * jnp.exp(ADAPTATION_RATE * (acceptance - kernel.target_acceptance))
        return _Progress(
            state,
            jnp.clip(size, SMALLEST_STEP, QUARTER_TURN / kernel.num_leapfrog),
            now.num_trajectories + 1,
            now.acceptance + acceptance,
            now.num_non_finite + jnp.sum(~is_finite),
        )

    none = jnp.zeros((), int)
    begun = _Progress(start, jnp.asarray(step_size, positions.dtype), none, jnp.zeros((), positions.dtype), none)
    end = jax.lax.while_loop(goes_on, advance, begun)
    acceptance = end.acceptance / end.num_trajectories
    return end.state.positions, Info(acceptance, end.step_size, end.num_non_finite, end.num_trajectories)


def _correlation(before: State, after: State) -> jax.Array:
    """The largest among the coordinates and the log density."""
    ends = [jnp.column_stack([state.positions, state.log_densities]) for state in (before, after)]
    old, new = (values - jnp.mean(values, axis=0) for values in ends)
    squares = jnp.sum(old**2, axis=0) * jnp.sum(new**2, axis=0)
    return jnp.max(jnp.abs(jnp.sum(old * new, axis=0)) / jnp.sqrt(squares))


def _state(positions: jax.Array, log_density: LogDensity, whitening: jax.Array) -> State:
    log_densities, gradients = log_density(positions)
    return State(positions, log_densities, gradients @ whitening)


def _trajectory(
    key: jax.Array, state: State, log_density: LogDensity, whitening: jax.Array, step_size: jax.Array, kernel: HMC
) -> tuple[State, jax.Array, jax.Array]:
    """One trajectory and its Metropolis test; returns acceptance probabilities and which ends were finite."""
    velocity_key, jitter_key, accept_key = jax.random.split(key, 3)
    shape, dtype = state.positions.shape, state.positions.dtype
    start_velocities = jax.random.normal(velocity_key, shape, dtype)
    low, high = JITTER
    sizes = step_size * jax.random.uniform(jitter_key, (shape[0], 1), dtype, low, high)

    def leapfrog(_: int, carry: tuple[State, jax.Array]) -> tuple[State, jax.Array]:
        at, velocities = carry
        velocities = velocities + 0.5 * sizes * at.forces
        at = _state(at.positions + (sizes * velocities) @ whitening.T, log_density, whitening)
        return at, velocities + 0.5 * sizes * at.forces

    end, velocities = jax.lax.fori_loop(0, kernel.num_leapfrog, leapfrog, (state, start_velocities))
    energy_gain = 0.5 * jnp.sum(start_velocities**2 - velocities**2, axis=1)
    log_ratios = end.log_densities - state.log_densities + energy_gain
    is_finite = jnp.isfinite(log_ratios) & jnp.isfinite(end.forces).all(axis=1)
    probabilities = jnp.where(is_finite, jnp.exp(jnp.minimum(log_ratios, 0.0)), 0.0)
    accepted = jax.random.uniform(accept_key, probabilities.shape, dtype) < probabilities
    chosen = State(
        jnp.where(accepted[:, None], end.positions, state.positions),
        jnp.where(accepted, end.log_densities, state.log_densities),
        jnp.where(accepted[:, None], end.forces, state.forces),
    )
    return chosen, probabilities, is_finite
