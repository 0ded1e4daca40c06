import numpy as np
import pytest
from scipy.special import expit

import sgais
from sgais.comparison.probabilities import log_mixture, log_prior_odds, shares_of, with_bands


def test_two_models_have_the_log_odds_and_errors_of_their_difference():
    probabilities, lows, highs = with_bands(np.array([-10.0, -12.0]), np.array([0.3, 0.4]))
    np.testing.assert_allclose(probabilities, expit([2.0, -2.0]))
    np.testing.assert_allclose(lows, expit([2.0 - 1.5, -2.0 - 1.5]))
    np.testing.assert_allclose(highs, expit([2.0 + 1.5, -2.0 + 1.5]))


def test_bands_are_those_of_simulated_errors():
    """Three standard errors hold all but 0.27 % of Gaussian errors."""
    logs, errors = np.array([0.0, -0.5, -2.0]), np.array([0.2, 0.1, 0.3])
    _, lows, highs = with_bands(logs, errors)
    noisy = logs + errors * np.random.default_rng(0).normal(size=(100_000, 3))
    weights = np.exp(noisy)
    simulated = weights / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.quantile(simulated, 0.00135, axis=0), lows, rtol=0.05)
    np.testing.assert_allclose(np.quantile(simulated, 0.99865, axis=0), highs, rtol=0.05)


def test_without_errors_anything_is_possible():
    """Paper mode has none; a band of no width would claim that it is exact."""
    probabilities, lows, highs = with_bands(np.array([0.0, -50.0]), np.array([np.nan, np.nan]))
    assert probabilities[0] > 0.99
    assert lows.tolist() == [0.0, 0.0]
    assert highs.tolist() == [1.0, 1.0]


def test_a_single_model_is_certain():
    assert [part.tolist() for part in with_bands(np.array([-5.0]), np.array([1.0]))] == [[1.0]] * 3


def test_evidences_far_below_the_smallest_number():
    assert shares_of({"a": -1e6, "b": -1e6 + np.log(3)}) == pytest.approx({"a": 0.25, "b": 0.75})
    assert log_mixture({"a": 0.25, "b": 0.75}, {"a": -1e6, "b": -1e6}) == pytest.approx(-1e6)


@pytest.mark.parametrize("odds", [{"a": 1.0}, {"a": 1.0, "b": 0.0}, {"a": 1.0, "b": np.inf}, {"a": 1, "b": 1, "c": 1}])
def test_prior_odds_that_do_not_fit_are_refused(odds):
    with pytest.raises(sgais.ConfigError, match="`prior_odds` must"):
        log_prior_odds(["a", "b"], odds)


@pytest.mark.parametrize(
    "logs",
    [[0.0, -1e16], [-5e29, -5e29], [1e16, 1e16 + 2], [-np.inf, -np.inf], [np.nan, 0.0], [np.inf, 0.0], [-1e308] * 3],
)
def test_whatever_the_numbers_they_sum_to_one(logs):
    shares = shares_of(dict(enumerate(logs)))
    assert sum(shares.values()) == pytest.approx(1.0, abs=1e-15)
    probabilities, *_ = with_bands(np.array(logs), np.ones(len(logs)))
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-15)
