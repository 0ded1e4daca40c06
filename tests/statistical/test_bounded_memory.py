"""Bounded memory, unbounded stream: the accuracy of the default does not suffer."""

import numpy as np
import pytest

import sgais
from sgais import simulate
from sgais.history import Reservoir
from sgais.models import GaussianMixture, LinearRegression, LogisticRegression


def run(model, data, history=None):
    evidence = sgais.OnlineEvidence(model, history=history)
    evidence.run(sgais.stream(data, 1000))
    return evidence


def test_linear_regression_from_a_hundredth_of_its_rows():
    model, data = LinearRegression(dim=5), simulate.linear_regression(100_000, seed=1).data
    found = run(model, data, Reservoir(1000))
    assert abs(found.log_evidence - model.log_evidence(data)) < 4 * found.standard_error + 0.02
    assert not found.warning


@pytest.mark.slow
def test_logistic_regression_from_a_tenth_of_its_rows():
    """Against all rows in memory, with the same seed: what differs is the sampling of rows."""
    model, data = LogisticRegression(dim=4, classes=3), simulate.logistic_regression(50_000, 4, 3, seed=1).data
    found, exact = run(model, data, Reservoir(5000)), run(model, data)
    assert abs(found.log_evidence - exact.log_evidence) < 0.5
    assert not found.warning


@pytest.mark.slow
def test_a_reservoir_that_is_too_small_says_so():
    """Overlapping components are far from Gaussian when the reservoir begins to forget rows."""
    data = simulate.gaussian_mixture(2000, components=2, dim=1, seed=3).data
    found = run(GaussianMixture(components=3, dim=1), data, Reservoir(400))
    assert "a sample of these was all that had been kept" in found.warning
    assert np.isfinite(found.log_evidence)
