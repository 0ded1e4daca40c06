"""Underdamped Langevin dynamics with symmetric splitting (BAOAB), for noisy gradients in whitened coordinates.

Half a kick, half a drift, friction with fresh noise, half a drift, half a kick. On a Gaussian target the positions have
exactly the right variance at any stable step size, so one dimensionless step serves every model once it is
whitened. The noise that gradient estimates bring along is measured from the two halves of each mini-batch, and so much
less is injected.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from sgais.errors import require, require_count

Gradient: TypeAlias = Callable[[jax.Array, Any], jax.Array]
LARGEST_STEP = 1.0  # beyond 2 the splitting is unstable on a standard Gaussian


@dataclass(frozen=True)
class Langevin:
    """The parameters of the kernel, in units of the target's standard deviation.

    Attributes:
        step_size: delta.
        friction: gamma: velocities are forgotten after about 1 / gamma.
        num_steps: Steps per move.

    Example:
        >>> sgais.Config(kernel=sgais.Langevin()).kernel == sgais.Langevin()
        True
    """

    step_size: float = 0.5
    friction: float = 1.0
    num_steps: int = 30

    def __post_init__(self) -> None:
        require(0 < self.step_size <= LARGEST_STEP, "step_size", f"lie in (0, {LARGEST_STEP}]", self.step_size)
        require(0 < self.friction < float("inf"), "friction", "be positive", self.friction)
        require_count("num_steps", self.num_steps)


class Info(NamedTuple):
    """What a move tells about itself.

    Attributes:
        kinetic_temperature: Mean of v^2 over steps and particles, over what it is where positions on a Gaussian are
            right; 1 is right, more is excess.
        noise_share: The gradient's noise over the noise that the dynamics may have in all, in the worst coordinate.
            Up to 1 it is compensated.
        num_non_finite: Particles that left the finite numbers and were put back where they came from.
    """

    kinetic_temperature: jax.Array
    noise_share: jax.Array
    num_non_finite: jax.Array


class _State(NamedTuple):
    positions: jax.Array
    velocities: jax.Array
    forces: jax.Array
    noise: jax.Array  # variance of the force estimates, (d,)


def move(
    key: jax.Array,
    positions: jax.Array,
    gradient: Gradient,
    batches: Any,
    step_size: jax.Array | float,
    kernel: Langevin,
) -> tuple[jax.Array, Info]:
    """`kernel.num_steps` steps for every particle, with a fresh batch and fresh noise at each.

    Args:
        key: Random key.
        positions: Whitened, one per particle, shape (particles, d).
        gradient: `gradient(positions, half)` estimates the gradient of the potential, shape (particles, d).
        batches: What the gradient needs: arrays with leading axes (kernel.num_steps + 1, 2), two half-batches each.
        step_size: delta; the kernel's own, or less where its kinetic temperature is too high.
        kernel: The other parameters.
    """
    velocity_key, noise_key = jax.random.split(key)
    shape, dtype = positions.shape, positions.dtype
    noises = jax.random.normal(noise_key, (kernel.num_steps + 1, *shape), dtype)
    # The first step has no length: it finds the forces at the start, by the same code as all others.
    lengths = jnp.full(kernel.num_steps + 1, step_size, dtype).at[0].set(0.0)

    def force(at: jax.Array, halves: Any) -> tuple[jax.Array, jax.Array]:
        first, second = jax.vmap(gradient, in_axes=(None, 0))(at, halves)
        differences = 0.5 * (first - second)
        usable = jnp.isfinite(differences).all(axis=1, keepdims=True)  # no particle that fails spoils the others
        squares = jnp.where(usable, differences**2, 0.0)
        return -0.5 * (first + second), jnp.sum(squares, axis=0) / jnp.maximum(jnp.sum(usable), 1)

    def advance(state: _State, inputs: tuple[jax.Array, jax.Array, Any]) -> tuple[_State, tuple[jax.Array, jax.Array]]:
        length, noise, halves = inputs
        kept = jnp.exp(-kernel.friction * length)  # of the velocity
        allowed, as_injected = 1.0 - kept**2, _as_injected(length, kept)
        velocities = state.velocities + 0.5 * length * state.forces
        at = state.positions + 0.5 * length * velocities
        brought_along = as_injected * length**2 * state.noise
        injected = jnp.sqrt(jnp.maximum(allowed - brought_along, 0.0))
        velocities = kept * velocities + injected * noise
        at = at + 0.5 * length * velocities
        forces, variance = force(at, halves)
        velocities = velocities + 0.5 * length * forces
        kicks = length**2 * variance
        expected = _expected_velocities(length, kept, jnp.minimum(kicks, allowed / as_injected))
        temperatures = jnp.mean(velocities**2, axis=1) / jnp.mean(expected)
        return _State(at, velocities, forces, variance), (temperatures, jnp.max(kicks) / allowed)

    nothing = jnp.zeros(shape, dtype), jnp.zeros(shape[1:], dtype)
    start = _State(positions, jax.random.normal(velocity_key, shape, dtype), *nothing)
    end, told = jax.lax.scan(advance, start, (lengths, noises, batches))
    temperatures, shares = (values[1:].mean(axis=0) for values in told)
    finite = jnp.isfinite(end.positions).all(axis=1) & jnp.isfinite(temperatures)
    temperature = jnp.sum(jnp.where(finite, temperatures, 0.0)) / jnp.sum(finite)
    return jnp.where(finite[:, None], end.positions, positions), Info(temperature, shares, jnp.sum(~finite))


def _as_injected(step_size: jax.Array | float, kept: jax.Array) -> jax.Array:
    """How much injected noise widens a standard Gaussian as much as noise of variance 1 in the kicks does."""
    return (1.0 + kept) ** 2 / (4.0 - step_size**2)


def _expected_velocities(step_size: jax.Array | float, kept: jax.Array, kicked: jax.Array) -> jax.Array:
    """The variance of velocities while positions on a standard Gaussian have variance 1.

    The splitting takes away delta^2 / 4. Noise in the kicks (`kicked` is its variance) that is made up for by injecting
    less leaves the positions alone, but not the velocities.
    """
    without_noise = 1.0 - 0.25 * step_size**2
    return without_noise - kicked * (8.0 * kept / (1.0 + kept) - step_size**2) / (16.0 * without_noise)
