"""`estimate`: the evidence of a data set at hand, in one call."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from sgais.errors import require
from sgais.estimators import ais, laplace, nested
from sgais.estimators.ais import AISConfig
from sgais.estimators.config import Config
from sgais.estimators.laplace import LaplaceConfig
from sgais.estimators.nested import NestedConfig
from sgais.estimators.paper import PaperConfig
from sgais.estimators.progress import Progress, Report, silent
from sgais.estimators.result import COMPLETE, Result
from sgais.fields import Chunk, as_arrays, check_chunk, infer_fields, num_rows
from sgais.history.memory import Memory
from sgais.model import Model, real_dtype
from sgais.online import Bindable, OnlineEvidence
from sgais.progress_bar import progress_bar
from sgais.streams import stream

RECORDS = 100  # points of the evidence curve of a large data set
SMALLEST_CHUNK = 500  # rows


class Method(NamedTuple):
    """A way to estimate the evidence: its parameters, and what runs it."""

    config_types: tuple[type, ...]  # the first is the default
    run: Callable[[Model, Chunk, Any, int, Report], Result]


def estimate(
    model: Bindable,
    data: object,
    method: str = "sgais",
    config: object | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Result:
    """Estimate the log evidence of `data` under `model`.

    Ctrl-C ends a run early; the result then says so in `status` and holds what there is.

    Args:
        model: As for `OnlineEvidence`.
        data: A dictionary of arrays with equal leading axis, or one array (which means `{"y": array}`).
        method: "sgais", or one that takes the whole data set at once: "ais" (annealed importance sampling),
            "nested" (nested sampling), "laplace" (Laplace's approximation with importance sampling).
        config: The method's parameters: `sgais.Config`, `AISConfig`, `NestedConfig`, `LaplaceConfig`; its
            defaults if omitted.
        seed: Determines every random number.
        progress: Whether to show a progress bar with the time left.
    """
    require(method in METHODS, "method", f"be one of {sorted(METHODS)}", method)
    config_types, run = METHODS[method]
    config = config_types[0]() if config is None else config
    require(isinstance(config, config_types), "config", f"be a sgais.{config_types[0].__name__}", config)
    bound, chunk = _prepare(model, data)
    if not progress:
        return run(bound, chunk, config, seed, silent)
    with progress_bar(method) as report:
        return run(bound, chunk, config, seed, report)


def _prepare(model: Bindable, data: object) -> tuple[Model, Chunk]:
    """The model and the data, checked against each other."""
    require(
        hasattr(model, "bind"), "model", "be a sgais.Model", model, "Wrap a NumPyro function in sgais.from_numpyro."
    )
    arrays = as_arrays(data)
    fields = model.fields if isinstance(model, Model) else None
    chunk = check_chunk(arrays, fields or infer_fields(arrays), real_dtype())
    bound = model.bind(chunk)
    bound.check_log_likelihood(chunk)
    return bound, chunk


def _run_sgais(model: Model, chunk: Chunk, config: Config | PaperConfig, seed: int, report: Report) -> Result:
    start, total = time.perf_counter(), num_rows(chunk)
    evidence = OnlineEvidence(model, config, seed, Memory(expected_rows=total))
    status = COMPLETE
    try:
        for part in stream(chunk, config.chunk_size or max(SMALLEST_CHUNK, total // RECORDS)):
            record = evidence.update(part)
            done = record.num_rows / total
            seconds_left = (time.perf_counter() - start) * (1 / done - 1)
            report(Progress(done, seconds_left, f"log Z per row {record.log_evidence / record.num_rows:.4f}"))
    except KeyboardInterrupt:
        status = f"interrupted after {evidence.num_rows} of {total} rows; log Z is that of these rows"
    return Result(
        method="sgais",
        log_evidence=evidence.log_evidence,
        standard_error=evidence.standard_error,
        records=evidence.records,
        particles=evidence.particles,
        log_weights=evidence.log_weights,
        num_rows=evidence.num_rows,
        seconds=time.perf_counter() - start,
        error_budget=evidence.error_budget,
        status=f"not to be trusted: {evidence.warning}" if evidence.warning and status == COMPLETE else status,
    )


METHODS = {
    "sgais": Method((Config, PaperConfig), _run_sgais),
    "ais": Method((AISConfig,), ais.run),
    "nested": Method((NestedConfig,), nested.run),
    "laplace": Method((LaplaceConfig,), laplace.run),
}
