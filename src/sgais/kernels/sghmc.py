"""Stochastic gradient Hamiltonian Monte Carlo, Eq. (sghmc) of the paper.

    theta <- theta + v
    v     <- v - eta grad U(theta) - alpha v + sqrt(2 (alpha - beta) eta) noise

Noise of the gradients raises the kinetic temperature above 1: `kinetic_temperature` in the info measures by how much.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from sgais.errors import require, require_count

Gradient = Callable[[jax.Array, Any], jax.Array]


@dataclass(frozen=True)
class SGHMC:
    """The parameters of the kernel; the defaults are the paper's.

    Attributes:
        learning_rate: Per observation: eta is this divided by the number of rows seen.
        friction: alpha; 1 - alpha is the momentum decay.
        noise_estimate: beta, the part of the friction whose noise the gradients bring along themselves.
        num_steps: Steps per intermediate distribution (the paper's burn-in).

    Example:
        >>> sgais.Config.paper(kernel=sgais.SGHMC(num_steps=10)).kernel.num_steps
        10
    """

    learning_rate: float = 0.1
    friction: float = 0.2
    noise_estimate: float = 0.0
    num_steps: int = 20

    def __post_init__(self) -> None:
        require(0 < self.learning_rate < float("inf"), "learning_rate", "be positive", self.learning_rate)
        require(0 < self.friction <= 1, "friction", "lie in (0, 1]", self.friction)
        require(
            0 <= self.noise_estimate <= self.friction,
            "noise_estimate",
            f"lie between 0 and the friction {self.friction}",
            self.noise_estimate,
            "More gradient noise than friction needs a smaller learning rate.",
        )
        require_count("num_steps", self.num_steps)


class State(NamedTuple):
    """Positions and velocities, both of shape (particles, d)."""

    positions: jax.Array
    velocities: jax.Array


class Info(NamedTuple):
    """What a move tells about itself.

    Attributes:
        kinetic_temperature: Mean of v^2 / eta over steps and particles; 1 is right, more is excess.
        num_non_finite: Particles that left the finite numbers and were put back where they came from.
    """

    kinetic_temperature: jax.Array
    num_non_finite: jax.Array


def init(key: jax.Array, positions: jax.Array, step_size: jax.Array | float) -> State:
    """Fresh velocities from their stationary distribution N(0, eta)."""
    velocities = jnp.sqrt(step_size) * jax.random.normal(key, positions.shape, positions.dtype)
    return State(positions, velocities)


def update(
    noise: jax.Array, state: State, gradient: Gradient, batch: Any, step_size: jax.Array | float, kernel: SGHMC
) -> State:
    """One step of Eq. (sghmc); `noise` is standard Gaussian, `batch` whatever the gradient estimate needs."""
    positions = state.positions + state.velocities
    injected = jnp.sqrt(2.0 * (kernel.friction - kernel.noise_estimate) * step_size) * noise
    velocities = (1.0 - kernel.friction) * state.velocities - step_size * gradient(positions, batch) + injected
    return State(positions, velocities)


def move(
    key: jax.Array,
    positions: jax.Array,
    gradient: Gradient,
    batches: Any,
    step_size: jax.Array | float,
    kernel: SGHMC,
) -> tuple[jax.Array, Info]:
    """`kernel.num_steps` steps for every particle, with a fresh batch and fresh noise at each.

    Args:
        key: Random key.
        positions: One per particle, shape (particles, d).
        gradient: `gradient(positions, batch)` estimates the gradient of the potential, shape (particles, d).
        batches: What the gradient needs at each step: arrays with leading axis `kernel.num_steps`.
        step_size: eta of the paper.
        kernel: The parameters.
    """
    velocity_key, noise_key = jax.random.split(key)
    noises = jax.random.normal(noise_key, (kernel.num_steps, *positions.shape), positions.dtype)

    def advance(state: State, inputs: tuple[jax.Array, Any]) -> tuple[State, jax.Array]:
        noise, batch = inputs
        state = update(noise, state, gradient, batch, step_size, kernel)
        return state, jnp.mean(state.velocities**2, axis=1) / step_size

    start = init(velocity_key, positions, step_size)
    end, temperatures = jax.lax.scan(advance, start, (noises, batches))
    return _keep_finite(positions, end, temperatures.mean(axis=0))


def _keep_finite(old: jax.Array, end: State, temperatures: jax.Array) -> tuple[jax.Array, Info]:
    """Put diverged particles back, count them, and keep them out of the mean temperature."""
    finite = jnp.isfinite(end.positions).all(axis=1) & jnp.isfinite(temperatures)
    positions = jnp.where(finite[:, None], end.positions, old)
    # No finite particle at all gives 0 / 0: a temperature of NaN says just that.
    temperature = jnp.sum(jnp.where(finite, temperatures, 0.0)) / jnp.sum(finite)
    return positions, Info(temperature, jnp.sum(~finite))
