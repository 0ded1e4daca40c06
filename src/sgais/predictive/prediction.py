"""What a model expects of rows that it has not seen: a mixture over its particles."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.distributions import BernoulliLogits, BernoulliProbs, CategoricalLogits, CategoricalProbs

from sgais.errors import DataError, ModelError, require
from sgais.fields import Chunk, Fields, as_arrays, check_chunk
from sgais.models.base import Model, Rows, real_dtype
from sgais.smc import resampling

NUM_DRAWS = 2000


class Prediction(NamedTuple):
    """The predictive distribution of each row.

    Attributes:
        mean: Of each row, shape (rows, ...); None for classes.
        probabilities: Of each class, shape (rows, classes); None for numbers.
        draws: Values drawn from the distribution, shape (draws, rows, ...).

    Example:
        >>> evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2))
        >>> _ = evidence.update(sgais.simulate.linear_regression(200, dim=2).data)
        >>> prediction = evidence.predict({"x": [[0.0, 0.0], [1.0, 0.0]]})
        >>> prediction.mean.shape, prediction.quantiles((0.05, 0.95)).shape
        ((2,), (2, 2))
    """

    mean: np.ndarray | None
    probabilities: np.ndarray | None
    draws: np.ndarray

    def quantiles(self, levels: Sequence[float] = (0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of each row, from the draws, shape (levels, rows, ...)."""
        within = all(0 <= level <= 1 for level in levels)
        require(within, "levels", "lie between 0 and 1", levels)
        return np.quantile(self.draws, levels, axis=0)


def predict(
    model: Model, fields: Fields | None, positions: np.ndarray, log_weights: np.ndarray, inputs: object, seed: int
) -> Prediction:
    """The prediction of weighted particles for rows with these inputs.

    Args:
        model: A model with a `predictive`.
        fields: The columns of a chunk; inputs are some of them.
        positions: Of the particles, shape (particles, d).
        log_weights: Of the particles, normalised.
        inputs: The columns that the predictive needs; None where it needs none.
        seed: Determines the draws.
    """
    rows = _checked(model, fields, inputs)
    weights = np.exp(log_weights)
    chosen = resampling.select(weights, (np.arange(NUM_DRAWS) + 0.5) / NUM_DRAWS)
    on_device = jnp.asarray(positions, real_dtype())
    draws = np.asarray(_draw(model, jax.random.key(seed), on_device[chosen], rows))
    moments = {name: np.asarray(values, np.float64) for name, values in _moments(model, on_device, rows).items()}
    averages = {name: np.tensordot(weights, values, axes=1) for name, values in moments.items()}
    mean = averages.get("mean") if averages else draws.mean(axis=0, dtype=np.float64)
    return Prediction(mean, averages.get("probabilities"), draws)


def average(predictions: Sequence[Prediction], weights: np.ndarray) -> Prediction:
    """The mixture of several models' predictions."""
    parts = resampling.select(weights, (np.arange(NUM_DRAWS) + 0.5) / NUM_DRAWS)
    # Draw number i of the mixture is draw number i of the model that is chosen for it.
    shuffled = np.random.default_rng(0).permutation(parts)
    draws = np.stack([predictions[part].draws[number] for number, part in enumerate(shuffled)])

    def mix(values: list[np.ndarray | None]) -> np.ndarray | None:
        known = [value for value in values if value is not None]
        return sum(weight * value for weight, value in zip(weights, known, strict=True)) if known else None

    means, probabilities = ([getattr(one, name) for one in predictions] for name in ("mean", "probabilities"))
    return Prediction(mix(means), mix(probabilities), draws)


def _checked(model: Model, fields: Fields | None, inputs: object) -> Chunk:
    if model.predictive is None:
        raise ModelError(
            f"{model!r} cannot predict: it knows the log-likelihood of rows, not what they are drawn from. Give it "
            "one: sgais.Model(..., predictive=lambda parameters, rows: <a NumPyro distribution>)."
        )
    arrays = as_arrays(inputs) if inputs is not None and inputs != {} else {}
    if fields is not None:
        unknown = [name for name in arrays if name not in fields]
        if unknown:
            raise DataError(f"`inputs` must have columns of {sorted(fields)}, got {unknown[0]!r}. Drop it.")
        arrays = check_chunk(arrays, {name: fields[name] for name in arrays}, real_dtype()) if arrays else {}
    position = jnp.zeros(model.dimension, real_dtype())
    try:
        jax.eval_shape(lambda at: _distribution(model, at, arrays).sample(jax.random.key(0)), position)
    except KeyError as error:
        raise DataError(f"`inputs` must have the column {error}, got {sorted(arrays)}. Add it.") from error
    return arrays


def _distribution(model: Model, position: jax.Array, rows: Rows) -> Any:
    assert model.predictive is not None
    return model.predictive(model.constrain(position), rows)


@partial(jax.jit, static_argnames="model")
def _moments(model: Model, positions: jax.Array, rows: Rows) -> dict[str, jax.Array]:
    """What each particle expects: the class probabilities where there are classes, else the mean."""

    def of_one(position: jax.Array) -> dict[str, jax.Array]:
        distribution = _distribution(model, position, rows)
        if isinstance(distribution, CategoricalLogits | CategoricalProbs):
            return {"probabilities": jnp.asarray(distribution.probs)}
        if isinstance(distribution, BernoulliLogits | BernoulliProbs):
            return {"probabilities": jnp.stack([1 - distribution.probs, distribution.probs], axis=-1)}
        try:
            return {"mean": distribution.mean}
        except NotImplementedError:  # of a transformed response: the draws have one
            return {}

    return jax.vmap(of_one)(positions)


@partial(jax.jit, static_argnames="model")
def _draw(model: Model, key: jax.Array, positions: jax.Array, rows: Rows) -> jax.Array:
    keys = jax.random.split(key, len(positions))
    return jax.vmap(lambda key, position: _distribution(model, position, rows).sample(key))(keys, positions)
