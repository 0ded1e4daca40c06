"""Langevin with symmetric splitting: the right variance at a large step, temperature measured, noise made up for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import sgais
from sgais.kernels import Langevin, langevin

PARTICLES, DIMENSION = 2000, 3


def gaussian(noise=0.0):
    """The gradient of a standard Gaussian's potential, with noise that comes with the batch."""

    def gradient(positions, half):
        return positions + noise * half

    return gradient


def batches(steps, seed=0):
    """Gaussian noise, one number for all particles and coordinates of a half-batch."""
    return jnp.asarray(np.random.default_rng(seed).normal(size=(steps + 1, 2, 1, DIMENSION)), jnp.float32)


def moved(noise=0.0, step_size=0.5, steps=200, particles=PARTICLES):
    kernel = Langevin(num_steps=steps)
    start = jax.random.normal(jax.random.key(5), (particles, DIMENSION))
    return langevin.move(jax.random.key(0), start, gaussian(noise), batches(steps), step_size, kernel)


@pytest.mark.parametrize("step_size", [0.1, 0.5, 1.0])
def test_positions_have_the_right_variance_at_any_step(step_size):
    positions, info = moved(step_size=step_size)
    assert float(positions.var()) == pytest.approx(1, abs=5 * np.sqrt(2 / positions.size))
    assert float(info.kinetic_temperature) == pytest.approx(1, abs=0.02)
    assert float(info.noise_share) == 0
    assert int(info.num_non_finite) == 0


def test_the_noise_of_gradients_is_measured_and_made_up_for():
    """Independent noise for every particle, of which the kernel only sees the two halves."""

    def gradient(positions, half):
        return positions + half

    kernel, steps, noise = Langevin(num_steps=300), 300, 1.0
    halves = noise * jax.random.normal(jax.random.key(1), (steps + 1, 2, PARTICLES, DIMENSION))
    start = jnp.zeros((PARTICLES, DIMENSION))
    positions, info = langevin.move(jax.random.key(0), start, gradient, halves, 0.5, kernel)
    allowed = 1 - np.exp(-2 * 0.5)
    assert float(info.noise_share) == pytest.approx(0.25 * noise**2 / 2 / allowed, rel=0.15)
    assert float(positions.var()) == pytest.approx(1, abs=0.05)
    # The same noise in both halves cannot be seen, is not made up for, and shows as excess temperature.
    same = jnp.repeat(halves[:, :1], 2, axis=1)
    positions, info = langevin.move(jax.random.key(0), start, gradient, same, 0.5, kernel)
    assert float(positions.var()) > 1.15
    assert float(info.kinetic_temperature) > 1.15


@pytest.mark.parametrize("friction", [0.5, 2.0])
def test_noise_that_is_made_up_for_leaves_neither_positions_nor_the_temperature_off(friction):
    """Half of all noise comes with the gradients. Variances from 40,000 particles have an error of 0.004."""
    kernel = Langevin(num_steps=40, friction=friction)
    allowed = 1 - np.exp(-2 * friction * 0.5)
    deviation = np.sqrt(2 * 0.5 * allowed) / 0.5  # of a half-batch
    halves = deviation * jax.random.normal(jax.random.key(1), (41, 2, 40_000, DIMENSION))
    start = jax.random.normal(jax.random.key(2), (40_000, DIMENSION))
    positions, info = langevin.move(jax.random.key(0), start, lambda at, half: at + half, halves, 0.5, kernel)
    assert float(info.noise_share) == pytest.approx(0.5, abs=0.02)
    assert float(positions.var()) == pytest.approx(1, abs=0.018)
    assert float(info.kinetic_temperature) == pytest.approx(1, abs=0.01)


def test_a_particle_that_diverges_is_put_back_and_counted():
    def gradient(positions, half):
        return jnp.where(positions > 1e3, jnp.nan, positions) + 0.1 * half

    start = jnp.zeros((10, DIMENSION)).at[3].set(1e6)
    positions, info = langevin.move(jax.random.key(0), start, gradient, batches(5), 0.5, Langevin(num_steps=5))
    assert int(info.num_non_finite) == 1
    assert float(positions[3, 0]) == 1e6
    assert np.isfinite(float(info.kinetic_temperature))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_size": 0.0}, "`step_size` must"),
        ({"friction": -1.0}, "`friction` must"),
        ({"num_steps": 0}, "`num_steps` must"),
        ({"num_steps": 2.5}, "`num_steps` must be a whole number of at least 1, got 2.5"),
    ],
)
def test_impossible_parameters_are_refused(changes, message):
    with pytest.raises(sgais.ConfigError, match=message):
        Langevin(**changes)
