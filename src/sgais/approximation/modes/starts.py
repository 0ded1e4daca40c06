"""Where searches for modes begin: draws from the prior, and guesses from the rows where the model can make them."""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np

from sgais.approximation.log_posterior import Posterior
from sgais.compute.positions import unconstrain
from sgais.compute.prior_draws import sample_prior
from sgais.errors import ModelError
from sgais.fields import Chunk
from sgais.models.base import Model, real_dtype

# Draws from the prior for a start, in turn: the best of many lies near a high mode, the best of few anywhere.
CANDIDATES = (256, 64, 16, 4, 1)
STARTS = 0  # the purpose of random numbers


def starts(posterior: Posterior, seed: int, numbers: Sequence[int]) -> np.ndarray:
    """A position for each number, shape (numbers, d), independent of the others.

    Where the model guesses from the rows, every second start is such a guess.
    """
    model = posterior.model
    if model.starts is None:
        return np.array([_from_prior(posterior, seed, number, number) for number in numbers])
    rows = posterior.rows()
    guesses = [number for number in numbers if number % 2 == 0]
    guessed = dict(zip(guesses, guess(model, rows, seed, guesses), strict=True))
    return np.array(
        [guessed[n] if n in guessed else _from_prior(posterior, seed, n, n // 2) for n in numbers], np.float64
    )


def guess(model: Model, rows: Chunk, seed: int, numbers: Sequence[int]) -> np.ndarray:
    """The model's own starts on these rows, shape (numbers, d)."""
    assert model.starts is not None
    if not numbers:
        return np.zeros((0, model.dimension))
    generators = [np.random.default_rng([seed, STARTS, number]) for number in numbers]
    guesses = [_checked(model, model.starts(rows, generator)) for generator in generators]
    together = {name: np.stack([one[name] for one in guesses]) for name in model.prior}
    positions = unconstrain(model, together).astype(np.float64)
    if not np.isfinite(positions).all():
        wrong = guesses[int(np.argmin(np.isfinite(positions).all(axis=1)))]
        raise ModelError(f"`starts` must return parameters inside the prior's support, got {wrong}.")
    return positions


def _from_prior(posterior: Posterior, seed: int, number: int, turn: int) -> np.ndarray:
    """The best of some draws from the prior, of its own for every start: so that starts are independent."""
    candidates = sample_prior(posterior.model, CANDIDATES[turn % len(CANDIDATES)], seed, STARTS, number)
    return candidates[np.argmax(posterior.log_densities(candidates))].astype(np.float64)


def _checked(model: Model, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not isinstance(parameters, Mapping) or any(name not in parameters for name in model.prior):
        got = sorted(parameters) if isinstance(parameters, Mapping) else type(parameters).__name__
        raise ModelError(f"`starts` must return a value for each of {list(model.prior)}, got {got}.")
    shapes = jax.eval_shape(model.constrain, np.zeros(model.dimension, real_dtype()))
    values = {name: np.asarray(parameters[name], real_dtype()) for name in model.prior}
    for name, value in values.items():
        if value.shape != shapes[name].shape:
            raise ModelError(f"`starts` must return `{name}` of shape {shapes[name].shape}, got {value.shape}.")
    return values
