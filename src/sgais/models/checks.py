"""Is a model sound? What an author would like to know before a long run."""

import importlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import jax
import numpy as np

from sgais.errors import ConfigError, ModelError
from sgais.fields import Chunk, Field, check_chunk, infer_fields, num_rows
from sgais.models.base import Model, ModelLike, real_dtype
from sgais.models.reading import read

NUM_ROWS = 512
NUM_DRAWS = 64
NUM_GRADIENTS = 4
GRADIENT_TOLERANCE = 1e-4  # of the largest component; central differences in float64 are good to about 1e-7
FLOAT32_TOLERANCE = 1e-4  # of the log-likelihood of a row, or nats where that is small
ROW_TOLERANCE = 1e-5  # of the log-likelihood of a row: other sizes of a batch may be summed in another order
LEAST_SECONDS = 0.2  # for a measurement of speed


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        what: Its name.
        is_good: Whether it is as it should be.
        detail: What was seen, and what to do about it.

    Example:
        >>> finding = sgais.testing.check_model(sgais.models.LinearRegression(dim=2))[0]
        >>> finding.what, finding.is_good
        ('shapes', True)
    """

    what: str
    is_good: bool
    detail: str


def made_up_rows(model: ModelLike) -> Chunk:
    """Random rows of the shapes that a model asks for."""
    if model.fields is None:
        raise ConfigError("`SOURCE` must be given for a model that does not say its fields, got none. Add a file.")
    generator = np.random.default_rng(0)
    return {name: _made_up(generator, field) for name, field in model.fields.items()}


def findings_of(model: ModelLike, data: object) -> list[Finding]:
    """Look at everything, on some hundred rows; where the shapes are wrong there is nothing else to look at."""
    reader, columns = read(model, None, data)
    columns = {name: values[:NUM_ROWS] for name, values in columns.items()}
    rows = check_chunk(columns, model.fields or infer_fields(columns), real_dtype())
    try:
        bound = model.bind(rows) if reader is None else reader.model
        bound.check_log_likelihood(rows)
    except ModelError as error:
        return [Finding("shapes", False, str(error))]
    parameters = jax.eval_shape(bound.constrain, jax.ShapeDtypeStruct((bound.dimension,), real_dtype()))  # type: ignore[no-untyped-call]
    shapes = ", ".join(f"{name} {tuple(value.shape)}" for name, value in parameters.items())
    good = Finding("shapes", True, f"{bound.dimension} parameters in all: {shapes}; one number for each row")
    return [good, *(look(bound, rows) for look in (_finite, _gradients, _float32, _independent, _speed))]


def _made_up(generator: np.random.Generator, field: Field) -> np.ndarray:
    shape = (NUM_ROWS, *field.shape)
    if field.is_integer:
        return generator.integers(0, field.num_classes or 5, size=shape)
    return generator.normal(size=shape)


def _finite(model: Model, rows: Chunk) -> Finding:
    """A NaN or +inf at a draw from the prior is an error of the model; -inf only says that rows are impossible."""
    draws = model.sample_prior(jax.random.key(0), NUM_DRAWS)
    values = np.asarray(jax.vmap(lambda at: model.log_likelihood_at(at, rows))(draws))
    priors = np.asarray(jax.vmap(model.log_prior_at)(draws))
    wrong = np.isnan(values).any(axis=1) | np.isposinf(values).any(axis=1) | ~np.isfinite(priors)
    impossible = np.isneginf(values).any(axis=1)
    if wrong.any():
        return Finding("finite", False, f"NaN or +inf at {wrong.sum()} of {NUM_DRAWS} draws from the prior")
    if impossible.all():
        return Finding("finite", False, f"some row is impossible (-inf) at all of {NUM_DRAWS} draws from the prior")
    return Finding("finite", True, f"at {NUM_DRAWS} draws from the prior, -inf at {impossible.sum()} of them")


def _gradients(model: Model, rows: Chunk) -> Finding:
    """In float64, where finite differences can be trusted."""
    with _float64():
        draws = np.asarray(model.sample_prior(jax.random.key(1), NUM_GRADIENTS), np.float64)
        density = jax.jit(_log_density(model, _wide(rows)))
        gradient = jax.jit(jax.grad(_log_density(model, _wide(rows))))
        errors = [_gradient_error(density, np.asarray(gradient(draw)), draw) for draw in draws]
    known = [error for error in errors if np.isfinite(error)]
    if not known:
        return Finding("gradients", False, "not finite at any draw from the prior; is the log-likelihood smooth?")
    detail = f"off finite differences by {max(known):.0e} of their size at {len(known)} draws from the prior"
    return Finding("gradients", len(known) == len(errors) and max(known) < GRADIENT_TOLERANCE, detail)


def _gradient_error(density: Callable[[Any], Any], gradient: np.ndarray, position: np.ndarray) -> float:
    steps = 1e-5 * np.maximum(np.abs(position), 1.0)
    differences = np.array(
        [
            (density(position + offset) - density(position - offset)) / (2 * step)
            for step, offset in zip(steps, np.diag(steps), strict=True)
        ]
    )
    return float(np.max(np.abs(differences - gradient)) / max(np.max(np.abs(differences)), 1.0))


def _float32(model: Model, rows: Chunk) -> Finding:
    draws = np.asarray(model.sample_prior(jax.random.key(2), NUM_DRAWS))
    narrow = np.asarray(_row_values(model, rows, draws), np.float64)
    with _float64():
        wide = np.asarray(_row_values(model, _wide(rows), draws.astype(np.float64)))
    both = np.isfinite(narrow) & np.isfinite(wide)
    if not both.any() or (np.isfinite(narrow) != np.isfinite(wide)).any():
        return Finding("float32", False, "finite in one of float32 and float64, but not in the other")
    # The median over draws: far out in the prior, where no data will lead, any model loses digits.
    errors = np.max(np.where(both, np.abs(narrow - wide) / np.maximum(np.abs(wide), 1.0), 0.0), axis=1)
    typical = float(np.median(errors))
    detail = f"off float64 by {typical:.0e} of a row's value at a typical draw from the prior"
    cure = "" if typical < FLOAT32_TOLERANCE else "; avoid differences of large numbers, or set jax_enable_x64"
    return Finding("float32", typical < FLOAT32_TOLERANCE, detail + cure)


def _independent(model: Model, rows: Chunk) -> Finding:
    """The log-likelihood of a row must not depend on which others are in its batch, or in what order."""
    count = num_rows(rows)
    draws = np.asarray(model.sample_prior(jax.random.key(3), NUM_GRADIENTS))
    values = np.asarray(_row_values(model, rows, draws))
    shuffled = np.random.default_rng(0).permutation(count)
    for chosen in (shuffled, shuffled[: (count + 1) // 2]):
        again = np.asarray(_row_values(model, {name: column[chosen] for name, column in rows.items()}, draws))
        close = np.isclose(again, values[:, chosen], rtol=ROW_TOLERANCE, atol=ROW_TOLERANCE, equal_nan=True)
        if not close.all():
            detail = "the log-likelihood of a row changes with the other rows of its batch; take each row by itself"
            return Finding("rows", False, detail)
    return Finding("rows", True, "independent: the same values in another order, and without the others")


def _speed(model: Model, rows: Chunk) -> Finding:
    """Per row and particle: the log-likelihood, and its gradient."""
    chosen = {name: np.resize(column, (NUM_ROWS, *column.shape[1:])) for name, column in rows.items()}
    draws = model.sample_prior(jax.random.key(4), NUM_DRAWS)
    value = _log_likelihood(model, chosen)
    costs = [_nanoseconds(jax.jit(jax.vmap(each)), draws) for each in (value, jax.grad(value))]
    detail = f"{costs[0]:.1f} ns per row and particle, {costs[1]:.1f} ns with its gradient"
    return Finding("speed", True, detail)


def _nanoseconds(program: Callable[[Any], Any], draws: jax.Array) -> float:
    program(draws).block_until_ready()
    start, repeats = time.perf_counter(), 0
    while time.perf_counter() - start < LEAST_SECONDS:
        program(draws).block_until_ready()
        repeats += 1
    return (time.perf_counter() - start) / repeats / (NUM_DRAWS * NUM_ROWS) * 1e9


def _row_values(model: Model, rows: Chunk, draws: np.ndarray) -> jax.Array:
    return jax.jit(jax.vmap(lambda at: model.log_likelihood_at(at, rows)))(draws)


def _log_likelihood(model: Model, rows: Chunk) -> Callable[[Any], Any]:
    return lambda at: model.log_likelihood_at(at, rows).sum()


def _log_density(model: Model, rows: Chunk) -> Callable[[Any], Any]:
    return lambda at: model.log_likelihood_at(at, rows).sum() + model.log_prior_at(at)


def _float64() -> AbstractContextManager[None]:
    """64-bit numbers for a while, whatever the user has set; older versions of JAX have the switch elsewhere."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    experimental: Any = importlib.import_module("jax.experimental")
    return experimental.enable_x64()


def _wide(rows: Chunk) -> Chunk:
    return {name: column.astype(np.float64) if column.dtype.kind == "f" else column for name, column in rows.items()}
