"""What a model expects of itself: mean and spread of the log predictive of a chunk, if the model is right.

Chunks are drawn from the posterior predictive distribution, at the inputs of the real one. The log predictive of such a
replicate would be a mean over all particles; but its log density at the parameters that it was drawn with, which costs
next to nothing, exceeds it by what n new rows tell about d parameters after N rows, on average

    d / 2  log(1 + n / N)    nats

for regular models (Clarke and Barron 1990). The spread is that of independent rows, and of what they share because one
draw of the parameters has made them all.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from sgais.compute.blocks import capacity_for, pack
from sgais.compute.random_keys import jax_key
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, Rows, real_dtype
from sgais.smc import resampling

NUM_REPLICATES = 64
LARGEST_REPLICATE = 2048  # rows; of a larger chunk so many are drawn, evenly spread, and stand for all


def expected_log_predictive(
    model: Model, positions: np.ndarray, log_weights: np.ndarray, chunk: Chunk, rows_before: int, key: np.ndarray
) -> tuple[float, float] | None:
    """Mean and standard deviation that the chunk's log predictive should have; None where the model cannot say.

    Args:
        model: A model; without a `predictive` it cannot be simulated.
        positions: Of the particles, shape (particles, d).
        log_weights: Of the particles, normalised.
        chunk: The rows, of which all but the observation count.
        rows_before: Rows that the particles have seen; of the prior there is nothing to expect.
        key: Of the random numbers.
    """
    if model.predictive is None or rows_before == 0:
        return None
    rows = num_rows(chunk)
    densities = replicated_log_densities(model, positions, log_weights, chunk, key)
    if len(densities) < 2:
        return None
    information = 0.5 * model.dimension * np.log1p(rows / rows_before)
    mean, deviation = _moments(densities, rows / densities.shape[1])
    return mean - float(information), deviation


def replicated_log_densities(
    model: Model, positions: np.ndarray, log_weights: np.ndarray, chunk: Chunk, key: np.ndarray
) -> np.ndarray:
    """Log densities of rows that the model draws at the inputs of a chunk, shape (replicates, rows)."""
    rows = num_rows(chunk)
    drawn = min(rows, LARGEST_REPLICATE)
    chosen = resampling.select(np.exp(log_weights), (np.arange(NUM_REPLICATES) + 0.5) / NUM_REPLICATES)
    some = {name: values[np.arange(drawn) * rows // drawn] for name, values in chunk.items()}
    columns = {name: values[0] for name, values in _one_block(some).items()}
    densities = np.asarray(_log_densities(model, key, positions[chosen].astype(real_dtype()), columns), np.float64)
    return densities[np.isfinite(densities).all(axis=1), :drawn]


def _one_block(chunk: Chunk) -> Chunk:
    """Padded to one of a few sizes, so that few programs are compiled."""
    capacity = min(capacity_for(num_rows(chunk)), LARGEST_REPLICATE)
    return pack(chunk, capacity, capacity).columns


def _moments(densities: np.ndarray, scale: float) -> tuple[float, float]:
    """Moments of sums over `scale` times as many rows, from log densities of shape (replicates, rows)."""
    totals = densities.sum(axis=1)
    alone = densities.var(axis=0, ddof=1).sum()  # as if rows were independent
    shared = max(0.0, totals.var(ddof=1) - alone)
    variance = scale * alone + scale**2 * shared
    noise = scale**2 * totals.var(ddof=1) / len(totals)  # of the mean
    return scale * float(totals.mean()), float(np.sqrt(variance + noise))


@partial(jax.jit, static_argnames="model")
def _log_densities(model: Model, key: jax.Array, positions: jax.Array, rows: Rows) -> jax.Array:
    """One replicate for each position, and the log density of its rows, shape (positions, rows)."""
    assert model.predictive is not None
    predictive, count = model.predictive, len(next(iter(rows.values())))

    def of_one(key: jax.Array, position: jax.Array) -> jax.Array:
        distribution = predictive(model.constrain(position), rows)
        shape = () if distribution.batch_shape else (count,)  # without inputs all rows are drawn alike
        return jnp.asarray(distribution.log_prob(distribution.sample(key, shape)))

    return jax.vmap(of_one)(jax.random.split(jax_key(key), len(positions)), positions)
