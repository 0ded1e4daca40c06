import jax
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.compute.label_symmetry import (
    are_in_order,
    arranged,
    images,
    is_in_order,
    label_order,
    num_images,
    relabelled,
)
from sgais.models import GaussianMixture, LinearRegression


def test_images_of_a_mixture_have_its_density():
    """Prior without Jacobian and likelihood are the same; the Jacobian is p(x) / p(Tx)."""
    model = GaussianMixture(components=3, dim=2)
    y = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    positions = jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(0), 4)
    found = np.asarray(images(model, positions))
    assert found.shape == (4, 6, model.dimension) == (4, num_images(model), model.dimension)
    np.testing.assert_array_equal(found[:, 0], positions)
    log_likelihood = jax.jit(jax.vmap(lambda position: model.log_likelihood_at(position, {"y": y}).sum()))
    values = np.asarray(log_likelihood(found.reshape(24, -1))).reshape(4, 6)
    np.testing.assert_allclose(values, np.repeat(values[:, :1], 6, axis=1), rtol=1e-3)
    assert np.abs(found[:, 1:] - found[:, :1]).max(axis=2).min() > 0.1  # none is the position itself


def test_the_jacobian_is_the_ratio_of_prior_densities():
    """Against the determinant of the derivative of the map itself."""
    model = GaussianMixture(components=3, dim=1)
    position = jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(1), 1)[0]
    derivative = jax.jit(jax.jacfwd(lambda at: images(model, at[None])[0]))(position)
    log_prior = jax.jit(jax.vmap(model.log_prior_at))(images(model, position[None])[0])
    _, log_determinants = np.linalg.slogdet(np.asarray(derivative, float))
    np.testing.assert_allclose(log_determinants, log_prior[0] - log_prior, atol=1e-3)


def test_a_model_without_labels_has_one_image():
    model = LinearRegression(dim=2)
    assert num_images(model) == 1
    assert images(model, np.zeros((5, 3), np.float32)).shape == (5, 1, 3)


@pytest.mark.parametrize(
    ("exchangeable", "message"),
    [(("c",), "`exchangeable` must name parameters of"), (("a", "b"), "the same leading axis"), (("s",), "the same")],
)
def test_impossible_symmetries_are_refused(exchangeable, message):
    prior = {"a": dist.Normal(0, 1).expand([2]), "b": dist.Normal(0, 1).expand([3]), "s": dist.Normal(0, 1)}
    with pytest.raises(sgais.ModelError, match=message):
        sgais.Model(prior, lambda parameters, rows: rows["y"], exchangeable=exchangeable)


def test_relabelling_brings_every_image_back_to_the_reference():
    model = GaussianMixture(components=4, dim=2)
    reference = np.asarray(jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(1), 1))
    every = np.asarray(images(model, reference), np.float64)[0]
    found = relabelled(model, every, label_order(model, every, reference[0].astype(np.float64)))
    np.testing.assert_allclose(found, np.broadcast_to(reference, found.shape), rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(found[0], every[0])  # in order already: not a digit is lost


def test_relabelling_keeps_likelihood_and_other_parameters():
    model = sgais.Model(
        prior={
            "offset": dist.Normal(0.0, 1.0),
            "means": dist.Normal(0.0, 1.0).expand([9]).to_event(1),
        },
        log_likelihood=lambda p, rows: dist.Normal(p["offset"] + p["means"].sum(), 1.0).log_prob(rows["y"]),
        exchangeable=["means"],
    )
    generator = np.random.default_rng(0)
    positions, reference = generator.normal(size=(20, 10)), generator.normal(size=10)
    found = relabelled(model, positions, label_order(model, positions, reference))
    np.testing.assert_array_equal(np.sort(found[:, 1:]), np.sort(positions[:, 1:].astype(np.float32)))
    np.testing.assert_allclose(found[:, 0], positions[:, 0], rtol=1e-6)
    before = np.abs(positions[:, 1:] - reference[1:]) ** 2
    assert (((found[:, 1:] - reference[1:]) ** 2).sum(axis=1) <= before.sum(axis=1) + 1e-6).all()


@pytest.mark.parametrize("components", [2, 3, 5])
def test_positions_are_in_order_exactly_where_relabelling_leaves_them_alone(components):
    """Shortest paths on the device against the assignment problem on the host."""
    model = GaussianMixture(components=components, dim=1)
    positions = np.asarray(jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(2), 1000), np.float64)
    order = label_order(model, positions, positions[0])
    ordered = relabelled(model, positions, order)
    kept = (ordered == positions).all(axis=1)
    check = jax.jit(lambda at: is_in_order(model, at, order))
    assert 2 < kept.sum() < 900
    np.testing.assert_array_equal(check(positions.astype(np.float32)), kept)
    assert np.mean(check(ordered.astype(np.float32))) > 0.99  # but for rounding on the border


def test_the_order_of_labels_with_one_number_each_is_that_of_the_numbers():
    """Rounding of differences that are zero once made nearly all of these out of order."""
    prior = {"at": dist.Normal(0.0, 5.0).expand([2])}
    model = sgais.Model(prior, lambda parameters, rows: rows["y"] * parameters["at"].sum(), exchangeable=("at",))
    positions = np.random.default_rng(0).normal(size=(1000, 2))
    order = label_order(model, positions, np.array([-3.0, 3.0]))
    np.testing.assert_array_equal(are_in_order(model, positions, order), positions[:, 0] < positions[:, 1])


def as_float32(parameters):
    return {name: values.astype(np.float32) for name, values in parameters.items()}


def well_apart(spread=0.1, count=300):
    """Positions of two components at -1 and 1, in either order of their labels."""
    model = GaussianMixture(components=2, dim=1)
    generator = np.random.default_rng(0)
    some = np.asarray(jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(3), 1), np.float64)
    parameters = jax.vmap(model.constrain)(np.repeat(some, count, axis=0))
    means = np.array([-1.0, 1.0]) + generator.normal(0, spread, (count, 2))
    changed = {**parameters, "means": means.reshape(parameters["means"].shape).astype(np.float32)}
    both = np.asarray(images(model, jax.vmap(model.unconstrain)(changed)), np.float64)
    return model, both[np.arange(count), generator.integers(2, size=count)]


def test_labels_are_arranged_in_one_order_once_they_are_told_apart():
    model, positions = well_apart()
    found, order = arranged(model, positions, positions[0], np.random.default_rng(0))
    assert order is not None
    assert np.asarray(jax.vmap(model.constrain)(found)["means"]).reshape(-1, 2).std(axis=0).max() < 0.2


def test_noise_of_weights_does_not_decide_an_order_that_means_make_plain():
    """The spread over labels is no unit: where means lie far apart, noise would count as much as their distance."""
    model, generator, count = GaussianMixture(components=3, dim=1), np.random.default_rng(1), 300
    parameters = {
        "weights": generator.dirichlet([60, 60, 60], count),
        "variances": np.exp(generator.normal(-1, 0.2, (count, 3, 1))),
        "means": np.array([-5.0, 0.0, 5.0])[:, None] + generator.normal(0, 0.1, (count, 3, 1)),
    }
    every = np.asarray(images(model, jax.vmap(model.unconstrain)(as_float32(parameters))), np.float64)
    positions = every[np.arange(count), generator.integers(6, size=count)]
    for reference in positions[:20]:
        found, order = arranged(model, positions, reference, generator)
        assert order is not None
        assert np.asarray(jax.vmap(model.constrain)(found)["means"]).std(axis=0).max() < 0.2


def test_labels_that_overlap_are_put_in_random_order():
    """Even if all were in one order before."""
    model = GaussianMixture(components=2, dim=1)
    positions = np.asarray(jax.jit(model.sample_prior, static_argnums=1)(jax.random.key(3), 300), np.float64)
    ordered = relabelled(model, positions, label_order(model, positions, positions[0]))
    found, order = arranged(model, ordered, ordered[0], np.random.default_rng(0))
    assert order is None
    kept = np.isclose(found, ordered).all(axis=1).mean()
    assert abs(kept - 0.5) < 4 * np.sqrt(0.25 / len(positions))
