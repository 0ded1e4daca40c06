"""Discrete latents are summed out: the same density as written without them."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.contrib.control_flow import scan

import sgais

pytest.importorskip("funsor", reason="Funsor is not installed: pip install 'sgais[enumeration]'")

Y = np.linspace(-2.0, 3.0, 12).astype(np.float32)


def densities(model, rows, positions):
    rows = {name: jnp.asarray(values) for name, values in rows.items()}
    pointwise = jax.jit(jax.vmap(lambda at: model.log_likelihood_at(at, rows)))
    return np.asarray(jax.vmap(model.log_prior_at)(positions)), pointwise(positions)


def components():
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(3)))
    with numpyro.plate("components", 3):
        return weights, numpyro.sample("means", dist.Normal(0, 3)), numpyro.sample("scales", dist.HalfNormal(1.0))


def labelled(y):
    weights, means, scales = components()
    with numpyro.plate("data", len(y)):
        label = numpyro.sample("label", dist.Categorical(weights))
        numpyro.sample("obs", dist.Normal(means[label], scales[label]), obs=y)


def marginal(y):
    weights, means, scales = components()
    with numpyro.plate("data", len(y)):
        numpyro.sample("obs", dist.MixtureSameFamily(dist.Categorical(weights), dist.Normal(means, scales)), obs=y)


def test_a_mixture_with_labels_has_the_density_of_the_one_without():
    names = ("weights", "means", "scales")
    model, expected = (sgais.from_numpyro(each, {"y": Y}, exchangeable=names) for each in (labelled, marginal))
    assert (list(model.prior), model.num_labels, model.predictive) == (list(names), 3, None)
    positions = model.sample_prior(jax.random.key(0), 6)
    for found, other in zip(
        densities(model, {"y": Y}, positions), densities(expected, {"y": Y}, positions), strict=True
    ):
        np.testing.assert_allclose(found, other, rtol=2e-5, atol=2e-5)


def hidden_markov(y):
    """A row is a sequence; a state depends on the one before it."""
    with numpyro.plate("states", 2):
        moves = numpyro.sample("moves", dist.Dirichlet(jnp.ones(2)))
        means = numpyro.sample("means", dist.Normal(0, 3))

    def step(state, now):
        with numpyro.plate("data", len(y), dim=-1):
            state = numpyro.sample("state", dist.Categorical(moves[state]))
            numpyro.sample("obs", dist.Normal(means[state], 1.0), obs=now)
        return state, None

    scan(step, jnp.zeros(len(y), int), y.T)


def forward(moves, means, sequence):
    """The textbook's forward algorithm in float64, from state 0."""
    log_weights = np.log(moves[0])
    for step, value in enumerate(sequence):
        if step:
            log_weights = np.logaddexp.reduce(log_weights[:, None] + np.log(moves), axis=0)
        log_weights = log_weights - 0.5 * (value - means) ** 2 - 0.5 * np.log(2 * np.pi)
    return np.logaddexp.reduce(log_weights)


def test_a_hidden_markov_model_of_sequences_agrees_with_the_forward_algorithm():
    sequences = np.random.default_rng(1).normal(size=(9, 5)).astype(np.float32)
    model = sgais.from_numpyro(hidden_markov, {"y": sequences})
    position = np.asarray(model.sample_prior(jax.random.key(2), 1))[0]
    at = {name: np.asarray(value, np.float64) for name, value in model.constrain(position).items()}
    found = jax.jit(model.log_likelihood_at)(position, {"y": sequences})
    np.testing.assert_allclose(found, [forward(at["moves"], at["means"], each) for each in sequences], rtol=2e-5)
