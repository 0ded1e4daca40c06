"""Draws from the prior."""

from functools import partial

import jax
import numpy as np

from sgais.compute.random_keys import jax_key, random_key
from sgais.models.base import Model, real_dtype

PRIOR_BATCH = 256


# Samplers of gamma variables are long programs that run rarely: the compiler had better not polish them for seconds.
@partial(jax.jit, static_argnames=("model", "num_draws"), compiler_options={"xla_backend_optimization_level": 1})
def draw_prior(model: Model, num_draws: int, key: jax.Array) -> jax.Array:
    """Positions of draws from the prior, shape (num_draws, d)."""
    return model.sample_prior(jax_key(key), num_draws)


def sample_prior(model: Model, num_draws: int, seed: int, purpose: int, number: int = 0) -> np.ndarray:
    """Draws from the prior, shape (num_draws, d), named by what they are for.

    They come in batches of one size, since samplers of gamma variables take many seconds to compile.
    """
    keys = [random_key(seed, purpose, number, part) for part in range(-(-num_draws // PRIOR_BATCH))]
    batches = [np.asarray(draw_prior(model, PRIOR_BATCH, key)) for key in keys]
    return np.concatenate([np.zeros((0, model.dimension), real_dtype()), *batches])[:num_draws]
