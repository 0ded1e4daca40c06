"""Conjugate models, exact in closed form: what nothing should get wrong."""

from functools import partial

import numpy as np
import numpyro.distributions as dist

import sgais
from benchmarks.calibration.problem import Problem, Rows, as_float32
from benchmarks.calibration.truths_linear import beta_bernoulli, gamma_poisson, known_scale

FAMILY = "conjugate"


def problems() -> list[Problem]:
    linear = partial(known_scale, scales=1.0, sigma=1.0, intercept=True)
    return [
        Problem("linear, 400 rows", FAMILY, partial(sgais.models.LinearRegression, 5), partial(_linear, 400), linear),
        Problem(
            "linear, 20,000 rows",
            FAMILY,
            partial(sgais.models.LinearRegression, 8),
            partial(_linear, 20_000, 8),
            linear,
            is_quick=False,
        ),
        Problem("auto-regression 3", FAMILY, partial(sgais.models.AutoRegression, 3), _auto_regression, linear),
        Problem("gamma-Poisson", FAMILY, _poisson_model, _counts, partial(gamma_poisson, shape=2.0, rate=1.0)),
        Problem(
            "beta-Bernoulli, 60 rows",
            FAMILY,
            _bernoulli_model,
            partial(_coins, 60),
            partial(beta_bernoulli, a=1.0, b=1.0),
        ),
        Problem(
            "beta-Bernoulli, 2000 rows",
            FAMILY,
            _bernoulli_model,
            partial(_coins, 2000),
            partial(beta_bernoulli, a=1.0, b=1.0),
        ),
    ]


def _linear(num_rows: int, dim: int = 5) -> Rows:
    return sgais.simulate.linear_regression(num_rows, dim, seed=101).data


def _auto_regression() -> Rows:
    return sgais.simulate.auto_regression(600, 3, seed=102).data


def _counts() -> Rows:
    return as_float32(y=np.random.default_rng(103).poisson(4.2, size=200))


def _coins(num_rows: int) -> Rows:
    return as_float32(y=np.random.default_rng(104).random(num_rows) < 0.07)


def _poisson_model() -> sgais.Model:
    return sgais.Model(
        prior={"rate": dist.Gamma(2.0, 1.0)},
        log_likelihood=lambda parameters, rows: dist.Poisson(parameters["rate"]).log_prob(rows["y"]),
    )


def _bernoulli_model() -> sgais.Model:
    return sgais.Model(
        prior={"share": dist.Beta(1.0, 1.0)},
        log_likelihood=lambda parameters, rows: dist.Bernoulli(probs=parameters["share"]).log_prob(rows["y"]),
    )
