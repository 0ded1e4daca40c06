"""What a model says of many positions: their parameters, and their prior density. On the host's arrays."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from sgais.compute.parallel import GROUP, in_groups
from sgais.models.base import Model, Parameters, real_dtype


def constrain(model: Model, positions: Any) -> dict[str, np.ndarray]:
    """The parameters at each position by name, leading axis particles."""
    found: dict[str, np.ndarray] = in_groups(partial(_constrain, model), np.asarray(positions, real_dtype()), fill=True)
    return found


def unconstrain(model: Model, parameters: Mapping[str, np.ndarray]) -> np.ndarray:
    """The positions of given parameters, shape (particles, d)."""
    return np.asarray(in_groups(partial(_unconstrain, model), dict(parameters), fill=True))


def log_priors(model: Model, positions: Any, at_once: int = GROUP) -> np.ndarray:
    """The log density of the prior on R^d at each position, in float64."""
    found = in_groups(partial(_log_priors, model), np.asarray(positions, real_dtype()), size=at_once, fill=True)
    return np.asarray(found, np.float64)


@partial(jax.jit, static_argnames="model")
def _constrain(model: Model, positions: jax.Array) -> Parameters:
    return jax.vmap(model.constrain)(positions)


@partial(jax.jit, static_argnames="model")
def _unconstrain(model: Model, parameters: Parameters) -> jax.Array:
    return jax.vmap(model.unconstrain)(parameters)


@partial(jax.jit, static_argnames="model")
def _log_priors(model: Model, positions: jax.Array) -> jax.Array:
    return jax.vmap(model.log_prior_at)(positions)
