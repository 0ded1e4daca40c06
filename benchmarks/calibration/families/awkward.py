"""Directions that the rows say nothing about, and priors that the rows contradict."""

from functools import partial

import numpy as np
import numpyro.distributions as dist

import sgais
from benchmarks.calibration.families.linear_model import problem, simulate
from benchmarks.calibration.problem import Problem, Rows, as_float32
from benchmarks.calibration.truths_groups import product
from benchmarks.calibration.truths_linear import gamma_poisson, known_scale

FLAT, CONFLICT = "flat directions", "prior against rows"


def problems() -> list[Problem]:
    return [*_flat(), *_conflicts()]


def _flat() -> list[Problem]:
    return [
        problem("duplicated columns", FLAT, partial(_duplicated, 200, 3), 6, 10.0),
        problem("duplicated columns, prior 1", FLAT, partial(_duplicated, 2000, 5), 10, 1.0),
        problem("a column of zeros", FLAT, _zeros, 4, 10.0),
        Problem("product of two parameters", FLAT, _product_model, _product_rows, partial(product, scale=3.0)),
    ]


def _conflicts() -> list[Problem]:
    linear = partial(known_scale, scales=1.0, sigma=1.0, intercept=True)
    return [
        problem("coefficients of 30, prior 1, unknown scale", CONFLICT, partial(_far, 100, 1), 3, 1.0),
        Problem(
            "coefficients of 30, prior 1",
            CONFLICT,
            partial(sgais.models.LinearRegression, 3),
            partial(_far, 200, 2),
            linear,
        ),
        problem("coefficients of 30, prior 1, 2000 rows", CONFLICT, partial(_far, 2000, 3), 3, 1.0),
        Problem(
            "rate of 60, prior near 1",
            CONFLICT,
            _rate_model,
            _high_counts,
            partial(gamma_poisson, shape=20.0, rate=20.0),
        ),
    ]


def _duplicated(num_rows: int, columns: int) -> Rows:
    rows = simulate(num_rows, columns, 1001)
    return rows | {"x": np.column_stack([rows["x"], rows["x"]])}


def _zeros() -> Rows:
    rows = simulate(200, 3, 1002)
    return rows | {"x": np.column_stack([rows["x"], np.zeros(200, np.float32)])}


def _product_rows() -> Rows:
    return as_float32(y=2.0 + np.random.default_rng(1003).normal(size=200))


def _product_model() -> sgais.Model:
    return sgais.Model(
        prior={"a": dist.Normal(0.0, 3.0), "b": dist.Normal(0.0, 3.0)},
        log_likelihood=lambda parameters, rows: dist.Normal(parameters["a"] * parameters["b"], 1.0).log_prob(rows["y"]),
    )


def _far(num_rows: int, seed: int) -> Rows:
    generator = np.random.default_rng(1010 + seed)
    x = generator.normal(size=(num_rows, 3))
    return as_float32(x=x, y=x @ [30.0, -30.0, 1.0] + generator.normal(size=num_rows))


def _high_counts() -> Rows:
    return as_float32(y=np.random.default_rng(1020).poisson(60.0, size=100))


def _rate_model() -> sgais.Model:
    return sgais.Model(
        prior={"rate": dist.Gamma(20.0, 20.0)},
        log_likelihood=lambda parameters, rows: dist.Poisson(parameters["rate"]).log_prob(rows["y"]),
    )
