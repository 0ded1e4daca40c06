"""Where random numbers come from: every draw has a key of its own, and no random state is kept."""

import zlib

import jax
import numpy as np


def random_key(seed: int, *numbers: int) -> np.ndarray:
    """The key of one draw of random numbers; no random state is ever kept, so a resumed run repeats exactly."""
    return np.array([seed, *numbers], np.uint32)


def named_seed(seed: int, name: str) -> int:
    """The seed of something with a name, whatever else there is beside it."""
    return (seed + zlib.crc32(name.encode())) % 2**32


class KeySequence:
    """The keys of a chunk's random numbers, one after another."""

    def __init__(self, seed: int, chunk: int) -> None:
        self.seed, self._chunk, self._count = seed, chunk, 0

    def next(self) -> np.ndarray:
        """A key that was not given out before."""
        self._count += 1
        return random_key(self.seed, self._chunk, self._count)

    def generator(self) -> np.random.Generator:
        """Random numbers for the host, from a key of their own."""
        return np.random.default_rng(self.next())


def jax_key(key: jax.Array) -> jax.Array:
    """The same key as JAX has it, for use in compiled code."""
    folded = jax.random.key(key[0])
    for number in key[1:]:
        folded = jax.random.fold_in(folded, number)
    return folded
