"""Shapes that bend: what is straightened is bent back, volumes are kept account of, and what bends is found."""

import numpy as np
import pytest

from sgais.approximation.bend import LEADERS, shape_of, straight
from sgais.approximation.gaussian import of_positions

FREEDOM = 8.0


def funnel(count, seed=0, dimension=6):
    """The first coordinate is the log of how far the others spread."""
    generator = np.random.default_rng(seed)
    widths = generator.normal(size=(count, 1))
    return np.hstack([widths, np.exp(0.8 * widths) * generator.normal(size=(count, dimension - 1))])


def ridge(count, seed=0, dimension=6):
    """The others turn with the product of the first two."""
    generator = np.random.default_rng(seed)
    leading = generator.normal(size=(count, 2))
    turned = leading[:, :1] * leading[:, 1:]
    return np.hstack([leading, turned + 0.3 * generator.normal(size=(count, dimension - 2))])


def gaussian(count, seed=0, dimension=6):
    return np.random.default_rng(seed).normal(size=(count, dimension)) * np.arange(1.0, dimension + 1)


@pytest.mark.parametrize("particles", [funnel, ridge])
def test_what_is_straightened_is_bent_back(particles):
    shape, others = shape_of(particles(400), FREEDOM), particles(50, seed=1)
    offsets = others - shape.gaussian.centre
    straightened, _ = shape.bend.straightened(offsets)
    np.testing.assert_allclose(shape.bend.bent(straightened), offsets, atol=1e-9)


def test_the_change_of_volumes_is_that_of_the_map():
    shape = shape_of(funnel(400), FREEDOM)
    at = funnel(1, seed=1) - shape.gaussian.centre
    step = 1e-6
    columns = [
        (shape.bend.straightened(at + step * unit)[0] - shape.bend.straightened(at - step * unit)[0])[0] / (2 * step)
        for unit in np.eye(at.shape[1])
    ]
    expected = -np.linalg.slogdet(np.array(columns))[1]
    np.testing.assert_allclose(shape.bend.straightened(at)[1][0], expected, atol=1e-6)


def test_the_leading_coordinates_are_found():
    of_funnel, of_ridge = (shape_of(particles(400), FREEDOM).bend.leading for particles in (funnel, ridge))
    assert of_funnel[0, 0] > 0
    assert set(np.flatnonzero(of_ridge.any(axis=0))) == {0, 1}


def test_a_gaussian_stays_straight():
    particles = gaussian(400)
    shape = shape_of(particles, FREEDOM)
    assert all((part == 0).all() for part in shape.bend)
    np.testing.assert_array_equal(shape.gaussian.precision, of_positions(particles).precision)


def test_particles_that_were_held_out_are_likelier_under_the_bent_shape():
    """By what a Gaussian lacks of a funnel: the others are then of one width."""
    particles, others = funnel(400), funnel(2000, seed=1)
    shape = shape_of(particles, FREEDOM)
    straightened, log_shrinkage = shape.bend.straightened(others - shape.gaussian.centre)
    squares = shape.gaussian.distances(straightened + shape.gaussian.centre) ** 2
    bent = -0.5 * squares - shape.gaussian.log_volume - log_shrinkage
    plain = of_positions(particles)
    assert np.mean(bent - (-0.5 * plain.distances(others) ** 2 - plain.log_volume)) > 1.0


def test_one_coordinate_has_nothing_to_lead():
    particles = gaussian(100, dimension=1)
    assert (shape_of(particles, FREEDOM).bend.leading == 0).all()
    assert straight(1).leading.shape == (LEADERS, 1)


def test_particles_that_do_not_spread_have_no_shape():
    assert shape_of(np.ones((50, 3)), FREEDOM) is None
