"""The data of a problem, its truth, and its parameters as functions of standard Gaussian numbers."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr

from benchmarks.problems import PROBLEMS
from benchmarks.truths import truth
from sgais.models.base import Model

DATA_SEED = 0  # one data set for each problem: seeds vary the estimates
DATA_ROWS = 1_000_000  # of the largest data set, which all others are the first rows of
FromGaussian = Callable[[jax.Array], jax.Array]


class Data(NamedTuple):
    """The first rows of a problem's data, and the log evidence that they should have."""

    columns: dict[str, np.ndarray]
    truth: float


def load(problem: str, rows: int, with_truth: bool = True) -> Data:
    """Draw the data of a problem."""
    model, simulate, _ = PROBLEMS[problem]
    data, parameters = simulate(max(rows, DATA_ROWS), seed=DATA_SEED)
    exact = truth(model, problem, DATA_SEED, rows, data, parameters) if with_truth else float("nan")
    return Data({name: values[:rows] for name, values in data.items()}, exact)


def from_gaussian(problem: str) -> FromGaussian:
    """The map from d standard Gaussian numbers to a position of the model that is then distributed as its prior.

    Samplers of all kinds can start from it: with the inverse of the Gaussian distribution function before it, it is
    the prior transform of nested samplers.
    """
    return _mixture if problem == "mixture" else lambda numbers: numbers


def _mixture(numbers: jax.Array) -> jax.Array:
    """Weights ~ Dirichlet(1), variances ~ InverseGamma(1, 1), means ~ N(0, 4 variances)."""
    model: Model = PROBLEMS["mixture"].model
    places, (components, dim) = model.layout, model.layout["means"].shape
    weights, variances, means = (numbers[places[name].place] for name in ("weights", "variances", "means"))
    # Sticks that are broken off a Dirichlet(1) of K parts: Beta(1, K - 1), Beta(1, K - 2), ..., in closed form.
    lasting = ndtr(-weights) ** (1.0 / jnp.arange(components - 1, 0, -1))
    left = jnp.concatenate([jnp.ones(1), jnp.cumprod(lasting)])
    parts = left * jnp.concatenate([1.0 - lasting, jnp.ones(1)])
    variances = (-1.0 / jax.scipy.stats.norm.logcdf(variances)).reshape(components, dim)
    parameters = {
        "weights": parts,
        "variances": variances,
        "means": 2.0 * jnp.sqrt(variances) * means.reshape(components, dim),
    }
    return model.unconstrain(parameters)
