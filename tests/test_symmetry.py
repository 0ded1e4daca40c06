import jax
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.models import GaussianMixture, LinearRegression
from sgais.symmetry import images, num_images


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
