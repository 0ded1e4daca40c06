"""Wide priors, where moves lag behind the temperatures: the default is right, the plain way says that it is not."""

import functools

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import integrate, stats

import sgais
from sgais.estimators.ais.mixing import Families, Lag
from sgais.estimators.ais.result import status_of
from sgais.estimators.ais.state import Outcome, State
from sgais.results.result import COMPLETE

ROWS, PRIOR = 100, 1000.0


@functools.cache
def wide_regression():
    """Three coefficients b ~ N(0, 1000), sigma ~ HalfNormal(1000): log Z by quadrature over sigma."""
    random = np.random.default_rng(1)
    x = random.normal(size=(ROWS, 3))
    y = x @ np.ones(3) + random.normal(size=ROWS)
    model = sgais.Model(
        prior={"b": dist.Normal(0, PRIOR).expand([3]).to_event(1), "s": dist.HalfNormal(PRIOR)},
        log_likelihood=lambda p, rows: dist.Normal(rows["x"] @ p["b"], p["s"]).log_prob(rows["y"]),
    )
    precisions, turned = np.linalg.eigh(x.T @ x)
    along = turned.T @ (x.T @ y)

    def log_integrand(log_sigma):
        variance = np.exp(2 * log_sigma)
        spread = variance + PRIOR**2 * precisions
        squares = (y @ y - np.sum(PRIOR**2 * along**2 / spread)) / variance
        log_likelihood = -0.5 * (ROWS * np.log(2 * np.pi * variance) + np.sum(np.log(spread / variance)) + squares)
        return log_likelihood + stats.halfnorm(scale=PRIOR).logpdf(np.exp(log_sigma)) + log_sigma

    top = max(log_integrand(value) for value in np.linspace(-1, 1, 201))
    total = integrate.quad(lambda value: np.exp(log_integrand(value) - top), -2, 2)[0]
    return model, {"x": x.astype(np.float32), "y": y.astype(np.float32)}, top + np.log(total)


def run(seed=0, **changes):
    model, data, exact = wide_regression()
    return sgais.estimate(model, data, method="ais", config=sgais.AISConfig(**changes), seed=seed), exact


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_wide_prior_is_right_within_a_small_error(seed):
    result, exact = run(seed)
    assert result.is_complete
    assert abs(result.log_evidence - exact) < 3.5 * result.standard_error
    assert result.standard_error < 0.15
    assert result.diagnostics["log_evidence_from_prior"] < exact - 1, "else the test is too easy"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_plain_way_says_that_its_moves_lag_behind(seed):
    result, exact = run(seed, from_reference=False)
    assert result.log_evidence < exact - 1
    assert "not to be trusted: the moves lag behind" in result.status
    assert result.error_budget["mixing"] > 0.12
    assert result.standard_error == pytest.approx(np.hypot(*result.error_budget.values()))


def test_a_plain_way_that_is_right_is_not_doubted():
    model = sgais.models.LinearRegression(dim=3)
    data = sgais.simulate.linear_regression(200, dim=3, seed=1).data
    for seed in range(5):
        result = sgais.estimate(model, data, "ais", config=sgais.AISConfig(from_reference=False), seed=seed)
        assert result.is_complete
        assert abs(result.log_evidence - model.log_evidence(data)) < 3.5 * result.standard_error


def outcome(log_evidence, variance):
    families = Families.of(2)
    state = State(jnp.zeros((2, 1)), np.full(2, log_evidence), 1.0, families, Lag(), None)
    return Outcome(state, variance, (), COMPLETE)


def test_the_larger_of_two_that_differ_is_not_passed_over_in_silence():
    sharp, high = outcome(-10.0, 0.01), outcome(-8.0, 0.04)
    assert "another way, from the prior, gave log Z = -8.00" in status_of(sharp, high, sharp)
    assert status_of(sharp, outcome(-12.0, 0.04), sharp) == COMPLETE, "too small is what a way may well be"


def test_a_reference_out_of_time_leaves_the_way_from_the_prior():
    late = outcome(-9.0, 0.01)._replace(status="out of time at inverse temperature 0.5")
    status = status_of(outcome(-10.0, 0.04), outcome(-10.0, 0.04), late)
    assert status.startswith("out of time")
    assert "from the prior" in status
