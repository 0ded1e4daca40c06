"""Rows so absurd that arithmetic ends before the evidence does: a wrong unit, a slip of the pen.

The rule is the model's own predictive: a row is an outlier where the log density that the best of its particles gives
it lies more than `ABSURD` nats below what rows usually have, and more than a hundred times as far as these differ among
themselves. That is 450 standard deviations of a Gaussian. Up to there log Z is right; beyond it the digits of float32
are used up, and particles that follow such a row are lost for the rows to come. So they never do.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from sgais.errors import DataError, EstimationError, require
from sgais.fields import Chunk, num_rows
from sgais.models.base import Model, Rows, real_dtype
from sgais.models.reading import Reading
from sgais.results.left_out import LeftOut
from sgais.results.record import EvidenceRecord

WARN, QUARANTINE, RAISE = "warn", "quarantine", "raise"
POLICIES = (WARN, QUARANTINE, RAISE)
ABSURD = 1e5  # nats: their rounding in float32, 0.01, is still below the errors of log Z
TIMES_USUAL = 100.0
ERROR_SHARE = 0.1  # of what an outlier counts without being taken in: a few particles know no more of it
MOST_POSITIONS = 64
REFERENCE_ROWS = 64  # of the past, for chunks of a few rows
BLOCK_ROWS = 2048

Step = TypeVar("Step")


class Outliers(NamedTuple):
    """The rows of a chunk that one model cannot take in.

    Attributes:
        rows: Their numbers in the chunk.
        log_means: The log of the mean density of each row of the chunk at some particles.
    """

    rows: np.ndarray
    log_means: np.ndarray


class Sifted(NamedTuple):
    """What came of a chunk.

    Attributes:
        steps: By model.
        failures: Why models cannot go on.
        num_left_out: Rows of the chunk that were left out.
    """

    steps: dict[str, Any]
    failures: dict[str, str]
    num_left_out: int = 0


Weigh = Callable[[Mapping[str, Reading], Mapping[str, LeftOut]], tuple[dict[str, Any], dict[str, str]]]
Find = Callable[[str, Reading], Outliers]


class Behind(NamedTuple):
    """Where a stream stands before a chunk: rows read, and rows taken in."""

    position: int
    num_rows: int


def sifted(readings: Mapping[str, Reading], weigh: Weigh, find: Find, policy: str, behind: Behind) -> Sifted:
    """Let models weigh a chunk, without its outliers if it has any that one of them cannot take in.

    To look at every row of every chunk would cost more than is gained: a chunk is looked at where what came of it is
    absurd, or where nothing did.

    Args:
        readings: The chunk, by model.
        weigh: Weighs it; raises an `EstimationError` where no model can.
        find: The outliers of a model.
        policy: One of `POLICIES`.
        behind: Where the stream stands before the chunk.
    """
    steps, failures, error = _tried(weigh, readings)
    if error is None and not failures and not any(is_suspicious(step.record) for step in steps.values()):
        return Sifted(steps, failures)
    found = {name: find(name, reading) for name, reading in readings.items()}
    rows = np.unique(np.concatenate([each.rows for each in found.values()]))
    some = next(iter(readings.values())).columns
    if not len(rows) or len(rows) == num_rows(some):
        if error is not None:
            raise error
        return Sifted(steps, failures)
    if policy == RAISE:
        whose = [name for name, each in found.items() if name and len(each.rows)]
        raise refusal(int(rows[0]), behind.position, len(rows), whose)
    kept = {name: Reading(each.reader, without(each.columns, rows)) for name, each in readings.items()}
    by_all = [row for row in rows if all(row in each.rows for each in found.values())]
    left_out = {name: _left_out(found[name], rows, len(by_all), behind, policy) for name in readings}
    return Sifted(*weigh(kept, left_out), len(rows))


def require_policy(policy: str) -> str:
    """One of `POLICIES`."""
    require(policy in POLICIES, "on_outlier", f"be one of {', '.join(POLICIES)}", policy)
    return policy


def is_suspicious(record: EvidenceRecord) -> bool:
    """Whether a chunk may have had outliers."""
    return not (record.increment > -ABSURD and record.standard_error != 0.0)


def outliers(model: Model, positions: np.ndarray, chunk: Chunk, reference: Chunk | None) -> Outliers:
    """The rows of a chunk that are absurd at every particle, against its other rows and rows of the past."""
    chosen = np.linspace(0, len(positions) - 1, min(MOST_POSITIONS, len(positions))).astype(int)
    surprises, log_means = _densities(model, positions[chosen], chunk)
    usual = surprises if reference is None else np.append(surprises, _densities(model, positions[chosen], reference)[0])
    usual = usual[np.isfinite(usual)]
    if len(usual) < 3:
        return Outliers(np.empty(0, int), log_means)
    middle, upper = np.quantile(usual, [0.5, 0.75])
    limit = middle + ABSURD + TIMES_USUAL * (abs(middle) + upper - middle)
    return Outliers(np.flatnonzero(~(surprises <= limit)), log_means)


def surprises(model: Model, positions: np.ndarray, chunk: Chunk) -> np.ndarray:
    """How little each row is expected by the particle that expects it most, in nats."""
    return _densities(model, positions, chunk)[0]


def _tried(
    weigh: Weigh, readings: Mapping[str, Reading]
) -> tuple[dict[str, Any], dict[str, str], EstimationError | None]:
    try:
        return *weigh(readings, {}), None
    except EstimationError as error:
        return {}, {}, error


def _left_out(found: Outliers, rows: np.ndarray, num_by_all: int, behind: Behind, policy: str) -> LeftOut:
    known = found.log_means[rows]
    known = known[np.isfinite(known)] if policy == WARN else known[:0]  # no number could stand for a density of zero
    error = ERROR_SHARE * float(np.abs(known).sum())
    return LeftOut(
        num_rows=len(rows),
        first_row=behind.position + int(rows[0]),
        log_predictive=float(known.sum()),
        standard_error=error,
        num_others=len(rows) - len(found.rows),
        num_against=len(found.rows) - num_by_all,
        rows_before=behind.num_rows,
    )


def refusal(row: int, first_row: int, count: int, names: Sequence[str] = ()) -> DataError:
    """The error for a chunk with outliers, the first of which is this row of it."""
    others = f" (and {count - 1:,} more)" if count > 1 else ""
    whose = f" of {' and '.join(names)}" if names else ""
    return DataError(
        f"`chunk` must have no outliers, got row {row} of the chunk, row {first_row + row:,} of the stream{others}, "
        f"which is absurd by the predictive{whose}. Correct it or drop it."
    )


def without(chunk: Chunk, rows: np.ndarray) -> Chunk:
    """The other rows of a chunk."""
    kept = np.setdiff1d(np.arange(num_rows(chunk)), rows)
    return {name: values[kept] for name, values in chunk.items()}


def _densities(model: Model, positions: np.ndarray, chunk: Chunk) -> tuple[np.ndarray, np.ndarray]:
    """Of each row: how much it surprises the particle that expects it most, and the log of its mean density."""
    rows = num_rows(chunk)
    places = jnp.asarray(positions.astype(real_dtype()))
    size = min(BLOCK_ROWS, 1 << (rows - 1).bit_length())  # of few sizes, so that few programs are compiled
    surprises, log_means = [], []
    for start in range(0, rows, size):
        block: dict[str, Any] = {
            name: np.concatenate([part, np.repeat(part[-1:], size - len(part), axis=0)])
            for name, values in chunk.items()
            for part in [values[start : start + size]]
        }
        found = np.asarray(_at_all(model, places, block), np.float64)
        found = np.where(np.isnan(found), -np.inf, found)
        surprises.append(-found.max(axis=0))
        log_means.append(np.logaddexp.reduce(found, axis=0) - np.log(len(found)))
    return np.concatenate(surprises)[:rows], np.concatenate(log_means)[:rows]


@partial(jax.jit, static_argnames="model")
def _at_all(model: Model, positions: jax.Array, rows: Rows) -> jax.Array:
    return jax.vmap(lambda position: model.log_likelihood_at(position, rows))(positions)
