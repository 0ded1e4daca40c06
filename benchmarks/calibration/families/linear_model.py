"""Linear regression with unknown noise scale, which several families use."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import sgais
from benchmarks.calibration.problem import Problem, Rows, as_float32
from benchmarks.calibration.truths_linear import half_normal_scale


def model(columns: int, scale: float, sigma_scale: float) -> sgais.Model:
    """Coefficients ~ N(0, scale), sigma ~ HalfNormal(sigma_scale), y ~ N(x.b, sigma)."""
    return sgais.Model(
        prior={
            "b": dist.Normal(0.0, scale).expand([columns]).to_event(1),
            "sigma": dist.HalfNormal(sigma_scale),
        },
        log_likelihood=_log_likelihood,
    )


def _log_likelihood(parameters: dict[str, jax.Array], rows: Any) -> jax.Array:
    mean = jnp.dot(rows["x"], parameters["b"], precision=jax.lax.Precision.HIGHEST)
    return dist.Normal(mean, parameters["sigma"]).log_prob(rows["y"])


def problem(
    name: str, family: str, rows: Any, columns: int, scale: float, sigma_scale: float = 0.0, **more: Any
) -> Problem:
    """A problem with this model, exact by quadrature; sigma has the coefficients' scale unless it is given."""
    sigma_scale = sigma_scale or scale
    return Problem(
        name,
        family,
        partial(model, columns, scale, sigma_scale),
        rows,
        partial(half_normal_scale, scales=scale, sigma_scale=sigma_scale),
        **more,
    )


def simulate(num_rows: int, columns: int, seed: int, correlation: float = 0.0, noise: float = 1.0) -> Rows:
    """Standard Gaussian columns, equally correlated with each other; standard Gaussian coefficients."""
    generator = np.random.default_rng(seed)
    x = np.sqrt(1 - correlation) * generator.normal(size=(num_rows, columns))
    x += np.sqrt(correlation) * generator.normal(size=(num_rows, 1))
    return as_float32(x=x, y=x @ generator.normal(size=columns) + noise * generator.normal(size=num_rows))
