"""Generalised linear models on real rows, shuffled and as the file has them."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import sgais
from benchmarks.calibration import truths_glm
from benchmarks.calibration.families import real_data
from benchmarks.calibration.problem import Problem, Rows, head, shuffled

FAMILY = "generalised linear, real rows"
SCALE = 5.0  # of all coefficients


def problems() -> list[Problem]:
    poisson, logistic, negative = _poisson_model, _logistic_model, _negative_binomial_model
    return [
        Problem(
            "Poisson, visits, shuffled",
            FAMILY,
            poisson,
            partial(_shuffled, "visits"),
            truths_glm.poisson,
            is_quick=False,
        ),
        Problem(
            "Poisson, visits, as in the file", FAMILY, poisson, real_data.visits, truths_glm.poisson, is_quick=False
        ),
        Problem(
            "logistic, affairs, shuffled",
            FAMILY,
            logistic,
            partial(_shuffled, "affairs"),
            truths_glm.logistic,
            is_quick=False,
        ),
        Problem(
            "logistic, affairs, as in the file",
            FAMILY,
            logistic,
            real_data.affairs,
            truths_glm.logistic,
            truths_glm.logistic_tempered,
            is_quick=False,
        ),
        Problem("logistic, votes, as in the file", FAMILY, logistic, real_data.votes, truths_glm.logistic),
        Problem(
            "logistic, grades, 32 rows",
            FAMILY,
            logistic,
            real_data.grades,
            truths_glm.logistic,
            truths_glm.logistic_tempered,
        ),
        Problem(
            "negative binomial, 3000 visits",
            FAMILY,
            negative,
            _some_visits,
            truths_glm.negative_binomial,
            is_quick=False,
        ),
    ]


def _shuffled(name: str) -> Rows:
    return shuffled(getattr(real_data, name)())


def _some_visits() -> Rows:
    return head(_shuffled("visits"), 3000)


def _coefficients(columns: int) -> dist.Distribution:
    return dist.Normal(0.0, SCALE).expand([columns]).to_event(1)


def _linear(parameters: dict[str, jax.Array], rows: Any) -> jax.Array:
    return jnp.dot(rows["x"], parameters["b"], precision=jax.lax.Precision.HIGHEST)


def _poisson_model() -> sgais.Model:
    def log_likelihood(parameters: dict[str, jax.Array], rows: Any) -> jax.Array:
        eta = _linear(parameters, rows)
        return rows["y"] * eta - jnp.exp(eta) - jax.scipy.special.gammaln(rows["y"] + 1)

    return sgais.Model({"b": _coefficients(10)}, log_likelihood)


def _logistic_model() -> Any:
    def program(x: np.ndarray, y: np.ndarray) -> None:
        import numpyro

        b = numpyro.sample("b", dist.Normal(0.0, SCALE).expand([x.shape[1]]).to_event(1))
        with numpyro.plate("rows", x.shape[0]):
            numpyro.sample("y", dist.Bernoulli(logits=x @ b), obs=y)

    return sgais.from_numpyro(program)


def _negative_binomial_model() -> sgais.Model:
    def log_likelihood(parameters: dict[str, jax.Array], rows: Any) -> jax.Array:
        eta, r, y = _linear(parameters, rows), parameters["concentration"], rows["y"]
        lgamma = jax.scipy.special.gammaln
        return (
            lgamma(y + r)
            - lgamma(r)
            - lgamma(y + 1)
            - r * jnp.logaddexp(0.0, eta - jnp.log(r))
            - y * jnp.logaddexp(0.0, jnp.log(r) - eta)
        )

    return sgais.Model({"b": _coefficients(10), "concentration": dist.Gamma(2.0, 1.0)}, log_likelihood)
