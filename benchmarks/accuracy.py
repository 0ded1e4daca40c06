"""How accurate is the default, how honest are its error bars, and what does it cost?

    python -m benchmarks.accuracy                 # everything that has not been measured yet, then the report
    python -m benchmarks.accuracy mixture         # only this problem
    python -m benchmarks.accuracy mixture --most-rows 10000 --seeds 5   # the short ones first

Every run is one line of results/accuracy.csv, so that interrupted work goes on where it stopped; delete lines to
measure them again. Truths have a table of their own, references.csv, for they do not depend on what is measured.
Data and estimate have the same seed. Single-threaded; the median time leaves out compilation.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cores[int(os.environ.get("CORE", "0")) % len(cores)]})

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sgais
from benchmarks.problems import PROBLEMS, Problem
from benchmarks.tables import append, read
from benchmarks.truths import truth
from benchmarks.yardstick import passes

RESULTS = Path(__file__).parent / "results"
TABLE, REPORT = RESULTS / "accuracy.csv", RESULTS / "accuracy.md"
SEEDS = range(10, 20)  # settings were never tried out on these
MIXTURE_SEEDS = range(10, 30)
COVERAGE_SEEDS = range(200)
CHUNK = 500
COLUMNS = ("problem", "seed", "rows", "log_evidence", "truth", "standard_error", "kernel_bias", "seconds", "warning")
YARDSTICK, PAPER = "yardstick", "paper"


class Measurement(NamedTuple):
    """A problem, and the numbers of rows at which log Z is compared with the truth."""

    problem: Problem
    rows: Sequence[int]
    seeds: range


CURVE = (500, 1000, 2500, 5000, 10_000)
MEASUREMENTS = {
    "linear": Measurement(PROBLEMS["linear"], (10_000, 100_000, 1_000_000), SEEDS),
    "auto-regression": Measurement(PROBLEMS["auto-regression"], (10_000, 100_000, 1_000_000), SEEDS),
    "logistic": Measurement(PROBLEMS["logistic"], (10_000, 100_000, 1_000_000), SEEDS),
    "mixture": Measurement(PROBLEMS["mixture"], (10_000, 100_000, 1_000_000), MIXTURE_SEEDS),
    "linear, coverage": Measurement(PROBLEMS["linear"], CURVE, COVERAGE_SEEDS),
    "auto-regression, coverage": Measurement(PROBLEMS["auto-regression"], CURVE, COVERAGE_SEEDS),
    PAPER: Measurement(PROBLEMS["linear"], (100_000,), range(5)),
}


def run(name: str, seed: int, rows: Sequence[int]) -> list[dict[str, Any]]:
    """One stream; its lines of the table, one for each of these numbers of rows."""
    problem, all_rows, _ = MEASUREMENTS[name]
    data, parameters = problem.simulate(all_rows[-1], seed=seed)  # other rows, if there were fewer
    config = sgais.Config.paper() if name == PAPER else sgais.Config()
    evidence = sgais.OnlineEvidence(problem.model, config, seed=seed)
    lines, seconds = [], 0.0
    for chunk in sgais.stream(data, CHUNK):
        record = evidence.update(chunk)
        seconds += record.seconds
        if record.num_rows in rows:
            lines.append(
                {
                    "problem": name,
                    "seed": seed,
                    "rows": record.num_rows,
                    "log_evidence": record.log_evidence,
                    "truth": truth(problem.model, name, seed, record.num_rows, data, parameters),
                    "standard_error": record.standard_error,
                    "kernel_bias": record.kernel_bias,
                    "seconds": seconds,
                    "warning": record.warning,
                }
            )
            print(lines[-1], flush=True)
        if record.num_rows >= rows[-1]:
            break
    return lines


def yardsticks() -> list[dict[str, Any]]:
    """Seconds per row of one pass of M likelihoods, for every problem, and of the paper's algorithm at this M."""
    particles, rows, lines = sgais.Config().num_particles, 100_000, []
    for name in PROBLEMS:
        seconds = passes(PROBLEMS[name].model, PROBLEMS[name].simulate(rows).data, particles, repeats=1).likelihood
        lines.append({"problem": YARDSTICK, "seed": name, "rows": rows, "seconds": seconds})
    config = sgais.Config.paper(num_particles=particles)
    model, data = PROBLEMS["linear"].model, sgais.simulate.linear_regression(20_000).data
    sgais.estimate(model, {column: values[:1000] for column, values in data.items()}, config=config)
    seconds = sgais.estimate(model, data, config=config).seconds
    lines.append({"problem": YARDSTICK, "seed": PAPER, "rows": 20_000, "seconds": seconds})
    return lines


def report(lines: list[dict[str, str]]) -> str:
    parts = [
        "# Accuracy of the default",
        "",
        "`sgais.Config()`, chunks of 500 rows, data and estimate of the same seed, one core. Printed by "
        "`make bench-accuracy`; every run is a line of `accuracy.csv`. Truth: exact for linear regression and "
        "auto-regression, Laplace with importance sampling for the others, or AIS with many particles where that fails "
        "at 10,000 rows (runs whose reference is not good to 0.1 nat are left out).",
        "",
        f"Seeds {SEEDS[0]} to {SEEDS[-1]}, of the mixture to {MIXTURE_SEEDS[-1]}: settings were not chosen on these "
        "data.",
        "",
        *_errors(lines),
        *_section("Coverage", _coverage(lines)),
        *_section("The kernel bias of a kernel with excess temperature", _heat(lines)),
    ]
    return "\n".join(parts) + "\n"


def _section(title: str, content: list[str]) -> list[str]:
    """Of what has been measured."""
    return ["", f"## {title}", "", *content] if content else []


def _of(lines: list[dict[str, str]], problem: str, rows: int) -> dict[str, np.ndarray]:
    seeds = MEASUREMENTS[problem].seeds
    chosen = [
        line
        for line in lines
        if line["problem"] == problem and line["rows"] == str(rows) and int(line["seed"]) in seeds
    ]
    numbers = {
        column: np.array([float(line[column]) for line in chosen])
        for column in ("log_evidence", "truth", "standard_error", "kernel_bias", "seconds")
    }
    usable = np.isfinite(numbers["truth"])
    numbers["error"] = numbers["log_evidence"] - numbers["truth"]
    return {column: values[usable] for column, values in numbers.items()} | {"runs": np.array(len(chosen))}


def _errors(lines: list[dict[str, str]]) -> list[str]:
    per_row = {
        line["seed"]: float(line["seconds"]) / float(line["rows"]) for line in lines if line["problem"] == YARDSTICK
    }
    table = [
        "| problem | rows | seeds | RMS error (nats) | asked | mean error | mean claimed error | seconds (median) "
        "| in passes of M likelihoods |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in PROBLEMS:
        for rows in MEASUREMENTS[name].rows:
            of = _of(lines, name, rows)
            if not len(of["error"]):
                continue
            seconds = float(np.median(of["seconds"]))
            passes = f"{seconds / (rows * per_row[name]):.1f}" if name in per_row else ""
            table.append(
                f"| {name} | {rows:,} | {len(of['error'])} of {of['runs']} | {_rms(of)} "
                f"| {PROBLEMS[name].target} | {of['error'].mean():+.2f} | {of['standard_error'].mean():.2f} "
                f"| {seconds:.1f} | {passes} |"
            )
    if PAPER in per_row and "linear" in per_row:
        default = float(np.median(_of(lines, "linear", 1_000_000)["seconds"])) / 1e6
        table += [
            "",
            f"On linear regression with N = 1e6 and the same M, a row costs the default {default * 1e6:.1f} µs and the "
            f"paper's algorithm {per_row[PAPER] * 1e6:.0f} µs.",
        ]
    return table


def _rms(of: dict[str, np.ndarray]) -> str:
    return f"{np.sqrt(np.mean(of['error'] ** 2)):.3f}" if len(of["error"]) else ""


def _coverage(lines: list[dict[str, str]]) -> list[str]:
    table = []
    for name in ("linear, coverage", "auto-regression, coverage"):
        for rows in CURVE:
            of = _of(lines, name, rows)
            if len(of["error"]):
                table.append(f"| {name.split(',')[0]} | {rows:,} | {len(of['error'])} | {_covered(of)} |")
    heading = ["How often the exact value lies within 1.96 errors.", "", "| problem | rows | seeds | covered |"]
    return [*heading, "|---|---|---|---|", *table] if table else []


def _covered(of: dict[str, np.ndarray]) -> str:
    return f"{np.mean(np.abs(of['error']) < 1.96 * of['standard_error']):.0%}"


def _heat(lines: list[dict[str, str]]) -> list[str]:
    of = _of(lines, PAPER, 100_000)
    if not len(of["error"]):
        return []
    return [
        "`Config.paper()`, linear regression, N = 1e5: mini-batch noise heats the moves.",
        "",
        "| seed | true error | reported kernel bias |",
        "|---|---|---|",
        *(
            f"| {seed} | {error:.0f} | {bias:.0f} |"
            for seed, (error, bias) in enumerate(zip(of["error"], of["kernel_bias"], strict=True))
        ),
    ]


def measure(names: Sequence[str], most_rows: int, most_seeds: int) -> None:
    known = {(line["problem"], line["seed"], line["rows"]) for line in read(TABLE)}
    for name in names or list(MEASUREMENTS):
        rows = [count for count in MEASUREMENTS[name].rows if count <= most_rows]
        for seed in MEASUREMENTS[name].seeds[:most_seeds]:
            missing = [count for count in rows if (name, str(seed), str(count)) not in known]
            if missing:
                append(TABLE, COLUMNS, run(name, seed, missing))
    if not names and not any(problem == YARDSTICK for problem, _, _ in known):
        append(TABLE, COLUMNS, yardsticks())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy")
    parser.add_argument("problems", nargs="*", help="of these alone")
    parser.add_argument("--most-rows", type=int, default=1_000_000, help="leave out longer streams")
    parser.add_argument("--seeds", type=int, default=len(COVERAGE_SEEDS), help="the first so many of each problem")
    parser.add_argument("--redraw", action="store_true", help="run nothing; the page from the runs that are kept")
    options = parser.parse_args()
    if not options.redraw:
        measure(options.problems, options.most_rows, options.seeds)
    REPORT.write_text(report(read(TABLE)))
    print(REPORT.read_text())


if __name__ == "__main__":
    main()
