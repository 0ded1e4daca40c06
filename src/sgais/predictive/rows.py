"""How probable each row is by itself, given all rows before its chunk."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp

from sgais.compute.blocks import Blocks, slabs
from sgais.compute.likelihood import pointwise
from sgais.fields import Chunk
from sgais.models.base import Model, real_dtype


def row_log_predictives(model: Model, positions: np.ndarray, log_weights: np.ndarray, rows: Chunk) -> np.ndarray:
    """The log predictive of every row under weighted particles (normalised), shape (rows,)."""
    at, weights = np.asarray(positions, real_dtype()), np.asarray(log_weights, real_dtype())
    parts = [(slab, np.asarray(_log_means(model, at, weights, slab), np.float64)) for slab in slabs(rows)]
    return np.concatenate([found[slab.weights.ravel() > 0] for slab, found in parts])


@partial(jax.jit, static_argnames="model")
def _log_means(model: Model, positions: jax.Array, log_weights: jax.Array, blocks: Blocks) -> jax.Array:
    logs = pointwise(model, positions, blocks)
    return logsumexp(jnp.where(jnp.isnan(logs), -jnp.inf, logs) + log_weights[:, None], axis=0)
