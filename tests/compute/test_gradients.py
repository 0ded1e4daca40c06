"""The gradients against the potential that the paper writes down, differentiated as it stands."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import sgais
from sgais.approximation.taylor import at_anchor, with_rows, without_prior
from sgais.compute import gradients, likelihood
from sgais.compute.blocks import pack, slabs
from sgais.compute.likelihood import batch_gradient

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
    totals = likelihood.log_likelihoods(MODEL, POSITIONS, [data])
    np.testing.assert_allclose(relative, totals - totals[0], rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(gradient, likelihood.gradient_sum(MODEL, POSITIONS, data), rtol=1e-4, atol=1e-2)


LOGISTIC = sgais.models.LogisticRegression(dim=3, classes=3)
LABELS = sgais.simulate.logistic_regression(600, dim=3, classes=3, seed=1).data


def control_variates(positions, rows, anchor):
    surrogate = without_prior(LOGISTIC, with_rows(LOGISTIC, at_anchor(LOGISTIC, anchor), slabs(LABELS)))
    count = len(positions)
    anchors = gradients.Anchors(
        jnp.broadcast_to(jnp.asarray(surrogate.anchor, jnp.float32), positions.shape),
        jnp.broadcast_to(jnp.asarray(surrogate.gradient, jnp.float32), positions.shape),
        jnp.broadcast_to(jnp.asarray(surrogate.hessian, jnp.float32), (count, *surrogate.hessian.shape)),
    )
    batch = {name: values[rows] for name, values in LABELS.items()}
    return np.asarray(gradients.control_variate(LOGISTIC, positions, anchors, batch, 600 / len(rows)))


def test_control_variates_with_all_rows_are_the_full_gradient():
    positions = jnp.asarray(np.random.default_rng(0).normal(size=(5, 12)), jnp.float32)
    found = control_variates(positions, np.arange(600), np.full(12, 0.3))
    exact = np.asarray(gradients.full(LOGISTIC, positions, jax.device_put(pack(LABELS)), 1.0))
    np.testing.assert_allclose(found, exact, atol=0.01)


def test_control_variates_are_unbiased_and_far_less_noisy_than_mini_batches():
    """Over a partition of the rows the mean of the batches is exact."""
    anchor = np.full(12, 0.3)
    positions = jnp.asarray(anchor + 0.05 * np.random.default_rng(0).normal(size=(5, 12)), jnp.float32)
    parts = np.random.default_rng(1).permutation(600).reshape(12, 50)
    found = np.array([control_variates(positions, part, anchor) for part in parts])
    exact = np.asarray(gradients.full(LOGISTIC, positions, jax.device_put(pack(LABELS)), 1.0))
    np.testing.assert_allclose(found.mean(axis=0), exact, atol=0.02)
    plain = np.array(
        [
            -12 * np.asarray(batch_gradient(LOGISTIC, positions, {n: v[part] for n, v in LABELS.items()}))
            for part in parts
        ]
    )
    assert found.std(axis=0).max() < 0.02 * plain.std(axis=0).max()
