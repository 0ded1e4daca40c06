"""Wide priors, raw units, effects of groups, symmetries: where a way from the prior loses nats, each with the truth."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import sgais
from benchmarks.calibration.families.linear_model import model as linear_model
from benchmarks.calibration.families.linear_model import simulate
from benchmarks.calibration.truths_grid import log_half_normal
from benchmarks.calibration.truths_groups import random_intercepts
from benchmarks.calibration.truths_linear import half_normal_scale


def assert_within(found, exact, errors=3.5, largest_error=0.2):
    """Error bars that hold, and are worth something."""
    assert not found.records[-1].warning
    assert found.standard_error < largest_error
    assert abs(found.log_evidence - exact) < errors * found.standard_error


@pytest.mark.parametrize("scale", [10.0, 1000.0])
def test_linear_regression_with_an_unknown_scale_under_wide_priors(scale):
    model, rows = linear_model(4, scale, scale), simulate(100, 4, seed=7)
    exact = half_normal_scale(rows, scale, scale).log_evidence
    for seed in range(3):
        assert_within(sgais.estimate(model, rows, seed=seed), exact)


def raw_units(num_rows, seed=0):
    """Years and prices: an intercept far outside the rows, correlated with the slope by more than float32 resolves."""
    generator = np.random.default_rng(seed)
    year = 2000.0 + generator.integers(-15, 16, size=num_rows)
    price = 6e5 + 8e3 * (year - 2000.0) + 1e4 * generator.normal(size=num_rows)
    return {"x": np.column_stack([np.ones(num_rows), year]).astype(np.float32), "y": price.astype(np.float32)}


@pytest.mark.parametrize("num_rows", [200, pytest.param(20_000, marks=pytest.mark.slow)])
def test_columns_in_raw_units(num_rows):
    model, rows = linear_model(2, 1e6, 1e5), raw_units(num_rows)
    exact = half_normal_scale(rows, 1e6, 1e5).log_evidence
    assert_within(sgais.estimate(model, rows, seed=0), exact)


GROUPS = 11


def effects_of_groups(group, y):
    mean = numpyro.sample("mean", dist.Normal(0.0, 10.0))
    tau = numpyro.sample("tau", dist.HalfNormal(5.0))
    sigma = numpyro.sample("sigma", dist.HalfNormal(5.0))
    raw = numpyro.sample("raw", dist.Normal(0.0, 1.0).expand([GROUPS]).to_event(1))
    with numpyro.plate("rows", len(y)):
        numpyro.sample("y", dist.Normal(mean + tau * raw[group], sigma), obs=y)


def test_effects_of_groups_that_are_not_centred():
    """The effects are Gaussian given the scales: a quadrature over these two is exact."""
    generator = np.random.default_rng(3)
    group = generator.permutation(np.arange(132) % GROUPS).astype(np.int32)
    y = (1.0 + 2.0 * generator.normal(size=GROUPS)[group] + generator.normal(size=132)).astype(np.float32)
    rows, half_normal = {"group": group, "y": y}, partial(log_half_normal, scale=5.0)
    exact = random_intercepts(rows, 10.0, half_normal, half_normal).log_evidence
    found = sgais.estimate(sgais.from_numpyro(effects_of_groups), rows, seed=0)
    assert_within(found, exact)


def mixture_of_three(exchangeable):
    def log_likelihood(parameters, rows):
        of_each = dist.Normal(parameters["means"], 1.0).log_prob(rows["y"][:, None])
        return jnp.log(jnp.mean(jnp.exp(of_each), axis=1))

    prior = {"means": dist.Normal(0.0, 4.0).expand([3]).to_event(1)}
    return sgais.Model(prior=prior, log_likelihood=log_likelihood, exchangeable=exchangeable)


@pytest.mark.parametrize("apart", [1.5, 4.0])
def test_a_symmetry_makes_no_difference_whether_it_is_declared_or_not(apart):
    """Against a sum over a grid: with three known weights and scales, only three means are left."""
    generator = np.random.default_rng(5)
    y = (apart * generator.integers(-1, 2, size=60) + generator.normal(size=60)).astype(np.float32)
    exact = on_a_grid(y.astype(float))
    declared, undeclared = (sgais.estimate(mixture_of_three(names), y, seed=0) for names in (("means",), ()))
    assert_within(declared, exact)
    assert_within(undeclared, exact)
    error = np.hypot(declared.standard_error, undeclared.standard_error)
    assert abs(declared.log_evidence - undeclared.log_evidence) < 3.5 * error


def on_a_grid(y, points=121):
    """Sums over an even grid are exact where the integrand is smooth and vanishes at its ends."""
    grid = np.linspace(-12.0, 12.0, points)
    densities = np.exp(-0.5 * (y[:, None] - grid) ** 2) / np.sqrt(2 * np.pi)
    total = np.zeros((points, points, points))
    for row in densities:
        total += np.log(row[:, None, None] + row[:, None] + row + 1e-300) - np.log(3)
    log_prior = -0.5 * (grid / 4.0) ** 2 - np.log(4.0 * np.sqrt(2 * np.pi))
    total += log_prior[:, None, None] + log_prior[:, None] + log_prior
    return float(total.max() + np.log(np.exp(total - total.max()).sum()) + 3 * np.log(grid[1] - grid[0]))
