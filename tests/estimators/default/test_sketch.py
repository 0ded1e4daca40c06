"""A calibrated sample says of the posterior what all rows say, where a plain one is off by nats."""

import numpy as np
import pytest

import sgais
from sgais.compute.positions import unconstrain
from sgais.estimators.default import policy
from sgais.estimators.default import sketch as sketches
from sgais.estimators.default.sketch import AllRows, calibrated, sketch

ROWS = 6000
MODEL = sgais.models.GaussianMixture(components=3, dim=2)


@pytest.fixture(scope="module")
def of_all():
    generator = np.random.default_rng(1)
    means = np.array([[-2.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    y = means[generator.integers(3, size=ROWS)] + 0.8 * generator.normal(size=(ROWS, 2))
    return AllRows({"y": y.astype(np.float32)}, np.ones(ROWS))


@pytest.fixture(scope="module")
def posterior(of_all):
    """Particles of the posterior, as the default leaves them."""
    evidence = sgais.OnlineEvidence(MODEL, seed=0)
    evidence.update(of_all.rows)
    return unconstrain(MODEL, evidence.particles).astype(np.float64)


def lack(model, positions, of_all, found):
    return found.lacks(model, positions, of_all) - found.offset


def test_it_agrees_with_all_rows_at_positions_that_it_has_not_seen(of_all, posterior):
    generator = np.random.default_rng(2)
    seen, unseen = posterior[::2], posterior[1::2]
    found = sketch(MODEL, seen, of_all, generator)
    assert found is not None
    assert np.count_nonzero(found.data.weights) <= policy.LARGEST_SKETCH < ROWS
    assert np.std(lack(MODEL, unseen, of_all, found)) < 0.2
    assert abs(np.mean(lack(MODEL, unseen, of_all, found))) < 0.2


def test_a_plain_sample_is_off_by_nats(of_all, posterior, monkeypatch):
    """So that what the calibration does shows."""
    monkeypatch.setattr(sketches, "calibrated", lambda values, totals, weights: weights)
    found = sketch(MODEL, posterior[::2], of_all, np.random.default_rng(2))
    assert np.std(lack(MODEL, posterior[1::2], of_all, found)) > 1.0


def test_rows_that_are_annealed_in_keep_their_share(of_all, posterior):
    counts = np.where(np.arange(ROWS) < ROWS // 2, 1.0, 0.3)
    tempered = of_all._replace(counts=counts)
    found = sketch(MODEL, posterior[::2], tempered, np.random.default_rng(3))
    assert np.std(lack(MODEL, posterior[1::2], tempered, found)) < 0.2
    assert found.data.weights.sum() == pytest.approx(counts.sum(), rel=0.05)


def test_few_rows_and_few_particles_are_left_alone(of_all, posterior):
    few = AllRows({"y": of_all.rows["y"][:1000]}, np.ones(1000))
    generator = np.random.default_rng(4)
    assert sketch(MODEL, posterior, few, generator) is None
    assert sketch(MODEL, posterior[: MODEL.dimension], of_all, generator) is None


def test_weights_change_as_little_as_they_must():
    generator = np.random.default_rng(5)
    values, weights = generator.normal(size=(5, 100)), np.full(100, 3.0)
    totals = values @ (weights + generator.normal(size=100))
    found = calibrated(values, totals, weights)
    gap = totals - values @ found
    assert np.ptp(gap) < 0.02 * np.ptp(totals - values @ weights)  # equal but for a constant
    assert np.linalg.norm(found - weights) < np.sqrt(100)
