"""The default configuration against the truth: errors in nats, and error bars that hold."""

import numpy as np
import pytest
from scipy import stats

import sgais
from sgais import simulate


def test_error_bars_cover_all_along_the_curve():
    """Forty runs of linear regression; the chance that a true 95 % gives fewer than 32 hits is 1e-4."""
    model = sgais.models.LinearRegression(dim=5)
    ends = (100, 500, 1500)
    hits = np.zeros(len(ends))
    errors = []
    for seed in range(40):
        data = simulate.linear_regression(1500, seed=seed).data
        result = sgais.estimate(model, data, config=sgais.Config(chunk_size=100), seed=seed, shuffle=False)
        records = {record.num_rows: record for record in result.records}
        exact = model.log_evidence_curve(data, ends)
        errors.append([records[end].log_evidence - value for end, value in zip(ends, exact, strict=True)])
        bars = np.array([records[end].standard_error for end in ends])
        hits += np.abs(errors[-1]) < 1.96 * bars
    assert (hits >= 32).all()
    assert (np.sqrt(np.mean(np.square(errors), axis=0)) < 0.5).all()
    means = stats.ttest_1samp(np.array(errors), 0.0)
    assert (means.pvalue > 1e-4).all(), "no bias"


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (sgais.models.LogisticRegression(dim=3, classes=3), simulate.logistic_regression(6000, 3, 3, seed=1).data),
        pytest.param(
            sgais.models.GaussianMixture(components=2, dim=1),
            simulate.gaussian_mixture(5000, 2, 1, seed=5).data,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["logistic", "mixture"],
)
def test_it_agrees_with_laplace_and_importance_sampling(model, data):
    found = sgais.estimate(model, data, seed=1)
    reference = sgais.estimate(model, data, method="laplace")
    assert found.is_complete
    assert reference.is_complete
    error = np.hypot(found.standard_error, reference.standard_error)
    assert abs(found.log_evidence - reference.log_evidence) < 4 * error
    assert found.standard_error < 1


@pytest.mark.slow
def test_a_shift_in_mid_stream():
    """The coefficients change sign at half-time: the posterior leaves where the surrogates are anchored."""
    model = sgais.models.LogisticRegression(dim=3, classes=2)
    first, second = (simulate.logistic_regression(2000, 3, 2, seed=7).data for _ in range(2))
    data = {"x": np.concatenate([first["x"], -second["x"]]), "y": np.concatenate([first["y"], second["y"]])}
    found = sgais.estimate(model, data, seed=1, shuffle=False)
    reference = sgais.estimate(model, data, method="laplace")
    error = np.hypot(found.standard_error, reference.standard_error)
    assert abs(found.log_evidence - reference.log_evidence) < 4 * error


def test_the_reported_kernel_bias_of_a_hot_kernel():
    """The paper's mini-batch gradients, with the other errors of Algorithm 1 removed by resampling."""
    model = sgais.models.LinearRegression(dim=5)
    config = sgais.Config.paper(num_particles=50, resampling="systematic")
    for seed in range(2):
        data = simulate.linear_regression(30_000, seed=seed).data
        result = sgais.estimate(model, data, config=config, seed=seed)
        error = result.log_evidence - model.log_evidence(data)
        assert error < -20
        assert 0.5 < result.records[-1].kernel_bias / error < 2
        assert result.error_budget["kernel"] == -result.records[-1].kernel_bias
