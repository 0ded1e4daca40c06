"""`estimate`: the evidence of a data set at hand, in one call."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from sgais.cluster import Workers
from sgais.cluster.estimate import estimate_on
from sgais.errors import is_number, require
from sgais.estimators import laplace
from sgais.estimators.ais import estimator as ais
from sgais.estimators.ais.config import AISConfig
from sgais.estimators.annealing_config import PaperConfig
from sgais.estimators.default.config import Config
from sgais.estimators.laplace import LaplaceConfig
from sgais.estimators.nested import estimator as nested
from sgais.estimators.nested.estimator import NestedConfig
from sgais.fields import Chunk, check_chunk, infer_fields, num_rows
from sgais.history.memory import Memory
from sgais.models.base import Model, ModelLike, real_dtype, require_model
from sgais.models.reading import ReadingModel, read
from sgais.online import OnlineEvidence
from sgais.progress import Progress, Report, progress_bar, silent
from sgais.results.result import COMPLETE, Result
from sgais.streams.whole import whole
from sgais.verdict import Verdict

RECORDS = 100  # points of the evidence curve of a large data set
SMALLEST_CHUNK = 500  # rows
SHUFFLE = 104_729  # a purpose of random numbers, unlike those of estimators
ALL = "all"


class Method(NamedTuple):
    """A way to estimate the evidence: its parameters, and what runs it."""

    config_types: tuple[type, ...]  # the first is the default
    run: Callable[[Model, Chunk, Any, int, Report], Result]


@overload
def estimate(
    model: ModelLike,
    data: object,
    method: Literal["sgais", "ais", "nested", "laplace"] = "sgais",
    config: object | None = None,
    seed: int = 0,
    progress: bool = False,
    shuffle: bool | None = None,
    max_seconds: float | None = None,
    workers: Workers | None = None,
) -> Result: ...
@overload
def estimate(
    model: ModelLike,
    data: object,
    method: Literal["all"],
    config: object | None = None,
    seed: int = 0,
    progress: bool = False,
    shuffle: bool | None = None,
    max_seconds: float | None = None,
    workers: None = None,
) -> Verdict: ...
@overload
def estimate(
    model: ModelLike,
    data: object,
    method: str,
    config: object | None = None,
    seed: int = 0,
    progress: bool = False,
    shuffle: bool | None = None,
    max_seconds: float | None = None,
    workers: Workers | None = None,
) -> Any: ...  # whoever computes the name of the method knows which of the two it is
def estimate(
    model: ModelLike,
    data: object,
    method: str = "sgais",
    config: object | None = None,
    seed: int = 0,
    progress: bool = False,
    shuffle: bool | None = None,
    max_seconds: float | None = None,
    workers: Workers | None = None,
) -> Result | Verdict:
    """Estimate the log evidence of `data` under `model`.

    Ctrl-C ends a run early; the result then says so in `status` and holds what there is.

    Args:
        model: As for `OnlineEvidence`.
        data: A dictionary of arrays with equal leading axis, one array (which means `{"y": array}`), a data frame,
            rows, a stream or the path of a file: all rows are read into memory.
        method: "sgais", or one that takes the whole data set at once: "ais" (annealed importance sampling),
            "nested" (nested sampling), "laplace" (Laplace's approximation with importance sampling). "all" runs the
            four, one after the other, and returns a `Verdict`: who agrees with whom, and which number to believe.
        config: The method's parameters: `sgais.Config`, `AISConfig`, `NestedConfig`, `LaplaceConfig`; its
            defaults if omitted. For "all" a dictionary of them by method.
        seed: Determines every random number, the order of shuffled rows included.
        progress: Whether to show a progress bar with the time left.
        shuffle: Whether "sgais" takes the rows in a random order, which log Z of all rows does not depend on, and which
            spares it the changes that data may have in time. The curve in `records` is then that of the shuffled
            rows: say False where the curve in time is wanted. None, the default, shuffles, but for `Config.paper()`:
            the published algorithm takes rows as they come, nothing added, and its streams are random as it is.
        max_seconds: Time after which "ais", "nested" and "laplace", each, stop with what they have; for "all" too.
            "sgais" has no such limit: it takes about one pass.
        workers: `sgais.cluster.Local`, who read the rows and add them up, so that no process holds all of them. For
            "laplace", on Parquet files: `data` is a path, or `sgais.cluster.shards(path, x=...)`.

    Example:
        >>> data = sgais.simulate.linear_regression(200, dim=2).data
        >>> model = sgais.models.LinearRegression(dim=2)
        >>> result = sgais.estimate(model, data)
        >>> abs(result.log_evidence - model.log_evidence(data)) < 0.3
        True
    """
    require(method in METHODS or method == ALL, "method", f"be one of {sorted(METHODS)} or 'all'", method)
    require(shuffle is None or isinstance(shuffle, bool), "shuffle", "be True, False or None", shuffle)
    is_time = max_seconds is None or (is_number(max_seconds) and max_seconds > 0)
    require(is_time, "max_seconds", "be None or positive", max_seconds)
    if workers is not None:
        require(method == "laplace", "method", "be 'laplace' with workers", method, "The others want all rows at hand.")
        with _shown(method, progress) as report:
            return estimate_on(workers, model, data, _checked(method, "config", config, max_seconds), seed, report)
    if method != ALL:
        cure = 'It takes about one pass; max_seconds is for the others and for "all".'
        require(method != "sgais" or max_seconds is None, "max_seconds", 'be None for "sgais"', max_seconds, cure)
        settings = _checked(method, "config", config, max_seconds)
        bound, chunk = _prepare(model, data)
        with _shown(method, progress) as report:
            return _run(method, bound, chunk, settings, seed, report, shuffle)
    configs = _checked_all({} if config is None else config, max_seconds)
    return _run_all(*_prepare(model, data), configs, seed, progress, shuffle)


def _checked(method: str, name: str, config: object | None, max_seconds: float | None) -> Any:
    """The method's parameters: those given, or its defaults; with a limit in time where it has one."""
    config_types, _ = METHODS[method]
    found: Any = config_types[0]() if config is None else config
    require(isinstance(found, config_types), name, f"be a sgais.{config_types[0].__name__}", found)
    has_limit = max_seconds is not None and hasattr(found, "max_seconds")
    return dataclasses.replace(found, max_seconds=max_seconds) if has_limit else found


def _checked_all(configs: Any, max_seconds: float | None) -> dict[str, Any]:
    """The parameters of every method."""
    rule = "be a dictionary of configs by method where method is 'all'"
    require(isinstance(configs, Mapping), "config", rule, configs)
    require(set(configs) <= set(METHODS), "config", f"have keys among {sorted(METHODS)}", list(configs))
    return {one: _checked(one, f"config[{one!r}]", configs.get(one), max_seconds) for one in ORDER}


def _run(
    method: str, model: Model, chunk: Chunk, config: Any, seed: int, report: Report, shuffle: bool | None
) -> Result:
    if method != "sgais":
        return METHODS[method].run(model, chunk, config, seed, report)
    is_shuffled = not isinstance(config, PaperConfig) if shuffle is None else shuffle
    return _run_sgais(model, chunk, config, seed, report, is_shuffled)


def _run_all(
    model: Model, chunk: Chunk, configs: Mapping[str, Any], seed: int, progress: bool, shuffle: bool | None
) -> Verdict:
    """One method after the other, the quick ones first; Ctrl-C keeps those that are done."""
    results: dict[str, Result] = {}
    for number, (method, config) in enumerate(configs.items(), start=1):
        start = time.perf_counter()
        try:
            with _shown(f"{method} ({number} of {len(configs)})", progress) as report:
                results[method] = _run(method, model, chunk, config, seed, report, shuffle)
        except KeyboardInterrupt:
            results[method] = _nothing(method, "interrupted before there was anything", time.perf_counter() - start)
        except Exception as error:  # one method's failure is not that of the others
            why = f"failed: {type(error).__name__}: {error}".splitlines()[0].rstrip(".")
            results[method] = _nothing(method, why, time.perf_counter() - start)
        if results[method].status.startswith("interrupted"):
            break
    return Verdict(results, tuple(method for method in configs if method not in results))


def _nothing(method: str, status: str, seconds: float) -> Result:
    """The result of a method that has none."""
    nan = float("nan")
    return Result(method, nan, nan, (), {}, np.empty(0), 0, seconds, status=status)


def _shown(title: str, progress: bool) -> AbstractContextManager[Report]:
    return progress_bar(title) if progress else nullcontext(silent)


def _prepare(model: ModelLike, data: object) -> tuple[Model, Chunk]:
    """The model and the data, checked against each other."""
    require_model(model)
    fields = model.source_fields if isinstance(model, ReadingModel) else model.fields
    reader, arrays = read(model, None, whole(data, fields), model.fields)
    chunk = check_chunk(arrays, model.fields or infer_fields(arrays), real_dtype())
    bound = model.bind(chunk) if reader is None else reader.model
    bound.check_log_likelihood(chunk)
    return bound, chunk


def _run_sgais(
    model: Model,
    chunk: Chunk,
    config: Config | PaperConfig,
    seed: int,
    report: Report,
    is_shuffled: bool = False,
) -> Result:
    start, total = time.perf_counter(), num_rows(chunk)
    evidence = OnlineEvidence(model, config, seed, Memory(expected_rows=total))
    order = np.random.default_rng([seed, SHUFFLE]).permutation(total) if is_shuffled else None
    doubts = []
    try:
        for part in _parts(chunk, config.chunk_size or max(SMALLEST_CHUNK, total // RECORDS), order):
            record = evidence.update(part)
            done = record.num_rows / total
            seconds_left = (time.perf_counter() - start) * (1 / done - 1)
            beware = ", BEWARE" if record.warning else ""
            report(Progress(done, seconds_left, f"log Z per row {record.log_evidence / record.num_rows:.4f}{beware}"))
    except KeyboardInterrupt:
        doubts.append(f"interrupted after {evidence.num_rows} of {total} rows; log Z is that of these rows")
    if evidence.warning:
        doubts.append(f"not to be trusted: {evidence.warning}")
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
        status="; ".join(doubts) or COMPLETE,
    )


def _parts(chunk: Chunk, size: int, order: np.ndarray | None) -> Iterator[Chunk]:
    """The rows in parts; shuffled part by part, so that there is never a second copy of them all."""
    for start in range(0, num_rows(chunk), size):
        some = slice(start, start + size) if order is None else order[start : start + size]
        yield {name: values[some] for name, values in chunk.items()}


METHODS = {
    "sgais": Method((Config, PaperConfig), _run_sgais),
    "ais": Method((AISConfig,), ais.run),
    "nested": Method((NestedConfig,), nested.run),
    "laplace": Method((LaplaceConfig,), laplace.run),
}
ORDER = ("sgais", "laplace", "ais", "nested")  # of "all": those that take longest come last
