"""The exact evidence that everything else is measured against, so it is checked against three other routes."""

import numpy as np
import pytest
from scipy import stats

from sgais import ConfigError, simulate
from sgais.models import AutoRegression, LinearRegression


def dense_log_evidence(design, targets, noise_scale):
    """y is jointly Gaussian with covariance s^2 I + A A'."""
    covariance = noise_scale**2 * np.eye(len(targets)) + design @ design.T
    return stats.multivariate_normal(np.zeros(len(targets)), covariance).logpdf(targets)


@pytest.mark.parametrize("noise_scale", [0.3, 1.0, 7.0])
@pytest.mark.parametrize("rows", [1, 2, 13, 50])
def test_evidence_is_the_dense_gaussian_density(rows, noise_scale):
    data = simulate.linear_regression(rows, dim=3, noise_scale=noise_scale, seed=rows).data
    exact = LinearRegression(dim=3, noise_scale=noise_scale).log_evidence(data)
    design = np.column_stack([data["x"], np.ones(rows)]).astype(float)
    assert exact == pytest.approx(dense_log_evidence(design, data["y"].astype(float), noise_scale), rel=1e-9)


def test_evidence_of_auto_regression_is_the_dense_gaussian_density():
    data = simulate.auto_regression(40, order=3, noise_scale=0.5, seed=1).data
    design = np.column_stack([data["x"], np.ones(40)]).astype(float)
    dense = dense_log_evidence(design, data["y"].astype(float), 0.5)
    assert AutoRegression(order=3, noise_scale=0.5).log_evidence(data) == pytest.approx(dense, rel=1e-9)


def test_evidence_is_the_sum_of_sequential_predictives():
    data = simulate.linear_regression(3000, seed=5).data
    model = LinearRegression(dim=5)
    assert model.log_predictives(data).sum() == pytest.approx(model.log_evidence(data), rel=1e-9)


def test_the_curve_is_the_evidence_of_each_beginning():
    data = simulate.linear_regression(700, seed=5).data
    model = LinearRegression(dim=5, noise_scale=2.0)
    ends = [1, 10, 300, 700]
    beginnings = [model.log_evidence({name: values[:end] for name, values in data.items()}) for end in ends]
    np.testing.assert_allclose(model.log_evidence_curve(data, ends), beginnings, rtol=1e-12)


@pytest.mark.parametrize("rows", [[30, 10], [10, 100], [0, 5], [1.5], 5])
def test_a_curve_at_impossible_rows_is_refused(rows):
    data = simulate.linear_regression(40, seed=5).data
    with pytest.raises(ConfigError, match="`rows` must be ascending whole numbers from 1 to 40"):
        LinearRegression(dim=5).log_evidence_curve(data, rows)


def test_the_likelihood_knows_the_noise():
    data = simulate.linear_regression(20, dim=2, noise_scale=0.3, seed=1).data
    weights, bias = np.array([0.4, -1.0], np.float32), np.float32(0.2)
    found = LinearRegression(dim=2, noise_scale=0.3).log_likelihood({"weights": weights, "bias": bias}, data)
    np.testing.assert_allclose(
        found, stats.norm.logpdf(data["y"], data["x"] @ weights + bias, 0.3), rtol=1e-4, atol=1e-4
    )
