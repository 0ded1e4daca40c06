"""The insertion-order test: ranks against counting, p-values against SciPy."""

import numpy as np
import pytest
from scipy.stats import kstest

from sgais.estimators.nested.diagnostics import insertion_ranks, uniformity_p_value


def test_ranks_count_the_live_points_and_the_new_ones_before():
    ranks = insertion_ranks(np.random.default_rng(0), np.array([1.0, 2.0, 3.0]), np.array([2.5, 0.5, 2.7]))
    places = np.floor(ranks * [4, 5, 6])
    np.testing.assert_array_equal(places, [2, 0, 4])  # the last: above 1, 2, 2.5 and 0.5


@pytest.mark.parametrize("power", [1.0, 1.1])
def test_ranks_are_uniform_if_new_points_are_like_the_live_ones(power):
    """And are found not to be if the new ones tend to be lower."""
    generator = np.random.default_rng(0)
    ranks = [
        insertion_ranks(generator, np.sort(generator.random(40)), generator.random(10) ** power) for _ in range(500)
    ]
    assert (uniformity_p_value(np.concatenate(ranks)) > 0.01) == (power == 1.0)


def test_ties_are_broken_at_random():
    generator = np.random.default_rng(0)
    ranks = [insertion_ranks(generator, np.zeros(20), np.zeros(5)) for _ in range(300)]
    assert uniformity_p_value(np.concatenate(ranks)) > 0.01


@pytest.mark.parametrize("count", [50, 1000])
@pytest.mark.parametrize("power", [1.0, 1.2])
def test_the_p_value_is_that_of_kolmogorov_and_smirnov(count, power):
    values = np.random.default_rng(1).random(count) ** power
    assert uniformity_p_value(values) == pytest.approx(kstest(values, "uniform").pvalue, rel=0.03, abs=1e-6)


def test_without_values_there_is_no_p_value():
    assert np.isnan(uniformity_p_value(np.empty(0)))
