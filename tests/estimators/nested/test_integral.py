"""The integral over prior volumes against a likelihood known as a function of the volume."""

import numpy as np
import pytest

from sgais.estimators.nested.integral import integrate, live_counts

NUM_LIVE = 300


def shrink(seed, num_points, worst_of):
    """Points as perfect nested sampling meets them, with log L = -X / 0.01: Z = 0.01, nearly."""
    generator = np.random.default_rng(seed)
    counts = np.concatenate([np.full(num_points, NUM_LIVE), np.arange(NUM_LIVE, 0, -1)]).astype(float)
    counts[:num_points] -= np.arange(num_points) % worst_of
    log_volumes = np.cumsum(np.log(generator.random(len(counts))) / counts)
    return -np.exp(log_volumes) / 0.01, counts


@pytest.mark.parametrize("worst_of", [1, 60, 150])
def test_the_evidence_and_its_error_hold_for_points_that_die_together(worst_of):
    exact = np.log(0.01 * (1 - np.exp(-100)))
    integrals = [integrate(*shrink(seed, 3000, worst_of)) for seed in range(200)]
    scores = np.array([(integral.log_evidence - exact) / integral.standard_error for integral in integrals])
    assert abs(scores.mean()) < 4 / np.sqrt(200)
    assert scores.std() == pytest.approx(1, abs=4 / np.sqrt(2 * 200))
    information = np.mean([integral.information for integral in integrals])
    assert information == pytest.approx(-np.log(0.01) - 1, abs=0.05)


def test_with_points_dying_one_by_one_the_error_is_the_classic_one():
    integral = integrate(*shrink(0, 3000, 1))
    assert integral.standard_error == pytest.approx(np.sqrt(integral.information / NUM_LIVE), rel=0.1)


def test_who_is_alive_is_told_by_births_and_deaths():
    """Four draws from the prior, one of them ruled out; two die at 2.0, and two are born above them."""
    deaths = np.array([-np.inf, 1.0, 2.0, 2.5, 3.0, 4.0])
    births = np.array([-np.inf, -np.inf, -np.inf, 2.0, -np.inf, 2.0])
    np.testing.assert_array_equal(live_counts(deaths, births), [4, 3, 2, 3, 2, 1])


def test_points_ruled_out_take_their_share():
    """Half of the prior at likelihood zero, the rest at one: log Z = log 1/2, with the error of 400 coin tosses."""
    log_likelihoods = np.concatenate([np.full(200, -np.inf), np.zeros(200)])
    integral = integrate(log_likelihoods, np.arange(400.0, 0, -1))
    assert integral.log_evidence == pytest.approx(np.log(0.5), abs=0.01)
    assert integral.standard_error == pytest.approx(np.sqrt(0.5 / 200), rel=0.05)
