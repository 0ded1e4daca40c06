"""What a model makes of some rows that it has seen: for leave-one-out scores, and to look whether it fits."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from sgais.fields import Chunk
from sgais.history.past import Past, RowView
from sgais.models.base import Model, Rows, real_dtype


def some_rows(history: Past | RowView, count: int) -> Chunk:
    """So many rows of the past, evenly spread."""
    chosen = np.unique(np.linspace(0, history.num_rows - 1, min(count, history.num_rows)).astype(int))
    return history.take(chosen, 0, history.num_rows)


def posterior_predictive(
    model: Model, positions: np.ndarray, rows: Chunk, seed: int
) -> dict[str, dict[str, np.ndarray]]:
    """Groups of arrays, each by the name of what was observed, as ArviZ calls them.

    Args:
        model: The model; one without a `predictive` has only log-likelihoods.
        positions: Draws of equal weight, shape (chains, draws, d).
        rows: The rows.
        seed: Determines the rows that are drawn.
    """
    shape, flat = positions.shape[:2], jnp.asarray(positions.reshape(-1, positions.shape[2]), real_dtype())
    columns = {name: jnp.asarray(values) for name, values in rows.items()}
    name, observed = model.observed(rows)
    logs = np.asarray(_log_likelihoods(model, flat, columns), np.float64)
    groups = {"log_likelihood": {name: logs.reshape(*shape, -1)}}
    if observed is not None:
        groups["observed_data"] = {name: observed}
    if model.predictive is not None:
        drawn = np.asarray(_drawn(model, jax.random.key(seed), flat, columns))
        groups["posterior_predictive"] = {name: drawn.reshape(*shape, *drawn.shape[1:])}
    return groups


@partial(jax.jit, static_argnames="model")
def _log_likelihoods(model: Model, positions: jax.Array, rows: Rows) -> jax.Array:
    return jax.lax.map(lambda at: model.log_likelihood_at(at, rows), positions)


@partial(jax.jit, static_argnames="model")
def _drawn(model: Model, key: jax.Array, positions: jax.Array, rows: Rows) -> jax.Array:
    """As many rows as there are, from each position."""
    count = len(next(iter(rows.values())))

    def of_one(key: jax.Array, position: jax.Array) -> jax.Array:
        assert model.predictive is not None
        distribution = model.predictive(model.constrain(position), rows)
        return jnp.asarray(distribution.sample(key, () if distribution.batch_shape else (count,)))

    return jax.vmap(of_one)(jax.random.split(key, len(positions)), positions)
