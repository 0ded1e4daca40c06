"""Families and lags, on particles that are known to mix or not to."""

import numpy as np
import pytest

from sgais.estimators.ais.mixing import Families, Lag, lag
from sgais.smc import annealing

COUNT = 2000
EVEN = np.zeros(COUNT)


def moved(random, before, correlation):
    """An autoregressive move that leaves N(0, 1) alone."""
    return correlation * before + np.sqrt(1 - correlation**2) * random.normal(size=len(before))


def test_moves_that_leave_the_law_alone_show_no_lag():
    random = np.random.default_rng(0)
    for correlation in (0.0, 0.5, 0.9):
        before = random.normal(size=COUNT)
        found = lag(EVEN, 0.3 * before, 0.3 * moved(random, before, correlation))
        assert abs(found.nats) < 3.5 * np.sqrt(found.variance) + 1e-3
        assert not found.is_certain


@pytest.mark.parametrize("correlation", [0.3, 0.6, 0.8])
def test_what_a_move_leaves_of_a_lag_is_found(correlation):
    """Particles 2 below where they should be come up to within 2 * correlation of it."""
    random = np.random.default_rng(1)
    before = random.normal(size=COUNT) - 2.0
    found = lag(EVEN, 0.3 * before, 0.3 * moved(random, before, correlation))
    assert found.nats == pytest.approx(0.3 * 2.0 * correlation, abs=4 * np.sqrt(found.variance) + 0.02)
    assert found.is_certain


def test_a_move_that_goes_nowhere_has_no_finite_story_to_tell():
    values = np.random.default_rng(2).normal(size=COUNT)
    assert lag(EVEN, values, values) == Lag(0.0, 0.0)
    assert lag(EVEN, EVEN, EVEN) == Lag(0.0, 0.0)


def test_lags_add_up_and_chance_is_taken_off():
    total = Lag(0.3, 0.01).plus(Lag(0.2, 0.02))
    assert (total.nats, total.variance) == pytest.approx((0.5, 0.03))
    assert total.beyond_chance == pytest.approx(np.sqrt(0.22))
    assert Lag(0.1, 0.04).beyond_chance == 0.0


def test_without_resampling_families_are_the_weights_own_variance():
    random = np.random.default_rng(3)
    first, second = random.normal(size=(2, 50))
    families = Families.of(50).weighed(np.zeros(50), first).weighed(first, first + second)
    assert families.variance == pytest.approx(1 / annealing.effective_sample_size(first + second) - 1 / 50)


def test_particles_that_never_forget_make_the_variance_larger():
    """Ten steps of the same weights: forgotten in between they add up, remembered they multiply."""
    random = np.random.default_rng(4)
    variances = []
    for forgets in (True, False):
        families, values = Families.of(COUNT), random.normal(size=COUNT)
        for _ in range(10):
            values = random.normal(size=COUNT) if forgets else values
            families = families.weighed(EVEN, 0.1 * values)
        variances.append(families.variance * COUNT)
    assert variances[0] == pytest.approx(10 * 0.01, rel=0.2)
    assert variances[1] == pytest.approx(100 * 0.01, rel=0.2)
