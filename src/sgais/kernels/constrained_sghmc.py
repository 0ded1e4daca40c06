"""The paper's way to sample the prior inside a contour of the likelihood: SGHMC that reflects off its walls.

Appendix A: SGHMC with the exact gradient of the prior; where a step would end outside the contour, the velocity
is reflected there by the Galilean rule and the particle continues from there; if that is outside too, it stays and
turns round. As the paper says, regions within a step of the wall are visited too little: a bias of the order of
the step size, which `galilean` does not have.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from sgais.errors import require, require_count
from sgais.kernels.galilean import Contour, Info, State, ValueAndGradient, count_non_finite, is_inside, reflect


@dataclass(frozen=True)
class ConstrainedSGHMC:
    """The parameters of the kernel; the defaults are the paper's.

    Attributes:
        learning_rate: eta.
        friction: alpha; there is no gradient noise to be estimated.
        num_steps: Steps per move.

    Example:
        >>> sgais.NestedConfig(kernel=sgais.ConstrainedSGHMC(num_steps=10)).kernel.num_evaluations
        20
    """

    learning_rate: float = 1e-3
    friction: float = 0.1
    num_steps: int = 20

    def __post_init__(self) -> None:
        require(0 < self.learning_rate < float("inf"), "learning_rate", "be positive", self.learning_rate)
        require(0 < self.friction <= 1, "friction", "lie in (0, 1]", self.friction)
        require_count("num_steps", self.num_steps)

    @property
    def num_evaluations(self) -> int:
        """Likelihood evaluations per particle and move."""
        return 2 * self.num_steps


def move(
    key: jax.Array,
    state: State,
    log_prior: ValueAndGradient,
    log_likelihood: ValueAndGradient,
    contour: Contour,
    kernel: ConstrainedSGHMC,
) -> tuple[State, Info]:
    """`kernel.num_steps` steps for every particle; as `galilean.move`, but of the contour only the threshold."""
    velocity_key, noise_key = jax.random.split(key)
    shape, dtype = state.positions.shape, state.positions.dtype
    noises = jax.random.normal(noise_key, (kernel.num_steps, *shape), dtype)
    velocities = jnp.sqrt(kernel.learning_rate) * jax.random.normal(velocity_key, shape, dtype)

    def advance(
        carry: tuple[State, jax.Array], noise: jax.Array
    ) -> tuple[tuple[State, jax.Array], tuple[jax.Array, jax.Array, jax.Array]]:
        state, velocities, went_ahead, went, num_bad = _drift(*carry, log_likelihood, contour.threshold)
        injected = jnp.sqrt(2 * kernel.friction * kernel.learning_rate) * noise
        # The potential is minus the log prior: its gradient's two signs cancel.
        kick = kernel.learning_rate * log_prior(state.positions)[1]
        return (state, (1 - kernel.friction) * velocities + kick + injected), (went_ahead, went, num_bad)

    (end, _), (went_ahead, went, num_bad) = jax.lax.scan(advance, (state, velocities), noises)
    return end, Info(went.any(axis=0), went.mean(), went_ahead.mean(), num_bad.sum())


def _drift(
    state: State, velocities: jax.Array, log_likelihood: ValueAndGradient, threshold: jax.Array | float
) -> tuple[State, jax.Array, jax.Array, jax.Array, jax.Array]:
    """Ahead, or reflected, or turned round.

    Returns:
        State, velocities, who went straight ahead, who went at all, and the number of failed values.
    """
    ahead = state.positions + velocities
    ahead_values, gradients = log_likelihood(ahead)
    reflected = reflect(velocities, gradients)
    beyond = ahead + reflected
    beyond_values, _ = log_likelihood(beyond)

    went_ahead = is_inside(ahead_values, threshold)
    went_beyond = ~went_ahead & is_inside(beyond_values, threshold)
    went = went_ahead | went_beyond

    def choose(ahead: jax.Array, beyond: jax.Array, stay: jax.Array) -> jax.Array:
        wide = (...,) + (None,) * (stay.ndim - 1)
        return jnp.where(went_ahead[wide], ahead, jnp.where(went_beyond[wide], beyond, stay))

    moved = State(choose(ahead, beyond, state.positions), choose(ahead_values, beyond_values, state.log_likelihoods))
    num_bad = count_non_finite(ahead_values) + jnp.sum(jnp.where(went_ahead, 0, jnp.isnan(beyond_values)))
    return moved, choose(velocities, reflected, -velocities), went_ahead, went, num_bad
