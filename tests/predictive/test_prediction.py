"""Predictions against closed forms."""

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import sgais
from sgais import simulate
from sgais.models import GaussianMixture, LinearRegression, LogisticRegression


def fitted(model, data):
    evidence = sgais.OnlineEvidence(model)
    evidence.update(data)
    return evidence


def test_linear_regression_predicts_its_student_free_gaussian():
    model, data = LinearRegression(dim=2), simulate.linear_regression(40, dim=2).data
    x = np.array([[0.0, 0.0], [3.0, -2.0]])
    found = fitted(model, data).predict({"x": x})
    design = np.column_stack([data["x"], np.ones(40)]).astype(float)
    precision = design.T @ design + np.eye(3)
    centre = np.linalg.solve(precision, design.T @ data["y"])
    at = np.column_stack([x, np.ones(2)])
    mean, deviation = at @ centre, np.sqrt(1 + np.einsum("ni,ij,nj->n", at, np.linalg.inv(precision), at))
    np.testing.assert_allclose(found.mean, mean, atol=4 * deviation.max() / np.sqrt(500))
    expected = stats.norm(mean, deviation).ppf([[0.05], [0.5], [0.95]])
    np.testing.assert_allclose(found.quantiles(), expected, atol=0.2)
    assert found.probabilities is None


def test_logistic_regression_predicts_classes():
    model, data = LogisticRegression(dim=2, classes=3), simulate.logistic_regression(500, 2, 3).data
    evidence = fitted(model, data)
    x = np.array([[1.0, 0.0], [0.0, -1.0]])
    found = evidence.predict({"x": x})
    assert found.mean is None
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0, rtol=1e-5)
    for label in range(3):  # the same number by another way
        for row in range(2):
            one = {"x": x[row : row + 1], "y": np.array([label])}
            assert np.exp(evidence.log_predictive(one)) == pytest.approx(found.probabilities[row, label], rel=1e-4)
    shares = np.stack([(found.draws == label).mean(axis=0) for label in range(3)], axis=1)
    np.testing.assert_allclose(shares, found.probabilities, atol=4 * np.sqrt(0.25 / 2000))


def test_a_mixture_predicts_without_inputs():
    y = simulate.gaussian_mixture(500, components=2, dim=1, seed=1).data["y"]
    found = fitted(GaussianMixture(components=2, dim=1), y).predict()
    assert found.mean.shape == (1,)
    assert found.mean[0] == pytest.approx(y.mean(), abs=4 * y.std() / np.sqrt(500))
    np.testing.assert_allclose(np.quantile(y, [0.1, 0.5, 0.9]), found.quantiles([0.1, 0.5, 0.9])[:, 0], atol=0.5)


def test_models_are_averaged_by_their_weights():
    data = simulate.linear_regression(30, dim=2, seed=4).data
    models = {"one": LinearRegression(dim=2, features=(0,)), "two": LinearRegression(dim=2)}
    comparison = sgais.Comparison(models)
    comparison.update(data)
    inputs = {"x": np.array([[1.0, 2.0]])}
    found = comparison.predict(inputs)
    expected = sum(comparison.probabilities[name] * comparison[name].predict(inputs).mean for name in models)
    np.testing.assert_allclose(found.mean, expected)
    assert found.draws.mean() == pytest.approx(found.mean[0], abs=4 * found.draws.std() / np.sqrt(2000) + 0.05)


def test_a_model_of_ones_own_predicts_with_a_predictive():
    def predictive(parameters, rows):
        return dist.Poisson(parameters["rate"] * rows["exposure"])

    model = sgais.Model(
        {"rate": dist.Gamma(2.0, 1.0)},
        lambda parameters, rows: predictive(parameters, rows).log_prob(rows["count"]),
        predictive=predictive,
    )
    data = {"exposure": np.ones(50), "count": np.random.default_rng(0).poisson(3.0, 50)}
    found = fitted(model, data).predict({"exposure": np.array([1.0, 10.0])})
    exact = (2.0 + data["count"].sum()) / 51
    np.testing.assert_allclose(found.mean, exact * np.array([1.0, 10.0]), rtol=0.05)


def test_what_cannot_be_predicted_is_refused():
    silent = sgais.Model(
        {"mean": dist.Normal(0.0, 1.0)}, lambda parameters, rows: -((rows["y"] - parameters["mean"]) ** 2)
    )
    with pytest.raises(sgais.ModelError, match="cannot predict.*Give it one: sgais.Model"):
        fitted(silent, np.zeros(5)).predict()
    linear = fitted(LinearRegression(dim=2), simulate.linear_regression(20, dim=2).data)
    with pytest.raises(sgais.DataError, match="`inputs` must have the column 'x'"):
        linear.predict({})
    with pytest.raises(sgais.DataError, match="`inputs` must have columns of"):
        linear.predict({"z": np.zeros(3)})
    with pytest.raises(sgais.DataError, match="column 'x' must have rows of shape"):
        linear.predict({"x": np.zeros((3, 5))})
    with pytest.raises(sgais.ConfigError, match="`levels` must lie between 0 and 1"):
        linear.predict({"x": np.zeros((1, 2))}).quantiles([2.0])
