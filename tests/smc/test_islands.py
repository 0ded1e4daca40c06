"""Islands: their schedule, their evidence, their error bars."""

import numpy as np
import pytest

from sgais.smc.effective_sample_size import ess_fraction
from sgais.smc.islands import (
    Islands,
    booked,
    combine,
    have_diverged,
    largest_step,
    migrate,
    populated,
    rebooked,
    resample,
)
from sgais.smc.weights import Estimate

GENERATOR = np.random.default_rng(0)


def islands(log_weights, log_evidences=None):
    count, size = log_weights.shape
    positions = np.arange(count * size, dtype=float).reshape(count, size, 1)
    return Islands(positions, log_weights, np.zeros(count) if log_evidences is None else log_evidences)


@pytest.mark.parametrize("spread", [0.3, 0.6, 0.8])
def test_the_combined_evidence_is_unbiased_and_its_error_covers(spread):
    """Islands whose Z are log-normal with mean 1; the error bar claims 95 %."""
    repeats = 4000
    logs = np.random.default_rng(1).normal(-0.5 * spread**2, spread, size=(repeats, 8))
    found = np.array([combine(row) for row in logs])
    error = found[:, 0].std() / np.sqrt(repeats)
    assert abs(found[:, 0].mean()) < 5 * error
    covered = np.mean(np.abs(found[:, 0]) < 1.96 * found[:, 1])
    assert 0.92 < covered < 0.98


def test_without_students_factor_the_error_would_not_cover():
    logs = np.random.default_rng(1).normal(-0.045, 0.3, size=(4000, 8))
    found = np.array([combine(row) for row in logs])
    assert np.mean(np.abs(found[:, 0]) < 1.96 / 1.21 * found[:, 1]) < 0.925


def test_islands_that_found_nothing_count_as_zero():
    found = combine(np.array([0.0, 0.0, 0.0, 0.0, -np.inf, -np.inf, -1000.0, -1000.0]))
    assert found.log_evidence == pytest.approx(np.log(0.5))
    assert 0.1 < found.standard_error < 1


@pytest.mark.parametrize("others", [-6.0, -np.inf])
def test_if_one_island_has_all_the_evidence_the_error_knows_how_much_it_hangs_on_it(others):
    """Without that island log Z would be 6 - log 8 nats less, or nothing."""
    found = combine(np.array([0.0, *[others] * 7]))
    assert found.log_evidence == pytest.approx(-np.log(8), abs=0.02)
    assert (3 < found.standard_error < 6) if np.isfinite(others) else (30 < found.standard_error < 100)


def test_islands_that_have_diverged_claim_more_than_the_error_of_a_mean():
    """Log-normal Z of spread 3: the relative error of their mean cannot exceed 1, but its log is off by more."""
    logs = np.random.default_rng(1).normal(-4.5, 3.0, size=(1000, 8))
    found = np.array([combine(row) for row in logs])
    of_mean = np.array(
        [1.21 * np.std(np.exp(row - one), ddof=1) / 8**0.5 for row, one in zip(logs, found[:, 0], strict=True)]
    )
    covered, before = (np.mean(np.abs(found[:, 0]) < 3 * errors) for errors in (found[:, 1], of_mean))
    assert covered > before + 0.1


def test_equal_islands_have_no_error():
    assert combine(np.full(8, -3.0)) == (-3.0, 0.0)


def test_the_step_is_the_largest_that_keeps_the_pooled_ess():
    log_likelihoods = GENERATOR.normal(size=(4, 50)) * 10
    nothing = np.zeros((4, 50))
    step = largest_step(nothing, log_likelihoods, 1.0, 0.5)
    assert ess_fraction(step * log_likelihoods) == pytest.approx(0.5, abs=1e-4)
    assert ess_fraction(1.01 * step * log_likelihoods) < 0.5


def test_resampling_keeps_each_islands_evidence_and_its_own_particles():
    before = islands(GENERATOR.normal(size=(4, 100)), np.arange(4.0))
    after, chosen = resample(before, GENERATOR)
    assert after.estimate == pytest.approx(before.estimate)
    assert (after.log_weights == 0).all()
    np.testing.assert_array_equal(chosen // 100, np.repeat(np.arange(4), 100))
    thinned, _ = resample(before, GENERATOR, 10)
    assert thinned.positions.shape == (4, 10, 1)
    assert thinned.estimate == pytest.approx(before.estimate)


def test_resampling_draws_by_weight():
    heavy = GENERATOR.random((3, 500)) < 0.5
    after, _ = resample(islands(np.where(heavy, np.log(3.0), 0.0)), GENERATOR)
    share = 3 * heavy.mean() / (3 * heavy.mean() + 1 - heavy.mean())
    assert heavy.ravel()[after.all_positions.astype(int)].mean() == pytest.approx(share, abs=0.02)


def test_migration_books_the_evidence_and_mixes_the_islands():
    before = islands(np.zeros((8, 50)), np.array([0.0, 0.0, 0.0, 0.0, -50.0, -50.0, -50.0, -np.inf]))
    assert have_diverged(before)
    assert not have_diverged(islands(np.zeros((8, 50))))
    after, chosen = migrate(before, GENERATOR)
    assert after.estimate == pytest.approx(before.estimate)
    assert after.log_evidences.tolist() == [0.0] * 8
    assert chosen.max() < 200, "the lost islands leave nobody"
    homes = after.positions[..., 0] // 50
    assert all(len(set(home)) == 4 for home in homes), "every island has particles of all that live"


def test_particles_begin_with_weights_of_one_and_nothing_booked():
    found = Islands.of(np.ones((4, 10, 2), np.float32))
    assert found.positions.dtype == np.float64
    assert found.estimate == (0.0, 0.0)


def test_islands_are_populated_by_weight_and_book_the_evidence_of_the_draws():
    """Draws of N(0, 2) weighted towards N(1, 1); every island gets its share of them."""
    generator = np.random.default_rng(2)
    draws = 2.0 * generator.normal(size=(5000, 1))
    log_weights = 0.125 * draws[:, 0] ** 2 - 0.5 * (draws[:, 0] - 1.0) ** 2
    found, chosen = populated(draws, log_weights, (8, 500), Estimate(-12.5, 0.25), generator)
    assert found.estimate == pytest.approx((-12.5, 0.25))
    np.testing.assert_array_equal(found.all_positions, draws[chosen])
    assert (found.all_log_weights == 0).all()
    assert found.positions.mean() == pytest.approx(1.0, abs=0.1)
    assert found.positions.std() == pytest.approx(1.0, abs=0.1)
    means = found.positions.mean(axis=(1, 2))
    assert np.abs(means - means.mean()).max() < 5 / np.sqrt(500), "no island has a corner of its own"


def test_another_evidence_leaves_particles_and_weights_within_an_island_alone():
    before = islands(GENERATOR.normal(size=(8, 50)), GENERATOR.normal(size=8))._replace(booked=3.0, booked_variance=4.0)
    after = rebooked(before, Estimate(-7.0, 0.5))
    assert after.estimate == pytest.approx((-7.0, 0.5))
    np.testing.assert_array_equal(after.positions, before.positions)
    changes = after.log_weights - before.log_weights
    np.testing.assert_allclose(changes, np.repeat(changes[:, :1], 50, axis=1), atol=1e-12)


def test_what_comes_after_is_added_to_another_evidence():
    after = rebooked(islands(GENERATOR.normal(size=(8, 50))), Estimate(-7.0, 0.5))
    grown = after.reweighted(np.full((8, 50), -2.0))
    assert grown.estimate.log_evidence == pytest.approx(-9.0)


@pytest.mark.parametrize("spread", [0.1, 30.0])
def test_booking_keeps_every_island_unless_they_have_diverged(spread):
    before = islands(np.zeros((8, 50)), spread * np.arange(8.0))
    after = booked(before, GENERATOR)
    assert after.estimate == pytest.approx(before.estimate)
    assert (after.log_evidences == 0).all()
    assert (after.positions == before.positions).all() == (spread < 1)
