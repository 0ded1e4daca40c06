"""Particles in groups: every one is served once, whatever their number and that of the cores."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sgais.compute.parallel import GROUP, grouped, in_groups, in_parallel


@pytest.mark.parametrize("count", [0, 1, 10, GROUP, GROUP + 1, 5 * GROUP, 5 * GROUP + 7])
def test_every_particle_is_served_once_in_order(count):
    positions = np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32)
    found = in_groups(lambda group, more: {"sum": group.sum(axis=1), "more": 2 * more}, positions, np.arange(count))
    np.testing.assert_array_equal(found["sum"], positions.sum(axis=1))
    np.testing.assert_array_equal(found["more"], 2 * np.arange(count))


def test_one_program_serves_any_number(compilations):
    program = jax.jit(lambda group: jnp.tanh(group) * 3.25)
    for count in (3 * GROUP, 1, GROUP, 7 * GROUP - 1):
        found = in_groups(program, np.linspace(0, 1, count, dtype=np.float32), fill=True)
        np.testing.assert_allclose(found, 3.25 * np.tanh(np.linspace(0, 1, count)), rtol=1e-5)
    assert len(compilations) == 1


def test_groups_are_filled_up_with_the_last_particle():
    first, last = grouped(np.arange(5), 3)
    assert first.tolist() == [0, 1, 2]
    assert last.tolist() == [3, 4, 4]
    assert [group.tolist() for group in grouped(np.arange(2), 3)] == [[0, 1]]
    assert [group.tolist() for group in grouped(np.arange(2), 3, fill=True)] == [[0, 1, 1]]


def test_outcomes_come_in_order():
    assert in_parallel(lambda part: part**2, range(20)) == [part**2 for part in range(20)]
