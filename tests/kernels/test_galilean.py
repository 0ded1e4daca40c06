"""Moves inside a contour against exact draws of the truncated prior."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sgais import ConfigError
from sgais.kernels import constrained_sghmc, galilean
from sgais.kernels.constrained_sghmc import ConstrainedSGHMC
from sgais.kernels.galilean import Contour, Galilean

MEAN = np.array([0.5, -0.5, 0.0])
COVARIANCE = np.array([[1.0, 0.5, -0.2], [0.5, 0.6, 0.1], [-0.2, 0.1, 0.4]])  # correlated, unequal scales
PRECISION = np.linalg.inv(COVARIANCE)
CENTRE = np.array([0.8, 0.2, -0.3])  # of the contour: not that of the prior, so that a wrong sign shows
THRESHOLD = -0.5
PARTICLES = 4000


def log_prior(positions):
    shifted = positions - MEAN
    return -0.5 * jnp.sum(shifted @ PRECISION * shifted, axis=1), -shifted @ PRECISION


def log_likelihood(positions):
    """Above the threshold in a ball of radius one."""
    return -0.5 * jnp.sum((positions - CENTRE) ** 2, axis=1), CENTRE - positions


def truncated_draws(seed, count):
    generator = np.random.default_rng(seed)
    draws = generator.multivariate_normal(MEAN, COVARIANCE, size=20 * count)
    return draws[np.sum((draws - CENTRE) ** 2, axis=1) < -2 * THRESHOLD][:count].astype(np.float32)


def moments(positions):
    """First and second moments, and how close to the wall."""
    positions = np.asarray(positions, float)
    outer = (positions[:, :, None] * positions[:, None]).reshape(len(positions), -1)[:, [0, 1, 2, 4, 5, 8]]
    return np.column_stack([positions, outer, np.sum((positions - CENTRE) ** 2, axis=1)])


def assert_same_law(found, expected):
    error = np.sqrt(moments(found).var(axis=0) / len(found) + moments(expected).var(axis=0) / len(expected))
    assert (np.abs(moments(found).mean(axis=0) - moments(expected).mean(axis=0)) < 4 * error).all()


def move(module, kernel, start, step_size=0.5, repeats=1, likelihood=log_likelihood):
    state = galilean.State(jnp.asarray(start), likelihood(jnp.asarray(start))[0])
    whitening = jnp.asarray(np.linalg.cholesky([[0.3, 0.1, 0.0], [0.1, 0.2, 0.0], [0.0, 0.0, 0.2]]), jnp.float32)
    contour = Contour(THRESHOLD, step_size, whitening)
    step = jax.jit(lambda key, state: module.move(key, state, log_prior, likelihood, contour, kernel))
    for key in jax.random.split(jax.random.key(0), repeats):
        state, info = step(key, state)
    return state, info


@pytest.mark.parametrize("step_size", [0.2, 1.0])
def test_the_truncated_prior_is_invariant_at_any_step_size(step_size):
    start = truncated_draws(0, PARTICLES)
    state, info = move(galilean, Galilean(), start, step_size)
    assert 0.1 < info.acceptance < 1
    assert info.inside < 1  # walls were met
    assert_same_law(state.positions, truncated_draws(1, PARTICLES))
    assert (np.asarray(state.log_likelihoods) > THRESHOLD).all()
    np.testing.assert_array_equal(state.log_likelihoods, log_likelihood(state.positions)[0])


def test_particles_forget_where_they_started():
    start = np.tile(CENTRE + np.array([0.5, -0.5, 0.0]), (PARTICLES, 1)).astype(np.float32)
    state, info = move(galilean, Galilean(), start, repeats=5)
    assert info.moved.mean() > 0.99
    assert_same_law(state.positions, truncated_draws(1, PARTICLES))


def test_the_papers_moves_reach_the_truncated_prior_but_for_the_order_of_the_step():
    start = np.tile(CENTRE, (1000, 1)).astype(np.float32)
    state, _ = move(constrained_sghmc, ConstrainedSGHMC(num_steps=200), start, repeats=10)
    expected = moments(truncated_draws(1, PARTICLES)).mean(axis=0)
    assert (np.asarray(state.log_likelihoods) > THRESHOLD).all()
    assert np.abs(moments(state.positions).mean(axis=0) - expected).max() < 0.08  # a step is 0.03 long


def test_reflection_turns_the_part_along_the_gradient():
    velocities = jnp.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]])
    gradients = jnp.array([[0.0, -5.0], [0.0, 0.0], [jnp.nan, 1.0]])
    np.testing.assert_allclose(galilean.reflect(velocities, gradients), [[1, -2], [-1, -2], [-1, -2]])


@pytest.mark.parametrize(("module", "kernel"), [(galilean, Galilean()), (constrained_sghmc, ConstrainedSGHMC())])
def test_values_that_are_no_numbers_are_outside_and_counted(module, kernel):
    def broken(positions):
        values, gradients = log_likelihood(positions)
        return jnp.where(positions[:, 0] > CENTRE[0], jnp.nan, values), gradients

    draws = truncated_draws(0, 500)
    state, info = move(module, kernel, draws[draws[:, 0] < CENTRE[0]], likelihood=broken)
    assert info.num_non_finite > 0
    assert (np.asarray(state.positions)[:, 0] <= CENTRE[0]).all()
    assert info.moved.any()


def test_the_step_size_follows_the_part_inside():
    kernel = Galilean(target_inside=0.8)
    assert galilean.adapt(0.3, 0.9, 0.9, kernel) > 0.3 > galilean.adapt(0.3, 0.9, 0.5, kernel)
    assert galilean.adapt(0.3, 0.1, 0.9, kernel) < 0.3
    assert galilean.adapt(galilean.LARGEST_STEP, 1.0, 1.0, kernel) == galilean.LARGEST_STEP


def test_moves_grow_with_the_dimension_unless_told_otherwise():
    small, large = Galilean().for_dimension(2), Galilean().for_dimension(100)
    assert (small.num_trajectories, small.num_steps) == (16, 8)
    assert (large.num_trajectories, large.num_steps, large.num_evaluations) == (50, 30, 1500)
    told = Galilean(num_trajectories=2, num_steps=3)
    assert told.for_dimension(100) == told


@pytest.mark.parametrize(
    ("kernel", "name", "value"),
    [
        (Galilean, "num_steps", 0),
        (Galilean, "num_trajectories", 1.5),
        (Galilean, "step_size", 2.0),
        (Galilean, "target_inside", 1.0),
        (ConstrainedSGHMC, "learning_rate", 0.0),
        (ConstrainedSGHMC, "friction", 1.5),
        (ConstrainedSGHMC, "num_steps", 0),
        (ConstrainedSGHMC, "num_steps", 2.5),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(kernel, name, value):
    with pytest.raises(ConfigError, match=f"`{name}` must"):
        kernel(**{name: value})
