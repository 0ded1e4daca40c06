"""What models expect of themselves, against exact log predictives and real chunks."""

import math

import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais import simulate
from sgais.compute.random_keys import random_key
from sgais.models import AutoRegression, GaussianMixture, LinearRegression, LogisticRegression
from sgais.predictive.replicates import LARGEST_REPLICATE, expected_log_predictive
from sgais.streams import lagged


def regression_rows(count, seed):
    return simulate.linear_regression(count, dim=5, seed=seed).data


def posterior(rows, num_draws):
    """Draws of weights and bias; unit prior and noise."""
    design = np.column_stack([rows["x"], np.ones(len(rows["y"]))]).astype(float)
    covariance = np.linalg.inv(design.T @ design + np.eye(6))
    centre = covariance @ design.T @ rows["y"]
    return np.random.default_rng(0).multivariate_normal(centre, covariance, num_draws), covariance


@pytest.mark.parametrize(("before", "count"), [(100, 100), (1000, 50), (1000, 4 * LARGEST_REPLICATE)])
def test_linear_regression_expects_what_is_exact(before, count):
    """The log predictive of a chunk is that of a Gaussian with covariance I + X Sigma X'."""
    rows = regression_rows(before + count, seed=3)
    chunk = {name: values[before:] for name, values in rows.items()}
    positions, covariance = posterior({name: values[:before] for name, values in rows.items()}, 640)
    design = np.column_stack([chunk["x"], np.ones(count)]).astype(float)
    log_determinant = np.linalg.slogdet(np.eye(6) + covariance @ design.T @ design)[1]
    mean, deviation = -0.5 * (count * (math.log(2 * math.pi) + 1) + log_determinant), math.sqrt(count / 2)
    found = np.array(
        [
            expected_log_predictive(
                LinearRegression(dim=5), positions, np.zeros(640), chunk, before, random_key(0, seed)
            )
            for seed in range(40)
        ]
    )
    noise = deviation * math.sqrt(max(1, count / LARGEST_REPLICATE) / 64)  # of one mean, from 64 replicates
    assert abs(found[:, 0].mean() - mean) < 4 * noise / math.sqrt(40) + 0.25  # the design is not balanced
    # The variance of 64 totals has an error of 18 %; where rows were left out, the mean's own noise is part of it.
    wide = math.hypot(deviation, noise)
    assert abs(np.median(found[:, 1]) / wide - 1) < 0.1


def series(seed):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=8050)
    for time in range(2, len(values)):
        values[time] += 0.2 + 0.5 * values[time - 1] - 0.3 * values[time - 2]
    return lagged(values[50:].astype(np.float32), 2)


CASES = {
    "linear": (LinearRegression(dim=5), lambda: regression_rows(8000, 5)),
    "logistic": (LogisticRegression(dim=3, classes=3), lambda: simulate.logistic_regression(8000, 3, 3, seed=5).data),
    "mixture": (GaussianMixture(components=3, dim=2), lambda: simulate.gaussian_mixture(8000, 3, 2, seed=5).data),
    "series": (AutoRegression(order=2), lambda: series(5)),
}


@pytest.mark.parametrize("name", ["linear", "series", "logistic", pytest.param("mixture", marks=pytest.mark.slow)])
def test_real_chunks_are_as_the_model_expects(name):
    """Of 75 chunks or more, standardised: mean 0, deviation 1."""
    model, make = CASES[name]
    evidence, scores = sgais.OnlineEvidence(model), []
    for chunk in sgais.stream(make(), 100):
        expected = evidence.expected(chunk)
        record = evidence.update(chunk)
        if len(evidence.records) > 5:
            scores.append((record.increment - expected[0]) / expected[1])
    assert len(scores) >= 74
    assert abs(np.mean(scores)) < 4 / math.sqrt(len(scores))
    assert abs(np.std(scores) - 1) < 4 / math.sqrt(2 * len(scores))


def test_changed_data_are_not_what_it_expects():
    model = LinearRegression(dim=5)
    evidence = sgais.OnlineEvidence(model)
    evidence.run(sgais.stream(regression_rows(2000, 5), 500))
    noisy = regression_rows(500, 5)
    noisy["y"] = noisy["y"] + np.random.default_rng(0).normal(size=500).astype(np.float32)
    expected = evidence.expected(noisy)
    assert evidence.log_predictive(noisy) < expected[0] - 10 * expected[1]
    assert evidence.expected(noisy) == expected, "same key, same draws"
    assert evidence.num_rows == 2000


def test_who_cannot_say_does_not():
    evidence = sgais.OnlineEvidence(LinearRegression(dim=5))
    assert evidence.expected(regression_rows(10, 0)) is None, "there is only a prior"
    mute = sgais.Model({"mean": dist.Normal()}, lambda parameters, rows: -((rows["y"] - parameters["mean"]) ** 2))
    evidence = sgais.OnlineEvidence(mute)
    evidence.update(np.zeros(10))
    assert evidence.expected(np.zeros(10)) is None
    with pytest.raises(sgais.DataError):
        evidence.expected(np.array([np.nan]))


def test_a_model_of_ones_own_with_a_predictive():
    """Laplace's distribution of scale 1 has log densities of mean -1 - log 2 and variance 1."""

    def around(parameters, rows):
        return dist.Laplace(parameters["slope"] * rows["x"])

    model = sgais.Model(
        {"slope": dist.Normal()},
        lambda parameters, rows: around(parameters, rows).log_prob(rows["y"]),
        predictive=around,
    )
    generator = np.random.default_rng(1)
    x = generator.normal(size=2100)
    rows = {"x": x, "y": x + generator.laplace(size=2100)}
    evidence = sgais.OnlineEvidence(model)
    evidence.update({name: values[:2000] for name, values in rows.items()})
    mean, deviation = evidence.expected({name: values[2000:] for name, values in rows.items()})
    assert abs(mean + 100 * (1 + math.log(2))) < 4 * 10 / math.sqrt(64)
    assert abs(deviation / 10 - 1) < 4 / math.sqrt(2 * 64)
