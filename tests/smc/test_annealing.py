import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sgais.errors import ConfigError, EstimationError
from sgais.smc.annealing import (
    effective_sample_size,
    linear_schedule,
    log_mean_exp,
    next_inverse_temperature,
    sigmoidal_schedule,
)

log_values = st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=30).map(np.array)


def test_log_mean_exp_of_large_numbers():
    assert log_mean_exp(np.array([-1e6, -1e6 + np.log(3)])) == pytest.approx(-1e6 + np.log(2), abs=1e-9)
    assert log_mean_exp(np.array([-np.inf, -np.inf])) == -np.inf


def test_effective_sample_size_of_known_weights():
    assert effective_sample_size(np.zeros(10)) == pytest.approx(10)
    assert effective_sample_size(np.log([1.0, 2.0, 3.0])) == pytest.approx(36 / 14)
    assert effective_sample_size(np.array([0.0, -np.inf, -np.inf])) == 1
    assert effective_sample_size(np.array([-np.inf, -np.inf])) == 0


@given(log_values, st.floats(0.05, 0.95), st.floats(0.0, 0.99))
def test_the_next_temperature_hits_the_target_or_is_exactly_one(log_likelihoods, fraction, start):
    found = next_inverse_temperature(log_likelihoods, start, fraction)
    reached = effective_sample_size((found - start) * log_likelihoods)
    assert start < found <= 1.0
    target = fraction * len(log_likelihoods)
    if found == 1.0:
        assert reached >= target or target <= 1
    else:
        # A relative change of 1e-6 in the step changes the ESS by about as much.
        assert reached == pytest.approx(target, rel=1e-3)


def test_a_target_of_one_particle_means_no_annealing():
    assert next_inverse_temperature(np.array([0.0, -1e5, -1e9]), 0.0, 1 / 3) == 1.0


def test_particles_without_likelihood_do_not_block_the_way():
    """Half of the particles at -inf keep the ESS at half or below, however small the step."""
    log_likelihoods = np.concatenate([np.linspace(-50, 0, 10), np.full(10, -np.inf)])
    found = next_inverse_temperature(log_likelihoods, 0.0, 0.7)
    assert effective_sample_size(found * log_likelihoods[:10]) == pytest.approx(7, rel=1e-3)


def test_hopeless_annealing_says_so():
    with pytest.raises(EstimationError, match="stuck at inverse temperature.*smaller learning rate.*smaller chunks"):
        next_inverse_temperature(np.array([0.0, -1e300]), 0.5, 0.9)


def test_schedules_rise_to_exactly_one():
    assert linear_schedule(4) == (0.25, 0.5, 0.75, 1.0)
    assert linear_schedule(1) == sigmoidal_schedule(1) == (1.0,)
    sigmoidal = np.array([0.0, *sigmoidal_schedule(20, delta=4.0)])
    steps = np.diff(sigmoidal)
    assert sigmoidal[-1] == 1.0
    np.testing.assert_allclose(sigmoidal, 1 - sigmoidal[::-1], atol=1e-12)
    assert steps[0] < 0.2 * steps[10]


@pytest.mark.parametrize("arguments", [(0,), (5, -1.0)])
def test_bad_schedules_are_refused(arguments):
    with pytest.raises(ConfigError, match="must be"):
        sigmoidal_schedule(*arguments)
