"""Compilation is told from computation."""

import time

import jax
import jax.numpy as jnp

from benchmarks.peers.compilation import CompilationClock


def test_compilation_is_counted_once_and_computation_is_not():
    clock, start = CompilationClock(), time.perf_counter()

    @jax.jit
    def inner(x):
        return jnp.sin(x) @ x

    @jax.jit
    def outer(x):
        return inner(x) + inner(2 * x)  # traced within a trace

    x = jnp.ones((50, 50))
    outer(x).block_until_ready()
    compiled, elapsed = clock.seconds(start), time.perf_counter() - start
    assert 0 < compiled <= elapsed
    outer(x).block_until_ready()
    assert clock.seconds(start) == compiled
    assert clock.seconds(time.perf_counter()) == 0.0
