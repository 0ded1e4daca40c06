"""Coordinates in which a move is made: there and back, one matrix for all particles or one for each."""

import jax
import numpy as np
import pytest

from sgais.estimators.default.phases.langevin_moves import Whitening

GENERATOR = np.random.default_rng(0)
WHITENED = GENERATOR.normal(size=(5, 3))
MATRIX = GENERATOR.normal(size=(3, 3)) + 3 * np.eye(3)
ORIGIN = GENERATOR.normal(size=3)
FOR_ALL = Whitening(ORIGIN, MATRIX)
FOR_EACH = Whitening(np.tile(ORIGIN, (5, 1)), np.tile(MATRIX, (5, 1, 1)))


@pytest.mark.parametrize("whitening", [FOR_ALL, FOR_EACH], ids=["for all", "for each"])
def test_positions_are_origin_and_matrix(whitening):
    expected = ORIGIN + np.array([MATRIX @ one for one in WHITENED])
    np.testing.assert_allclose(whitening.positions(WHITENED), expected, rtol=1e-12)
    assert whitening.positions(WHITENED).dtype == np.float64, "on the host"
    np.testing.assert_allclose(whitening.positions(jax.numpy.asarray(WHITENED)), expected, rtol=1e-5)


@pytest.mark.parametrize("whitening", [FOR_ALL, FOR_EACH], ids=["for all", "for each"])
def test_gradients_follow_by_the_chain_rule(whitening):
    def energy(whitened):
        return (whitening.on_device().positions(whitened) ** 3).sum()

    whitened = jax.numpy.asarray(WHITENED)
    by_position = 3 * whitening.on_device().positions(whitened) ** 2
    np.testing.assert_allclose(whitening.gradients(by_position), jax.grad(energy)(whitened), rtol=1e-4)
