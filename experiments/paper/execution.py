"""How a run is made: estimate, thin out the records, and say how it ended."""

import math
import platform
import warnings
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import sgais
from experiments.paper import settings
from experiments.paper.problems import Columns, first_rows, model_of, simulation_of
from experiments.paper.task import Task

COMPLETE, STUCK, OUT_OF_TIME, DOUBTFUL, FAILED = "complete", "stuck", "out of time", "doubtful", "failed"
POINTS_PER_DECADE = 25
DIGITS = 6  # behind the point, of what a curve keeps
WARM_UP_ROWS = 20_000  # within which the default sees both of its phases
GOOD_REFERENCE = 0.1  # nats


class Point(NamedTuple):
    """A point of an evidence curve, and what the chunks since the point before it took."""

    rows: int
    log_evidence: float
    standard_error: float
    seconds: float  # since the start
    chunks: int
    annealing_steps: float  # per chunk, mean
    most_annealing_steps: int  # of one chunk
    moves: float  # per chunk, mean
    weight_ess: float  # at this point


class Outcome(NamedTuple):
    """What came out of a run."""

    log_evidence: float
    standard_error: float
    seconds: float
    ending: str
    status: str  # the method's own words
    iterations: int  # chunks, temperatures, or deaths of a live point
    points: list[Point]


def execute(task: Task, limit: float) -> Outcome:
    """Make a run; stop it soon after `limit` seconds. One that fails says so, and the others go on."""
    try:
        return _execute(task, limit)
    except sgais.SgaisError as error:
        return Outcome(math.nan, math.nan, math.nan, FAILED, str(error), 0, [])


def _execute(task: Task, limit: float) -> Outcome:
    simulation = simulation_of(task.problem, task.data_rows, task.data_set)
    model, data = model_of(task.problem, task.parameters), first_rows(simulation.data, task.rows)
    if task.method == settings.REFERENCE:
        return _reference(model, data, simulation.parameters, limit)
    if task.method in (settings.PAPER, settings.DEFAULT):
        return _stream(model, data, task, limit)
    return _whole(model, data, task, limit)


def versions() -> dict[str, str]:
    """What a run was made with."""
    libraries = {name: version(name) for name in ("jax", "numpyro", "numpy")}
    return {"sgais": sgais.__version__, **libraries, "python": platform.python_version(), "processor": _processor()}


def ending_of(status: str) -> str:
    """The method's own words, in one of four."""
    if status == COMPLETE:
        return COMPLETE
    if status.startswith("stuck"):
        return STUCK
    return OUT_OF_TIME if status.startswith(("stopped after", "out of time")) else DOUBTFUL


def sgais_config(task: Task) -> Any:
    """Ours, or the published parameters and what the task changes of them."""
    if task.method == settings.DEFAULT:
        return sgais.Config(chunk_size=int(settings.PUBLISHED["batch_size"]))
    chosen = settings.PUBLISHED | {name: value for name, value in task.parameters.items() if name != "components"}
    return sgais.Config.paper(
        num_particles=int(chosen["num_particles"]),
        target_ess_fraction=chosen["target_ess_fraction"],
        batch_size=int(chosen["batch_size"]),
        chunk_size=int(chosen["batch_size"]),
        kernel=sgais.SGHMC(learning_rate=chosen["learning_rate"], num_steps=int(chosen["num_steps"])),
    )


def _stream(model: Any, data: Columns, task: Task, limit: float) -> Outcome:
    """SGAIS, chunk by chunk, so that one run is the whole curve."""
    config = sgais_config(task)
    if task.timed:
        rows = 2 * config.chunk_size if task.method == settings.PAPER else WARM_UP_ROWS
        sgais.estimate(model, first_rows(data, rows), config=config, seed=task.seed)
    evidence, seconds, status = sgais.OnlineEvidence(model, config, seed=task.seed), 0.0, COMPLETE
    for chunk in sgais.stream(data, config.chunk_size):
        seconds += evidence.update(chunk).seconds
        if seconds > limit and evidence.num_rows < task.rows:
            status = f"out of time after {evidence.num_rows} rows"
            break
    records = evidence.records
    if status == COMPLETE and records[-1].warning:
        status = records[-1].warning
    return Outcome(
        evidence.log_evidence,
        evidence.standard_error,
        seconds,
        ending_of(status),
        status,
        len(records),
        thinned(records),
    )


def thinned(records: Iterable[Any]) -> list[Point]:
    """The points that a logarithmic axis can tell apart, round numbers of rows, and the last one."""
    points: list[Point] = []
    waiting: list[Any] = []
    seconds, interval, records = 0.0, -1, list(records)
    for record in records:
        waiting.append(record)
        seconds += record.seconds
        here = int(POINTS_PER_DECADE * math.log10(record.num_rows))
        if here != interval or _is_round(record.num_rows) or record is records[-1]:
            interval = here
            points.append(_point(waiting, seconds))
            waiting = []
    return points


def _point(since: list[Any], seconds: float) -> Point:
    last, chunks = since[-1], len(since)
    return Point(
        last.num_rows,
        round(last.log_evidence, DIGITS),
        round(last.standard_error, DIGITS),
        round(seconds, DIGITS),
        chunks,
        round(sum(record.annealing_steps for record in since) / chunks, DIGITS),
        max(record.annealing_steps for record in since),
        round(sum(record.num_moves for record in since) / chunks, DIGITS),
        round(last.weight_ess, DIGITS),
    )


def _is_round(rows: int) -> bool:
    """Whether one digit and zeros write it: the sizes at which other methods are run are such."""
    return not str(rows)[1:].strip("0")


def _whole(model: Any, data: Columns, task: Task, limit: float) -> Outcome:
    """AIS and nested sampling, which see all rows at once."""
    method = "ais" if task.method in (settings.AIS, settings.AIS_DEFAULT) else "nested"
    configs: dict[str, Any] = {
        settings.AIS: lambda **changes: sgais.AISConfig.paper(**changes),
        settings.NESTED: lambda **changes: sgais.NestedConfig.paper(**changes),
        settings.AIS_DEFAULT: sgais.AISConfig,
        settings.NESTED_DEFAULT: sgais.NestedConfig,
    }
    config = configs[task.method]
    if task.timed:  # one iteration compiles what the true run needs
        first: dict[str, Any] = {"schedule": (1.0,)} if method == "ais" else {"max_iterations": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the weights of one iteration may well be useless
            sgais.estimate(model, data, method=method, config=config(**first), seed=task.seed)
    return _outcome(
        sgais.estimate(model, data, method=method, config=config(max_seconds=limit), seed=task.seed),
    )


def _reference(model: Any, data: Columns, parameters: dict[str, Any], limit: float) -> Outcome:
    """Exact where a formula is known, else Laplace with importance sampling.

    One of its starts are the parameters that the data were drawn with, so that it cannot miss the best mode.
    """
    if hasattr(model, "log_evidence"):
        return Outcome(float(model.log_evidence(data)), 0.0, 0.0, COMPLETE, COMPLETE, 0, [])
    many = len(next(iter(data.values()))) > 500_000  # most often so near the Gaussian limit that few draws do
    few: dict[str, Any] = {"num_starts": 4, "max_rounds": 1, "max_draws": 2000}
    for chosen in ([few] if many else []) + [{}]:
        config = sgais.LaplaceConfig(starts=(parameters,), max_seconds=limit, **chosen)
        outcome = _outcome(sgais.estimate(model, data, method="laplace", config=config))
        if outcome.ending == COMPLETE and outcome.standard_error < GOOD_REFERENCE:
            return outcome
    is_doubtful = outcome.ending == COMPLETE
    return outcome._replace(ending=DOUBTFUL, status="no reference: its error is too large") if is_doubtful else outcome


def _outcome(result: sgais.Result) -> Outcome:
    return Outcome(
        result.log_evidence,
        result.standard_error,
        result.seconds,
        ending_of(result.status),
        result.status,
        len(result.records),
        [],
    )


def _processor() -> str:
    """Its name, since seconds mean nothing without it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
