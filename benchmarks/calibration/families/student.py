"""Regression with Student-t noise whose degrees of freedom and scale are unknown."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import sgais
from benchmarks.calibration.families import real_data
from benchmarks.calibration.problem import Problem, Rows, as_float32
from benchmarks.calibration.truths_glm import student

FAMILY = "Student-t regression"


def problems() -> list[Problem]:
    return [
        Problem(
            "Student t, 100 rows",
            FAMILY,
            partial(_model, 3, 10.0),
            partial(_simulated, 100),
            partial(student, scale=10.0),
        ),
        Problem(
            "Student t, 2000 rows",
            FAMILY,
            partial(_model, 3, 10.0),
            partial(_simulated, 2000),
            partial(student, scale=10.0),
        ),
        Problem(
            "Student t, stack loss", FAMILY, partial(_model, 4, 20.0), real_data.losses, partial(student, scale=20.0)
        ),
    ]


def _simulated(num_rows: int) -> Rows:
    generator = np.random.default_rng(401)
    x = generator.normal(size=(num_rows, 3))
    return as_float32(x=x, y=x @ [1.0, -2.0, 0.5] + generator.standard_t(3.0, size=num_rows))


def _model(columns: int, scale: float) -> sgais.Model:
    def log_likelihood(parameters: dict[str, jax.Array], rows: Any) -> jax.Array:
        mean = jnp.dot(rows["x"], parameters["b"], precision=jax.lax.Precision.HIGHEST)
        return dist.StudentT(parameters["nu"], mean, parameters["sigma"]).log_prob(rows["y"])

    return sgais.Model(
        prior={
            "b": dist.Normal(0.0, scale).expand([columns]).to_event(1),
            "sigma": dist.HalfNormal(scale),
            "nu": dist.Gamma(2.0, 0.1),
        },
        log_likelihood=log_likelihood,
    )
