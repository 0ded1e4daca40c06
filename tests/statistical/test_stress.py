"""The default configuration where estimators go wrong, each time with the truth beside it."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import integrate, stats

import sgais
from sgais import simulate
from sgais.estimators.default.policy import ROUNDING
from sgais.models import GaussianMixture, LinearRegression

LINEAR = LinearRegression(dim=3)


def assert_within_errors(found, exact, number=4.0):
    """Error bars come from 8 islands: 4 of them is 3 parts in 1000 of Student's t."""
    assert not found.warning
    assert abs(found.log_evidence - exact) < number * found.standard_error + 0.02


def run(model, data, chunk_size=500, seed=0, config=None):
    evidence = sgais.OnlineEvidence(model, config, seed=seed)
    for chunk in sgais.stream(data, chunk_size):
        evidence.update(chunk)
    return evidence


def test_features_on_scales_from_a_thousandth_to_a_thousand():
    generator = np.random.default_rng(0)
    x = (generator.normal(size=(2000, 3)) * [1e-3, 1.0, 1e3]).astype(np.float32)
    y = (x @ [1.0, -1.0, 0.5] + generator.normal(size=2000)).astype(np.float32)
    data = {"x": x, "y": y}
    assert_within_errors(run(LINEAR, data), LINEAR.log_evidence(data))


def test_a_direction_that_the_data_do_not_determine():
    generator = np.random.default_rng(1)
    x = np.repeat(generator.normal(size=(3000, 1)), 3, axis=1).astype(np.float32)
    data = {"x": x, "y": (x[:, 0] + generator.normal(size=3000)).astype(np.float32)}
    assert_within_errors(run(LINEAR, data), LINEAR.log_evidence(data))


@pytest.mark.parametrize("rows", [20, 2000])
def test_heavy_tails_in_prior_and_noise(rows):
    y = np.random.default_rng(2).standard_t(3, size=rows).astype(np.float32) + 30.0
    model = sgais.Model(
        prior={"location": dist.StudentT(1.0, 0.0, 1.0)},
        log_likelihood=lambda parameters, rows: dist.StudentT(3.0, parameters["location"], 1.0).log_prob(rows["y"]),
    )
    at = np.linspace(28.0, 32.0, 4001)
    logs = stats.t.logpdf(at, 1.0) + np.array([stats.t.logpdf(y.astype(float), 3, location).sum() for location in at])
    exact = logs.max() + np.log(integrate.simpson(np.exp(logs - logs.max()), x=at))
    assert_within_errors(run(model, y), exact)


@pytest.mark.parametrize("rows", [1, 2, 10])
def test_few_rows(rows):
    data = simulate.linear_regression(rows, dim=3, seed=3).data
    assert_within_errors(run(LINEAR, data), LINEAR.log_evidence(data))


def test_a_first_chunk_of_a_hundred_thousand_rows():
    data = simulate.linear_regression(100_000, dim=3, seed=4).data
    assert_within_errors(run(LINEAR, data, chunk_size=100_000), LINEAR.log_evidence(data))


def test_duplicated_rows():
    data = {name: np.repeat(values, 5, axis=0) for name, values in simulate.linear_regression(500, dim=3).data.items()}
    assert_within_errors(run(LINEAR, data), LINEAR.log_evidence(data))


def test_a_constant_likelihood_is_exact():
    model = sgais.Model(
        prior={"mean": dist.Normal(0.0, 1.0)}, log_likelihood=lambda parameters, rows: jnp.full_like(rows["y"], -0.25)
    )
    evidence = run(model, np.zeros(3000))
    assert evidence.log_evidence == pytest.approx(-750.0, abs=1e-3)
    assert evidence.standard_error < 1.01 * ROUNDING, "what float32 may cost is claimed whatever the likelihood is"


def test_a_first_order_phase_transition_is_right_or_flagged():
    """A narrow peak inside a broad one, in five dimensions, that every row makes e^2 times higher.

    After a few rows it has all the posterior's mass but only e^-13 of the prior's, so particles that follow the broad
    peak know nothing of it.
    """

    def log_likelihood(parameters, rows):
        square = jnp.sum(parameters["position"] ** 2)
        return jnp.logaddexp(-square / 18.0, 2.0 - 50.0 * square) + 0.0 * rows["y"]

    prior = {"position": dist.Normal(0.0, 2.0).expand([5]).to_event(1)}
    num_rows = 2000
    evidence = run(sgais.Model(prior=prior, log_likelihood=log_likelihood), np.zeros(num_rows))
    exact = num_rows * np.logaddexp(0.0, 2.0) - 2.5 * np.log(4.0 * num_rows * 100.0)  # Laplace's, good to 0.3
    is_right = abs(evidence.log_evidence - exact) < 4 * evidence.standard_error + 0.5
    assert is_right or "log Z is probably too low" in evidence.warning


def test_a_mode_that_is_none_while_rows_are_few_is_right_or_flagged():
    """Three components for seven clusters: from some hundred rows on, another arrangement of them is better by far."""
    y = simulate.shifting_mixture().data["y"]
    rows = {"y": np.random.default_rng(1).permutation(y)[:1000]}
    model = GaussianMixture(components=3, dim=2)
    found, reference = run(model, rows), sgais.estimate(model, rows, "laplace")
    assert "a mode was found" in found.warning or abs(found.log_evidence - reference.log_evidence) < 2.0


@pytest.mark.slow
def test_a_mixture_that_gains_two_clusters():
    """Twenty thousand rows of three clusters, then forty thousand of five: the order of rows cannot matter."""
    rows = simulate.shifting_mixture((20_000, 40_000), (3, 5), seed=0).data["y"]
    shuffled = np.random.default_rng(0).permutation(rows)
    model = GaussianMixture(components=5, dim=2)
    first, second = run(model, rows), run(model, shuffled)
    error = np.hypot(first.standard_error, second.standard_error)
    agree = abs(first.log_evidence - second.log_evidence) < 4 * error
    assert agree or first.warning or second.warning
