"""The methods for data at hand: are they right, do they agree, and how much faster is SGAIS?

    python benchmarks/baselines.py                # everything that has not been measured yet, then the report
    python benchmarks/baselines.py speed          # only this part: accuracy, agreement or speed
    python benchmarks/baselines.py report         # only the report of what there is

Every run is one line of results/baselines.csv, so that interrupted work goes on where it stopped; delete lines to
measure them again. Data and estimate have the same seed. Single-threaded.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cores[int(os.environ.get("CORE", "0")) % len(cores)]})

import csv
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sgais

RESULTS = Path(__file__).parent / "results"
TABLE, REPORT = RESULTS / "baselines.csv", RESULTS / "baselines.md"
ACCURACY, AGREEMENT, SPEED = "accuracy", "agreement", "speed"
SPEED_ROWS = (10_000, 100_000, 1_000_000)
PATIENCE = 100.0  # seconds, after which a baseline is stopped and its time scaled
COMPLETE = "complete"
SMALLEST_P_VALUE = 1e-3  # of the insertion-order test of nested sampling


class Problem(NamedTuple):
    """A model and its data."""

    model: Any
    simulate: Callable[[int, int], sgais.simulate.Simulation]  # of the number of rows and the seed


PROBLEMS = {
    "linear": Problem(
        sgais.models.LinearRegression(dim=5), lambda rows, seed: sgais.simulate.linear_regression(rows, seed=seed)
    ),
    "logistic": Problem(
        sgais.models.LogisticRegression(dim=10, classes=4),
        lambda rows, seed: sgais.simulate.logistic_regression(rows, seed=seed),
    ),
    "mixture, K = 3": Problem(
        sgais.models.GaussianMixture(components=3, dim=2),
        lambda rows, seed: sgais.simulate.gaussian_mixture(rows, components=3, seed=seed),
    ),
    "mixture, K = 5": Problem(
        sgais.models.GaussianMixture(components=5, dim=2),
        lambda rows, seed: sgais.simulate.gaussian_mixture(rows, seed=seed),
    ),
}


class Task(NamedTuple):
    """One run to be made: a line of the table."""

    part: str
    problem: str
    rows: int
    method: str
    seed: int


class Run(NamedTuple):
    """One line of the table."""

    part: str
    problem: str
    rows: int
    method: str
    seed: int
    log_evidence: float
    standard_error: float
    exact: float  # NaN where it is not known
    seconds: float
    iterations: int  # of nested sampling; temperatures of AIS; chunks of SGAIS
    status: str

    @property
    def task(self) -> Task:
        """What it was asked to do."""
        return Task(*self[:5])

    @property
    def error(self) -> float:
        """Against the exact log evidence, in nats."""
        return self.log_evidence - self.exact


class Ratio(NamedTuple):
    """A published speed-up of SGAIS at a million rows."""

    problem: str
    method: str
    published: float


# In this order, so that what takes longest is measured last.
RATIOS = (
    Ratio("linear", "nested", 3.3),
    Ratio("linear", "ais", 24.9),
    Ratio("logistic", "nested", 10.4),
    Ratio("mixture, K = 5", "nested", 4.9),
)
PAPER_CONFIGS: dict[str, Callable[[], object]] = {
    "sgais": sgais.Config.paper,
    "nested": lambda: sgais.NestedConfig.paper(max_seconds=PATIENCE),
    "ais": lambda: sgais.AISConfig.paper(max_seconds=PATIENCE),
}
# One iteration, which compiles what the true run needs.
WARM_UP_CONFIGS: dict[str, Callable[[], object]] = {
    "sgais": sgais.Config.paper,
    "nested": lambda: sgais.NestedConfig.paper(max_iterations=1),
    "ais": lambda: sgais.AISConfig.paper(schedule=(1.0,)),
}


def tasks() -> Iterable[Task]:
    """Everything there is to measure."""
    for problem, method in dict.fromkeys((ratio.problem, ratio.method) for ratio in RATIOS):
        for rows in SPEED_ROWS:
            yield Task(SPEED, problem, rows, "sgais", 0)
            yield Task(SPEED, problem, rows, method, 0)
    for rows in (1000, 10_000):
        for method in ("laplace", "ais", "nested"):
            for seed in range(5):
                yield Task(ACCURACY, "linear", rows, method, seed)
    for problem in ("mixture, K = 3", "logistic"):
        for seed in range(3):
            for method in ("laplace", "ais", "nested"):
                yield Task(AGREEMENT, problem, 1000, method, seed)


def run(task: Task) -> Run:
    """One estimate: with the published settings where speed is measured, else with the defaults."""
    model, simulate = PROBLEMS[task.problem]
    data = simulate(task.rows, task.seed).data
    config = None
    if task.part == SPEED:
        config = PAPER_CONFIGS[task.method]()
        # Two chunks are all the shapes that SGAIS will see; the others compile for the size of their data.
        rows = 1000 if task.method == "sgais" else task.rows
        first_rows = {name: values[:rows] for name, values in data.items()}
        sgais.estimate(model, first_rows, method=task.method, config=WARM_UP_CONFIGS[task.method]())
    result = sgais.estimate(model, data, method=task.method, config=config, seed=task.seed)
    exact = model.log_evidence(data) if hasattr(model, "log_evidence") else float("nan")
    return Run(
        *task,
        result.log_evidence,
        result.standard_error,
        exact,
        result.seconds,
        len(result.records),
        result.status if task.part == SPEED else _status(result),
    )


def _status(result: sgais.Result) -> str:
    """The result's own, and the alarm of nested sampling, which it leaves to the reader of its diagnostics."""
    p_value = result.diagnostics.get("insertion_p_value", 1.0)
    if result.status == COMPLETE and p_value < SMALLEST_P_VALUE:
        return f"insertion p-value {p_value:.1g}, the moves are too short"
    return result.status


def measured() -> list[Run]:
    """The lines so far."""
    if not TABLE.exists():
        return []
    with TABLE.open() as file:
        return [Run(*(Run.__annotations__[name](line[name]) for name in Run._fields)) for line in csv.DictReader(file)]


def append(line: Run) -> None:
    """Add a line, and the names of the columns before the first."""
    RESULTS.mkdir(exist_ok=True)
    is_new = not TABLE.exists()
    with TABLE.open("a", newline="") as file:
        writer = csv.DictWriter(file, Run._fields)
        if is_new:
            writer.writeheader()
        writer.writerow(line._asdict())


def report(runs: list[Run]) -> str:
    """All tables."""
    parts = [
        "# Annealed importance sampling, nested sampling and Laplace",
        "",
        "Single-threaded on one of 2 cores, data and estimate of the same seed. Printed by `make bench-baselines`; "
        "every run is a line of `baselines.csv`.",
        "",
        "## Against the exact evidence",
        "",
        "Linear regression, 5 features, default settings. Asked: AIS and nested sampling within 2 nats and within 3 of "
        "their own standard errors, Laplace within 0.001 nat (its errors are those of float32, which its standard "
        "error does not know). The median time leaves out compilation.",
        "",
        *_accuracy([run for run in runs if run.part == ACCURACY]),
        "",
        "## Against each other",
        "",
        "N = 1000, default settings: linear regression as above, logistic regression with 10 features and 4 classes, "
        "Gaussian mixture of 3 components in 2 dimensions. A difference has the standard errors of both methods.",
        "",
        *_agreement(runs),
        "",
        "## Speed with the published settings",
        "",
        "`Config.paper()` against `NestedConfig.paper()` and `AISConfig.paper()`, one seed, compilation not counted. A "
        f"baseline is stopped after {PATIENCE:.0f} seconds. What it needs is then scaled: seconds per iteration as "
        "measured at that size, times the iterations that it took at smaller sizes. More rows need more iterations, so "
        'that the true ratio is larger: "at least". Nested sampling with two live points is stuck where both are the '
        "same point and the contour has become too narrow for steps of fixed length; it has no result then, and its "
        "time until there is a lower bound, too.",
        "",
        *_speed([run for run in runs if run.part == SPEED]),
    ]
    return "\n".join(parts) + "\n"


def _accuracy(runs: list[Run]) -> list[str]:
    table = [
        "| method | rows | seeds | largest error (nats) | largest error in its own errors | mean error (nats) "
        "| mean claimed error | seconds (median) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method, rows in dict.fromkeys((run.method, run.rows) for run in runs):
        chosen = [run for run in runs if (run.method, run.rows) == (method, rows)]
        errors = np.array([run.error for run in chosen])
        claimed = np.array([run.standard_error for run in chosen])
        largest, in_errors = np.abs(errors).max(), np.abs(errors / claimed).max()
        seconds = np.median([run.seconds for run in chosen])
        table.append(
            f"| {method} | {rows:,} | {len(chosen)} | {largest:.2g} | {in_errors:.1f} | {errors.mean():+.2g} "
            f"| {claimed.mean():.2g} | {seconds:.1f} |"
        )
    return table


def _agreement(runs: list[Run]) -> list[str]:
    table = [
        "| problem | methods | seeds | differences (nats) | in standard errors |",
        "|---|---|---|---|---|",
    ]
    small = [run for run in runs if run.part != SPEED and run.rows == 1000]
    for problem in dict.fromkeys(run.problem for run in small):
        for first, second in (("nested", "laplace"), ("ais", "laplace"), ("nested", "ais")):
            pairs = [
                (one, other)
                for one in small
                for other in small
                if (one.problem, one.method) == (problem, first) and other.task == one.task._replace(method=second)
            ]
            if pairs:
                table.append(f"| {problem} | {first} - {second} | {len(pairs)} | {_differences(pairs)} |")
    doubtful = [run for run in small if run.status != COMPLETE]
    return [*table, "", *(f"- {run.problem}, {run.method}, seed {run.seed}: {run.status}." for run in doubtful)]


def _differences(pairs: list[tuple[Run, Run]]) -> str:
    differences = np.array([one.log_evidence - other.log_evidence for one, other in pairs])
    errors = np.array([np.hypot(one.standard_error, other.standard_error) for one, other in pairs])
    in_nats = ", ".join(f"{value:+.2f}" for value in differences)
    in_errors = ", ".join(f"{value:+.1f}" for value in differences / errors)
    return f"{in_nats} | {in_errors}"


def _speed(runs: list[Run]) -> list[str]:
    table = [
        "| problem | rows | SGAIS, seconds | against | seconds | iterations | and ended | seconds it needs | ratio "
        "| published |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for problem, method, published in RATIOS:
        for rows in SPEED_ROWS:
            ours, theirs = (_find(runs, Task(SPEED, problem, rows, name, 0)) for name in ("sgais", method))
            if ours is None or theirs is None:
                continue
            bound = "" if theirs.status == COMPLETE else "at least "
            seconds = theirs.seconds / theirs.iterations * _iterations_needed(runs, theirs)
            table.append(
                f"| {problem} | {rows:,} | {ours.seconds:.2f} | {method} | {theirs.seconds:.1f} | {theirs.iterations} "
                f"| {_ending(theirs)} | {bound}{seconds:.1f} | {bound}{seconds / ours.seconds:.1f} "
                f"| {published if rows == max(SPEED_ROWS) else ''} |"
            )
    return table


def _ending(run: Run) -> str:
    if run.status == COMPLETE:
        return COMPLETE
    return "stuck" if run.status.startswith("stuck") else "out of time"


def _find(runs: list[Run], task: Task) -> Run | None:
    return next((run for run in runs if run.task == task), None)


def _iterations_needed(runs: list[Run], unfinished: Run) -> int:
    """Those of the run itself if it finished, else no fewer than at any smaller size."""
    smaller = [
        run.iterations
        for run in runs
        if run.task._replace(rows=unfinished.rows) == unfinished.task and run.rows < unfinished.rows
    ]
    return unfinished.iterations if unfinished.status == COMPLETE else max([unfinished.iterations, *smaller])


def main(parts: list[str]) -> None:
    """Measure what is missing, then report."""
    known = {run.task for run in measured()}
    for task in tasks():
        if task not in known and task.part in (parts or (ACCURACY, AGREEMENT, SPEED)):
            known.add(task)
            append(run(task))
            print(measured()[-1], flush=True)
    REPORT.write_text(report(measured()))
    print(REPORT.read_text())


if __name__ == "__main__":
    main(sys.argv[1:])
