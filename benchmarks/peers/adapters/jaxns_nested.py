"""JAXNS: nested sampling as in its quick start, with its defaults."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxns.core import NestedSampler
from jaxns.model import Model
from jaxns.priors import Prior
from tensorflow_probability.substrates import jax as probability

from benchmarks.peers.estimate import Estimate, Run
from benchmarks.peers.target import Columns, Target


def prepare(target: Target, seed: int) -> Run:
    """Only the model is built: the sampler compiles while it runs, and that time is taken off."""

    def log_likelihood(columns: Columns) -> jax.Array:
        standard = probability.distributions.Normal(loc=jnp.zeros(target.dimension), scale=1.0)
        return target.log_likelihood(Prior(standard, name="position").realise(), columns)

    sampler = NestedSampler(model=Model(prior_model=log_likelihood), unlimited_samples=True)

    def run() -> Estimate:
        results: Any = sampler.run(key=jax.random.PRNGKey(seed), args=(target.columns,)).to_result().trim()
        return Estimate(
            float(results.log_Z_mean), float(results.log_Z_uncert), int(results.total_num_likelihood_evaluations)
        )

    return run
