"""What float32 may cost: which models take logs of gamma functions, and what these are off by."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy.special import gammaln

import sgais
from sgais.approximation.rounding import LOG_GAMMA, rounding_error, takes_log_gamma
from sgais.models import LinearRegression, LogisticRegression

COUNTS = {"y": np.arange(3, dtype=np.float32)}


def of_counts(log_likelihood):
    return sgais.Model({"log_rate": dist.Normal(0.0, 2.0)}, log_likelihood)


@pytest.mark.parametrize(
    ("log_likelihood", "does"),
    [
        (lambda parameters, rows: dist.Poisson(jnp.exp(parameters["log_rate"])).log_prob(rows["y"]), True),
        (lambda parameters, rows: dist.StudentT(jnp.exp(parameters["log_rate"])).log_prob(rows["y"]), True),
        (lambda parameters, rows: dist.Normal(parameters["log_rate"]).log_prob(rows["y"]), False),
    ],
)
def test_they_are_found_wherever_they_are_called(log_likelihood, does):
    assert takes_log_gamma(of_counts(log_likelihood), COUNTS) == does


@pytest.mark.parametrize("model", [LinearRegression(dim=2), LogisticRegression(dim=2, classes=2)])
def test_regressions_take_none(model):
    rows = {"x": np.zeros((3, 2), np.float32), "y": np.zeros(3, np.float32)}
    rows["y"] = rows["y"].astype(np.int32) if isinstance(model, LogisticRegression) else rows["y"]
    assert not takes_log_gamma(model, rows)


def test_what_is_allowed_for_grows_with_the_rows_or_with_log_z():
    poisson, gaussian = (
        of_counts(lambda parameters, rows, family=family: family(jnp.exp(parameters["log_rate"])).log_prob(rows["y"]))
        for family in (dist.Poisson, dist.Normal)
    )
    assert rounding_error(gaussian, COUNTS, 1_000_000, -2e6) == pytest.approx(0.12)
    assert rounding_error(poisson, COUNTS, 1_000_000, -2e6) == pytest.approx(1.2)
    assert rounding_error(poisson, COUNTS, 1_000, -2e6) == pytest.approx(0.12)


def test_small_counts_are_off_by_as_much_as_is_allowed_for():
    """On the average of rows; if XLA's function became exact, the allowance would have to go."""
    counts = np.random.default_rng(0).poisson(2.0, 20_000)
    found = np.asarray(jax.jit(jax.scipy.special.gammaln)(counts.astype(np.float32) + 1), np.float64)
    off = abs(np.mean(found - gammaln(counts + 1.0)))
    assert 0.2 * LOG_GAMMA < off < LOG_GAMMA
