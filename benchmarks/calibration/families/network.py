"""A small neural network with exchangeable hidden units: 21 parameters, and as many modes as orders and signs."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import sgais
from benchmarks.calibration.problem import Problem, Rows, as_float32
from benchmarks.calibration.truths_network import network

FAMILY = "neural network"
UNITS, INPUTS, SIGMA = 5, 2, 0.5


def problems() -> list[Problem]:
    truth = partial(network, units=UNITS, sigma=SIGMA)
    check = partial(network, units=UNITS, sigma=SIGMA, particles=500, trajectories=30, seed=1)
    shorter = partial(network, units=UNITS, sigma=SIGMA, particles=400, trajectories=8)
    return [
        Problem("network, 80 rows", FAMILY, _model, partial(_rows, 80), truth, check, only_at_end=True),
        Problem("network, 40 rows", FAMILY, _model, partial(_rows, 40), shorter, only_at_end=True),
    ]


def _model() -> sgais.Model:
    def log_likelihood(parameters: dict[str, jax.Array], rows: Any) -> jax.Array:
        hidden = jnp.tanh(rows["x"] @ parameters["inner"].T + parameters["shift"])
        return dist.Normal(hidden @ parameters["outer"] + parameters["bias"], SIGMA).log_prob(rows["y"])

    return sgais.Model(
        prior={
            "inner": dist.Normal(0.0, 1.0).expand([UNITS, INPUTS]).to_event(2),
            "shift": dist.Normal(0.0, 1.0).expand([UNITS]).to_event(1),
            "outer": dist.Normal(0.0, 1.0).expand([UNITS]).to_event(1),
            "bias": dist.Normal(0.0, 1.0),
        },
        log_likelihood=log_likelihood,
        exchangeable=("inner", "shift", "outer"),
    )


def _rows(num_rows: int) -> Rows:
    generator = np.random.default_rng(1101)
    x = 1.5 * generator.normal(size=(num_rows, INPUTS))
    mean = np.sin(1.5 * x[:, 0]) * 1.5 + np.tanh(x[:, 1] - 0.5 * x[:, 0])
    return as_float32(x=x, y=mean + SIGMA * generator.normal(size=num_rows))
