"""Where random numbers come from: every draw has a name, and no random state is kept."""

import jax
import numpy as np


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
