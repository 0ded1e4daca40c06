"""Particles: where their random numbers come from, and draws from the prior."""

from functools import partial

import jax
import numpy as np

from sgais.model import Model, real_dtype

PRIOR_BATCH = 256


def place(seed: int, *numbers: int) -> np.ndarray:
    """Names one draw of random numbers; no random state is ever kept, so a resumed run repeats exactly."""
    return np.array([seed, *numbers], np.uint32)


class Places:
    """The places of a chunk's random numbers, one after another."""

    def __init__(self, seed: int, chunk: int) -> None:
        self.seed, self._chunk, self._count = seed, chunk, 0

    def next(self) -> np.ndarray:
        """A place that was not given out before."""
        self._count += 1
        return place(self.seed, self._chunk, self._count)

    def generator(self) -> np.random.Generator:
        """Random numbers for the host, from a place of their own."""
        return np.random.default_rng(self.next())


def key_of(place: jax.Array) -> jax.Array:
    """The random key of a place, for use in compiled code."""
    key = jax.random.key(place[0])
    for number in place[1:]:
        key = jax.random.fold_in(key, number)
    return key


# Samplers of gamma variables are long programs that run rarely: the compiler had better not polish them for seconds.
@partial(jax.jit, static_argnames=("model", "num_draws"), compiler_options={"xla_backend_optimization_level": 1})
def draw_prior(model: Model, num_draws: int, place: jax.Array) -> jax.Array:
    """Positions of draws from the prior, shape (num_draws, d)."""
    return model.sample_prior(key_of(place), num_draws)


def sample_prior(model: Model, num_draws: int, seed: int, purpose: int, number: int = 0) -> np.ndarray:
    """Draws from the prior, shape (num_draws, d), named by what they are for.

    They come in batches of one size, since samplers of gamma variables take many seconds to compile.
    """
    places = [place(seed, purpose, number, part) for part in range(-(-num_draws // PRIOR_BATCH))]
    batches = [np.asarray(draw_prior(model, PRIOR_BATCH, here)) for here in places]
    return np.concatenate([np.zeros((0, model.dimension), real_dtype()), *batches])[:num_draws]
