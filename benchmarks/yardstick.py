"""The yardstick: one compiled pass of M likelihoods over the data, and one of M gradients. What could be faster?"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute.blocks import Blocks, pack_whole
from sgais.compute.likelihood import gradient_sum, log_likelihoods
from sgais.models.base import Model, real_dtype

Clock = Callable[[], float]


class Passes(NamedTuple):
    """Seconds of each pass."""

    likelihood: float
    gradient: float

    @property
    def both(self) -> float:
        """The limit that an estimator's time is a multiple of."""
        return self.likelihood + self.gradient


def passes(
    model: Model, data: dict[str, np.ndarray], num_particles: int, repeats: int = 3, clock: Clock = time.perf_counter
) -> Passes:
    """Time both passes with this many particles; the fastest of some repeats."""
    blocks = jax.device_put(pack_whole(data))
    draws = np.random.default_rng(0).normal(size=(num_particles, model.dimension))
    positions = 0.1 * jnp.asarray(draws, real_dtype())
    return Passes(
        _fastest(lambda: log_likelihoods(model, positions, [blocks]), repeats, clock),
        _fastest(lambda: _gradients(model, positions, blocks), repeats, clock),
    )


def _fastest(function: Callable[[], Any], repeats: int, clock: Clock) -> float:
    function()  # compiles
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


_gradient_sum = jax.jit(gradient_sum, static_argnames="model")


def _gradients(model: Model, positions: jax.Array, blocks: Blocks) -> np.ndarray:
    return np.asarray(_gradient_sum(model, positions, blocks))
