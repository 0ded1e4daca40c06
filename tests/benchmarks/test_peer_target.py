"""Peers are given the prior and the likelihood that our own methods have."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.peers.data import from_gaussian
from benchmarks.peers.target import BLOCK_ROWS, Target
from benchmarks.problems import PROBLEMS

NAMES = ("linear", "logistic", "mixture")
ROWS = BLOCK_ROWS + 100  # a full block, and one that is padded


def target_of(name):
    return Target(name, PROBLEMS[name].simulate(ROWS, seed=1).data)


@pytest.mark.parametrize("name", NAMES)
def test_gaussian_numbers_become_draws_from_the_prior(name):
    """The density of what a map makes of Gaussian numbers follows from the determinant of its derivative."""
    model, function = PROBLEMS[name].model, from_gaussian(name)
    for seed in range(5):
        numbers = jnp.asarray(np.random.default_rng(seed).normal(size=model.dimension), jnp.float32)
        log_density = jnp.sum(jax.scipy.stats.norm.logpdf(numbers))
        log_volume = jnp.linalg.slogdet(jax.jacfwd(function)(numbers))[1]
        # The determinant of 24 float32 columns is good to about 1e-4.
        np.testing.assert_allclose(model.log_prior_at(function(numbers)), log_density - log_volume, atol=5e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_likelihood_is_the_model_s(name):
    target = target_of(name)
    positions = 0.3 * target.draws(3, seed=0)
    function = from_gaussian(name)

    def plain(numbers, rows):
        head = {column: values[:rows] for column, values in target.data.items()}
        return target.model.log_likelihood_at(function(jnp.asarray(numbers, jnp.float32)), head)

    for rows in (1, BLOCK_ROWS, ROWS):
        expected = [np.asarray(plain(position, rows), np.float64).sum() for position in positions]
        np.testing.assert_allclose(target.log_likelihoods(positions, rows), expected, rtol=1e-5)
    last = [float(plain(position, ROWS)[-1]) for position in positions]
    np.testing.assert_allclose(target.row_log_likelihoods(positions, ROWS - 1), last, rtol=1e-4)
    assert target.num_likelihoods == 9


@pytest.mark.parametrize("name", NAMES)
def test_samplers_are_given_numbers_wherever_they_look(name):
    target = target_of(name)
    far_out = np.full((2, target.dimension), 1e30)
    for values in (target.log_likelihoods(far_out), target.row_log_likelihoods(far_out, 0)):
        assert np.isfinite(values).all()
        values[:] = 0.0  # some of them write there


@pytest.mark.parametrize("name", NAMES)
def test_its_gradient_is_that_of_the_model(name):
    target = target_of(name)
    position = jnp.asarray(0.3 * target.draws(1, seed=0)[0], jnp.float32)
    function = from_gaussian(name)
    rows = {column: jnp.asarray(values) for column, values in target.data.items()}
    expected = jax.grad(lambda at: jnp.sum(target.model.log_likelihood_at(function(at), rows)))(position)
    found = jax.grad(target.log_likelihood)(position, target.columns)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * float(jnp.abs(expected).max()))


@pytest.mark.parametrize("count", [1, 2, 5, 9, 100])
def test_any_number_of_positions_is_taken(count):
    target = target_of("linear")
    assert target.log_likelihoods(target.draws(count, seed=0)).shape == (count,)
    assert target.num_likelihoods == count


def test_the_middle_of_the_cube_is_the_middle_of_the_prior_and_its_faces_are_finite():
    target = target_of("linear")
    assert target.from_cube(np.full(6, 0.5)) == pytest.approx(np.zeros(6))
    assert np.isfinite(target.from_cube(np.array([[0.0] * 6, [1.0] * 6]))).all()
