"""SGHMC against the exact stationary law of its own discretisation, which is a linear recursion on a Gaussian."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from sgais import SGHMC, ConfigError
from sgais.kernels import sghmc

MEAN = np.array([1.0, -2.0, 0.5])
COVARIANCE = np.array([[1.0, 0.5, -0.2], [0.5, 0.6, 0.1], [-0.2, 0.1, 0.4]])  # correlated, unequal scales
PRECISION = np.linalg.inv(COVARIANCE)
STEP_SIZE = 0.004
PARTICLES = 4000


def stationary_covariance(kernel, gradient_noise):
    """Of theta, for Eq. (sghmc) on the Gaussian: z <- A z + noise has covariance S = A S A' + N."""
    identity, d = np.eye(3), 3
    # theta' = theta + v;  v' = (1 - alpha) v - eta P theta' + noise
    step = np.block(
        [
            [identity, identity],
            [-STEP_SIZE * PRECISION, (1 - kernel.friction) * identity - STEP_SIZE * PRECISION],
        ]
    )
    noise = np.zeros((2 * d, 2 * d))
    injected = 2 * (kernel.friction - kernel.noise_estimate) * STEP_SIZE
    noise[d:, d:] = injected * identity + STEP_SIZE**2 * gradient_noise
    return solve_discrete_lyapunov(step, noise)[:d, :d]


def run(kernel, gradient_noise_scale=0.0, seed=0):
    """Particles after a long run from a wrong start, the gradient being given noise of known covariance."""

    def gradient(positions, noise):
        return (positions - MEAN) @ PRECISION + gradient_noise_scale * noise

    noise_key, key = jax.random.split(jax.random.key(seed))
    noises = jax.random.normal(noise_key, (kernel.num_steps, PARTICLES, 3))
    start = jnp.zeros((PARTICLES, 3))
    move = jax.jit(lambda: sghmc.move(key, start, gradient, noises, STEP_SIZE, kernel))
    positions, info = move()
    return np.asarray(positions, float), info


def assert_covariance(positions, expected):
    found = np.cov(positions.T)
    variances = np.diag(expected)
    error = np.sqrt((np.outer(variances, variances) + expected**2) / PARTICLES)
    assert (np.abs(found - expected) < 4 * error).all()


def test_full_gradients_reproduce_a_correlated_gaussian():
    kernel = SGHMC(friction=0.2, num_steps=1500)
    positions, info = run(kernel)
    assert (np.abs(positions.mean(axis=0) - MEAN) < 4 * np.sqrt(np.diag(COVARIANCE) / PARTICLES)).all()
    assert_covariance(positions, stationary_covariance(kernel, np.zeros((3, 3))))
    # The discretisation itself is within 3 % of the target at this step size.
    np.testing.assert_allclose(stationary_covariance(kernel, np.zeros((3, 3))), COVARIANCE, rtol=0.03)
    assert float(info.kinetic_temperature) == pytest.approx(1, abs=0.15)
    assert int(info.num_non_finite) == 0


def test_gradient_noise_heats_as_theory_predicts():
    """ACCURACY: the covariance is inflated by 1 + eta s^2 / (2 alpha), s^2 the gradient's noise variance."""
    kernel = SGHMC(friction=0.2, num_steps=1500)
    scale = 10.0
    inflation = 1 + STEP_SIZE * scale**2 / (2 * kernel.friction)
    assert inflation == pytest.approx(2)
    positions, info = run(kernel, gradient_noise_scale=scale, seed=1)
    exact = stationary_covariance(kernel, scale**2 * np.eye(3))
    assert_covariance(positions, exact)
    np.testing.assert_allclose(exact, inflation * COVARIANCE, rtol=0.03)
    assert float(info.kinetic_temperature) == pytest.approx(inflation, rel=0.15)


def test_the_noise_estimate_takes_the_heat_back():
    """beta = eta s^2 / 2 removes just the noise that the gradient brings along."""
    scale = 6.0
    kernel = SGHMC(friction=0.2, noise_estimate=STEP_SIZE * scale**2 / 2, num_steps=1500)
    positions, _ = run(kernel, gradient_noise_scale=scale, seed=2)
    assert_covariance(positions, stationary_covariance(kernel, scale**2 * np.eye(3)))
    np.testing.assert_allclose(stationary_covariance(kernel, scale**2 * np.eye(3)), COVARIANCE, rtol=0.03)


def test_noise_is_fresh_at_every_step_and_for_every_particle():
    """With no force and full friction each step's displacement is the previous step's noise alone."""
    kernel = SGHMC(friction=1.0, num_steps=1)
    moved = []
    for steps in range(1, 5):
        kernel = SGHMC(friction=1.0, num_steps=steps)
        positions, _ = sghmc.move(
            jax.random.key(0), jnp.zeros((50, 2)), lambda p, _: 0 * p, np.zeros(steps), 0.1, kernel
        )
        moved.append(np.asarray(positions))
    for values in moved:
        assert len(np.unique(values)) == values.size
    # n steps add up n independent displacements of variance eta (the first) and 2 eta (the others).
    assert moved[3].var() == pytest.approx(0.1 * (1 + 2 * 3), rel=0.5)


def test_velocities_start_in_equilibrium():
    state = sghmc.init(jax.random.key(0), jnp.zeros((5000, 4)), 0.01)
    assert float(state.velocities.var()) == pytest.approx(0.01, rel=4 * np.sqrt(2 / 20_000))


def test_a_diverging_particle_is_put_back_and_counted():
    def gradient(positions, _):
        return jnp.where(positions > 5, jnp.nan, positions)

    start = jnp.array([[0.0], [1.0], [9.0]])
    positions, info = sghmc.move(jax.random.key(0), start, gradient, np.zeros(10), 0.01, SGHMC(num_steps=10))
    assert np.isfinite(positions).all()
    assert float(positions[2, 0]) == 9.0
    assert float(positions[0, 0]) != 0.0
    assert int(info.num_non_finite) == 1
    assert np.isfinite(info.kinetic_temperature)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learning_rate": 0.0}, "`learning_rate` must be positive"),
        ({"learning_rate": float("nan")}, "`learning_rate` must be positive"),
        ({"friction": 1.5}, r"`friction` must lie in \(0, 1\], got 1.5"),
        ({"noise_estimate": 0.3}, "`noise_estimate` must lie between 0 and the friction 0.2"),
        ({"num_steps": 0}, "`num_steps` must be a whole number of at least 1"),
        ({"num_steps": 2.5}, "`num_steps` must be a whole number of at least 1, got 2.5"),
    ],
)
def test_impossible_parameters_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        SGHMC(**arguments)
