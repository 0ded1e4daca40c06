"""Particles: where their random numbers come from, draws from the prior, and their parameters."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from sgais.model import Model, Parameters


def place(seed: int, *numbers: int) -> np.ndarray:
    """Names one draw of random numbers; no random state is ever kept, so a resumed run repeats exactly."""
    return np.array([seed, *numbers], np.uint32)


def key_of(place: jax.Array) -> jax.Array:
    """The random key of a place, for use in compiled code."""
    key = jax.random.key(place[0])
    for number in place[1:]:
        key = jax.random.fold_in(key, number)
    return key


@partial(jax.jit, static_argnames=("model", "num_draws"))
def draw_prior(model: Model, num_draws: int, place: jax.Array) -> jax.Array:
    """Positions of draws from the prior, shape (num_draws, d)."""
    return model.sample_prior(key_of(place), num_draws)


def constrained(model: Model, positions: jax.Array | np.ndarray) -> dict[str, np.ndarray]:
    """The parameters at each position by name, leading axis particles."""
    return {name: np.asarray(values) for name, values in _constrain(model, jnp.asarray(positions)).items()}


@partial(jax.jit, static_argnames="model")
def _constrain(model: Model, positions: jax.Array) -> Parameters:
    return jax.vmap(model.constrain)(positions)
