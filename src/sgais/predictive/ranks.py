"""Where the rows of many keys stand among what was expected of them: a rank between zero and one for each key.

Every key has a few draws of its posterior. Each draw makes a replicate of the new rows, at their inputs, and replicates
and rows are scored alike, by the mean of their likelihood over the draws; a replicate leaves out the draw that has made
it. If the model is right, rows and replicates are exchangeable, and the rank is uniform for any number of rows.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from sgais.compute.random_keys import jax_key
from sgais.fields import Chunk
from sgais.models.base import Model, Rows

LEAST = 1e-6  # of a rank, and of what it lacks to one


def ranks(model: Model, particles: np.ndarray, rows: Chunk, weights: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The rank of each key's new rows, small where they are less probable than they should be.

    Args:
        model: A model that can predict.
        particles: Of equal weight, shape (keys, particles, d).
        rows: New rows, padded, shape (keys, rows, ...).
        weights: One for each row, zero for padding, shape (keys, rows).
        keys: Of the random numbers, one for each key.
    """
    return np.clip(np.asarray(_ranks(model, particles, rows, weights, keys), np.float64), LEAST, 1.0 - LEAST)


@partial(jax.jit, static_argnames="model")
def _ranks(model: Model, particles: jax.Array, rows: Rows, weights: jax.Array, keys: jax.Array) -> jax.Array:
    assert model.predictive is not None
    predictive = model.predictive

    def of_key(particles: jax.Array, rows: Rows, weights: jax.Array, key: jax.Array) -> jax.Array:
        count = len(particles)
        draw_key, tie_key = jax.random.split(jax_key(key))

        def replicate(key: jax.Array, position: jax.Array) -> jax.Array:
            distribution = predictive(model.constrain(position), rows)
            shape = () if distribution.batch_shape else weights.shape  # without inputs all rows are drawn alike
            return jnp.asarray(distribution.sample(key, shape))

        def total(densities: jax.Array) -> jax.Array:
            return jnp.where(weights > 0, densities, 0.0).sum(axis=-1)

        def at(position: jax.Array) -> tuple[jax.Array, jax.Array]:
            distribution = predictive(model.constrain(position), rows)
            densities = jax.vmap(distribution.log_prob)(replicates)
            return total(jnp.asarray(densities)), total(jnp.asarray(model.log_likelihood_at(position, rows)))

        replicates = jax.vmap(replicate)(jax.random.split(draw_key, count), particles)
        of_replicates, of_rows = jax.vmap(at)(particles)  # (particles, replicates), (particles,)
        others = jnp.where(jnp.eye(count, dtype=bool), -jnp.inf, of_replicates)
        expected = logsumexp(others, axis=0) - jnp.log(count - 1)
        score = logsumexp(of_rows) - jnp.log(count)
        below = jnp.sum(expected < score)
        ties = jnp.sum(expected == score)
        return (below + jax.random.uniform(tie_key) * (ties + 1)) / (count + 1)

    return jax.vmap(of_key)(particles, rows, weights, keys)
