"""The gradients against the potential that the paper writes down, differentiated as it stands."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais import gradients, likelihood
from sgais.blocks import pack

MODEL = sgais.Model(
    prior={"scale": dist.Gamma(3.0, 2.0), "mean": dist.Normal(1.0, 0.3)},
    log_likelihood=lambda p, rows: dist.Normal(p["mean"], p["scale"]).log_prob(rows["y"]),
)
GENERATOR = np.random.default_rng(0)
POSITIONS = jnp.asarray(GENERATOR.normal(size=(4, 2)), jnp.float32)


def rows(count):
    return {"y": GENERATOR.normal(size=count).astype(np.float32)}


def summed(position, data):
    return jnp.sum(MODEL.log_likelihood_at(position, data))


@pytest.mark.parametrize("chunk_rows", [7, 600])
def test_the_mini_batch_gradient_is_that_of_the_potential(chunk_rows):
    chunk, batch = rows(chunk_rows), rows(20)

    def potential(position):
        return -(0.3 * summed(position, chunk) + 12.5 * summed(position, batch) + MODEL.log_prior_at(position))

    found = gradients.mini_batch(MODEL, POSITIONS, jax.device_put(pack(chunk)), 0.3, batch, 12.5)
    np.testing.assert_allclose(found, jax.vmap(jax.grad(potential))(POSITIONS), rtol=1e-4, atol=1e-3)


def test_the_full_gradient_is_that_of_the_tempered_posterior():
    data = rows(700)

    def potential(position):
        return -(0.3 * summed(position, data) + MODEL.log_prior_at(position))

    found = gradients.full(MODEL, POSITIONS, jax.device_put(pack(data)), 0.3)
    np.testing.assert_allclose(found, jax.vmap(jax.grad(potential))(POSITIONS), rtol=1e-4, atol=1e-3)


def test_derivatives_are_those_of_the_sum():
    data = rows(700)
    found = likelihood.derivatives(MODEL, POSITIONS, jax.device_put(pack(data)))
    np.testing.assert_allclose(found[0], jax.vmap(jax.grad(summed), (0, None))(POSITIONS, data), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(
        found[1], jax.vmap(jax.hessian(summed), (0, None))(POSITIONS, data), rtol=1e-3, atol=1e-1
    )


def test_values_relative_to_a_reference():
    data = jax.device_put(pack(rows(700)))
    reference = likelihood.block_sums(MODEL, POSITIONS[:1], data)[:, 0]
    relative, gradient = likelihood.relative_to_reference(MODEL, POSITIONS, data, reference)
    totals = likelihood.log_likelihoods(MODEL, POSITIONS, data)
    np.testing.assert_allclose(relative, totals - totals[0], rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(gradient, likelihood.gradient_sum(MODEL, POSITIONS, data), rtol=1e-4, atol=1e-2)
