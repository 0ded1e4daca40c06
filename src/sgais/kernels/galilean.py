"""Moves that leave the prior invariant inside a contour of the likelihood, reflecting off its walls.

Hamiltonian trajectories of the prior, in coordinates whitened by the live points. At a point outside the contour
the velocity is reflected by the Galilean rule (appendix A of the paper),

    v <- v - 2 (v.n) n,    n the unit vector along the gradient of the likelihood there,

and the trajectory continues. Reflection, kick and drift each preserve volume, and a trajectory run backwards
retraces itself; so a Metropolis test of the energy, with every end outside the contour refused, leaves the
prior within the contour exactly invariant at any step size.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from sgais.errors import require, require_count

ValueAndGradient: TypeAlias = Callable[[jax.Array], tuple[jax.Array, jax.Array]]
Region: TypeAlias = Callable[[jax.Array], jax.Array]  # from positions (n, d) to whether they lie in it (n,)

JITTER = 0.3  # step sizes vary by this much, so that no trajectory is periodic
ADAPTATION_RATE = 0.5
LARGEST_STEP = 1.5  # in standard deviations of the live points; longer steps of the leapfrog are hardly stable


@dataclass(frozen=True)
class Galilean:
    """The parameters of the kernel.

    Attributes:
        num_trajectories: Trajectories per move, each with a fresh velocity; if None, half the dimension, at least 16.
        num_steps: Leapfrog steps per trajectory, each of which evaluates the likelihood once; if None, three times
            the root of the dimension, at least 8. Too few of either do not make the law wrong, but leave copies
            near their originals: in 30 dimensions 8 times 8 steps put log Z 0.45 too low, and on a mixture with 15
            parameters 8 trajectories were off by up to 2.5.
        step_size: The first step size, over the spread of the live points; adapted from then on.
        target_inside: The part of the trajectories' points to be inside the contour, at which the step size aims.

    Example:
        >>> sgais.Galilean().for_dimension(16).num_steps
        12
    """

    num_trajectories: int | None = None
    num_steps: int | None = None
    step_size: float = 0.3
    target_inside: float = 0.8

    def __post_init__(self) -> None:
        for name in ("num_trajectories", "num_steps"):
            if getattr(self, name) is not None:
                require_count(name, getattr(self, name))
        require(0 < self.step_size <= LARGEST_STEP, "step_size", f"lie in (0, {LARGEST_STEP}]", self.step_size)
        require(0 < self.target_inside < 1, "target_inside", "lie between 0 and 1", self.target_inside)

    def for_dimension(self, dimension: int) -> "Galilean":
        """The same kernel with all numbers filled in."""
        return replace(
            self,
            num_trajectories=self.num_trajectories or max(16, math.ceil(dimension / 2)),
            num_steps=self.num_steps or max(8, math.ceil(3 * math.sqrt(dimension))),
        )

    @property
    def num_evaluations(self) -> int:
        """Likelihood evaluations per particle and move, once the numbers are filled in."""
        return (self.num_trajectories or 0) * (self.num_steps or 0)


class Contour(NamedTuple):
    """What a move has to keep to; it changes from move to move, the compiled program does not.

    Attributes:
        threshold: The log-likelihood to stay above.
        step_size: Over the spread of the live points.
        whitening: A square root of the live points' covariance, shape (d, d).
    """

    threshold: jax.Array | float
    step_size: jax.Array | float
    whitening: jax.Array


class State(NamedTuple):
    """Positions (particles, d) and their log-likelihoods (particles,), in the scale of the threshold."""

    positions: jax.Array
    log_likelihoods: jax.Array


class Info(NamedTuple):
    """What a move tells about itself.

    Attributes:
        moved: For each particle, whether it left its place.
        acceptance: The part of the trajectories that were accepted.
        inside: The part of the trajectories' points that were inside the contour.
        num_non_finite: Points met where the log-likelihood is NaN or +inf; they count as outside.
    """

    moved: jax.Array
    acceptance: jax.Array
    inside: jax.Array
    num_non_finite: jax.Array


class _Phase(NamedTuple):
    """A point of a trajectory; gradients and velocities are whitened."""

    positions: jax.Array
    velocities: jax.Array
    log_priors: jax.Array
    prior_gradients: jax.Array
    log_likelihoods: jax.Array


def move(
    key: jax.Array,
    state: State,
    log_prior: ValueAndGradient,
    log_likelihood: ValueAndGradient,
    contour: Contour,
    kernel: Galilean,
    region: Region | None = None,
) -> tuple[State, Info]:
    """A number of trajectories for every particle.

    Args:
        key: Random key.
        state: The particles, all of them inside the contour.
        log_prior: Values (particles,) and gradients (particles, d) of the log prior at positions (particles, d).
        log_likelihood: The same of the log-likelihood.
        contour: The threshold and the scale of the moves.
        kernel: The parameters.
        region: To which the prior is confined, if it is: trajectories that end outside are refused.
    """
    kernel = kernel.for_dimension(state.positions.shape[1])
    assert kernel.num_trajectories is not None

    def advance(state: State, key: jax.Array) -> tuple[State, tuple[jax.Array, jax.Array, jax.Array]]:
        return update(key, state, log_prior, log_likelihood, contour, kernel, region)

    end, (accepted, inside, num_bad) = jax.lax.scan(advance, state, jax.random.split(key, kernel.num_trajectories))
    return end, Info(accepted.any(axis=0), accepted.mean(), inside.mean(), num_bad.sum())


def update(
    key: jax.Array,
    state: State,
    log_prior: ValueAndGradient,
    log_likelihood: ValueAndGradient,
    contour: Contour,
    kernel: Galilean,
    region: Region | None = None,
) -> tuple[State, tuple[jax.Array, jax.Array, jax.Array]]:
    """One trajectory for every particle.

    Returns:
        The new state; and who was accepted, the part of points inside, and the number of failed values.
    """
    velocity_key, step_key, accept_key = jax.random.split(key, 3)
    shape, dtype = state.positions.shape, state.positions.dtype
    jitter = jax.random.uniform(step_key, (shape[0], 1), dtype, 1 - JITTER, 1 + JITTER)
    step_sizes = contour.step_size * jitter

    def advance(phase: _Phase, _: None) -> tuple[_Phase, jax.Array]:
        phase = _leap(phase, step_sizes, log_prior, log_likelihood, contour)
        return phase, phase.log_likelihoods

    log_priors, gradients = log_prior(state.positions)
    velocities = jax.random.normal(velocity_key, shape, dtype)
    start = _Phase(state.positions, velocities, log_priors, gradients @ contour.whitening, state.log_likelihoods)
    end, visited = jax.lax.scan(advance, start, length=kernel.num_steps)

    log_uniform = jnp.log(jax.random.uniform(accept_key, log_priors.shape, dtype))
    accepted = is_inside(end.log_likelihoods, contour.threshold) & (log_uniform < _energy(start) - _energy(end))
    if region is not None:
        accepted &= region(end.positions)
    positions = jnp.where(accepted[:, None], end.positions, state.positions)
    log_likelihoods = jnp.where(accepted, end.log_likelihoods, state.log_likelihoods)
    inside = is_inside(visited, contour.threshold).mean()
    return State(positions, log_likelihoods), (accepted, inside, count_non_finite(visited))


def is_inside(log_likelihoods: jax.Array, threshold: jax.Array | float) -> jax.Array:
    """Above the threshold; NaN and +inf are outside of everything."""
    return (log_likelihoods > threshold) & (log_likelihoods < jnp.inf)


def count_non_finite(log_likelihoods: jax.Array) -> jax.Array:
    """How many are NaN or +inf, which no log-likelihood should be."""
    return jnp.sum(jnp.isnan(log_likelihoods) | (log_likelihoods == jnp.inf))


def reflect(velocities: jax.Array, gradients: jax.Array) -> jax.Array:
    """The Galilean rule; where there is no gradient to tell the wall's direction, straight back."""
    lengths = jnp.linalg.norm(gradients, axis=1, keepdims=True)
    has_normal = jnp.isfinite(lengths) & (lengths > 0)
    normals = gradients / jnp.where(has_normal, lengths, 1.0)
    reflected = velocities - 2 * jnp.sum(velocities * normals, axis=1, keepdims=True) * normals
    return jnp.where(has_normal, reflected, -velocities)


def adapt(step_size: float, acceptance: float, inside: float, kernel: Galilean) -> float:
    """The step size of the next move: longer if the trajectories stay inside more than they should.

    Acceptance alone would not do: steps so long that they jump from outside to outside come back to where they
    started after an even number of them, and are accepted.
    """
    factor = math.exp(ADAPTATION_RATE * (min(acceptance, inside) - kernel.target_inside))
    return min(step_size * factor, LARGEST_STEP)


def _leap(
    phase: _Phase,
    step_sizes: jax.Array,
    log_prior: ValueAndGradient,
    log_likelihood: ValueAndGradient,
    contour: Contour,
) -> _Phase:
    """A leapfrog step, and a reflection where it ended outside."""
    velocities = phase.velocities + 0.5 * step_sizes * phase.prior_gradients
    positions = phase.positions + step_sizes * velocities @ contour.whitening.T
    log_priors, gradients = log_prior(positions)
    gradients = gradients @ contour.whitening
    velocities = velocities + 0.5 * step_sizes * gradients
    log_likelihoods, normals = log_likelihood(positions)
    # The reflection stands between two half kicks at the same point, so that the way back is the same.
    inside = is_inside(log_likelihoods, contour.threshold)[:, None]
    velocities = jnp.where(inside, velocities, reflect(velocities, normals @ contour.whitening))
    return _Phase(positions, velocities, log_priors, gradients, log_likelihoods)


def _energy(phase: _Phase) -> jax.Array:
    return 0.5 * jnp.sum(phase.velocities**2, axis=1) - phase.log_priors
