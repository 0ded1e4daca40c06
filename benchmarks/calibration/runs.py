"""One run: a problem, a method and a seed; what it said at each quarter of the rows. Kept as a line of JSON."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import sgais
from benchmarks.calibration.problem import Problem, length, plan
from benchmarks.calibration.suite import model_of, rows_of

SGAIS = "sgais"
METHODS = (SGAIS, "ais", "nested", "laplace")
DIGITS = 4  # of log Z that are kept


class Point(NamedTuple):
    """What a run said of its first rows."""

    rows: int
    log_evidence: float
    standard_error: float
    warning: str


class Run(NamedTuple):
    """A run: its points, or why it failed."""

    problem: str
    seed: int
    seconds: float
    points: tuple[Point, ...] = ()
    failure: str = ""


def run(problem: Problem, method: str, seed: int) -> Run:
    """Run a method once; an exception is a result, too."""
    start = time.perf_counter()
    try:
        points = _online(problem, seed) if method == SGAIS else _at_once(problem, method, seed)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return Run(problem.name, seed, time.perf_counter() - start, failure=failure)
    return Run(problem.name, seed, time.perf_counter() - start, points)


def _online(problem: Problem, seed: int) -> tuple[Point, ...]:
    """The rows in their order, chunk by chunk."""
    rows = rows_of(problem.name)
    cut = plan(length(rows))
    evidence = sgais.OnlineEvidence(model_of(problem.name), seed=seed)
    points = []
    for start in range(0, length(rows), cut.chunk):
        record = evidence.update({name: values[start : start + cut.chunk] for name, values in rows.items()})
        if record.num_rows in cut.checkpoints:
            points.append(Point(record.num_rows, record.log_evidence, record.standard_error, record.warning))
    return tuple(points)


def _at_once(problem: Problem, method: str, seed: int) -> tuple[Point, ...]:
    """All rows in one call, for methods that have no curve."""
    rows = rows_of(problem.name)
    result = sgais.estimate(model_of(problem.name), rows, method, seed=seed)
    warning = "" if result.is_complete else result.status
    return (Point(length(rows), float(result.log_evidence), float(result.standard_error), warning),)


class Store:
    """Runs in a folder: a file for each problem and method, a line for each run."""

    def __init__(self, folder: Path, method: str) -> None:
        self.folder, self.method = folder, method

    def path(self, problem: str) -> Path:
        """The file of a problem."""
        name = "".join(letter if letter.isalnum() else "-" for letter in problem.lower().replace(",", ""))
        return self.folder / f"{name}.{self.method}.jsonl"

    def read(self, problem: str) -> list[Run]:
        """All runs of a problem that are kept."""
        path = self.path(problem)
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [_from_line(problem, json.loads(line)) for line in lines]

    def append(self, done: Run) -> None:
        """Keep one more."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path(done.problem).open("a", encoding="utf-8") as file:
            file.write(json.dumps(_to_line(done)) + "\n")


def _to_line(done: Run) -> dict[str, Any]:
    points = [[p.rows, round(p.log_evidence, DIGITS), round(p.standard_error, DIGITS), p.warning] for p in done.points]
    line: dict[str, Any] = {"seed": done.seed, "seconds": round(done.seconds, 2), "points": points}
    return line | ({"failure": done.failure} if done.failure else {})


def _from_line(problem: str, line: dict[str, Any]) -> Run:
    points = tuple(Point(*point) for point in line["points"])
    return Run(problem, line["seed"], line["seconds"], points, line.get("failure", ""))
