"""How does the cost of a row grow: with the rows before it, with particles, parameters, islands?

    python -m benchmarks.growth               # all four, half an hour
    python -m benchmarks.growth particles     # only this one, printed

Linear regression on a stream with a reservoir as its past; processor time on one core, over the second half of the
rows, when everything is compiled. Writes results/growth.md and one figure for each.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import sys
import time
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import sgais
from benchmarks.exponents import Curve, draw, exponent
from benchmarks.streams import CHUNK, RESERVOIR, endless_rows

RESULTS = Path(__file__).parent / "results"
REPORT = RESULTS / "growth.md"
ROWS = 200_000  # of a stream on which something else than rows is varied
ISLANDS = 5  # that every number of particles is a multiple of
MANY, FEW = 10_000_000, 100_000  # rows whose costs are compared
LARGEST_RATIO = 1.1


class Question(NamedTuple):
    """What is varied, in the words of the report, and how its curve is found."""

    words: str
    curve: Callable[[], Curve]


def cost_per_row(num_rows: int, dim: int = 5, **changes: Any) -> float:
    """Microseconds, over the second half of the rows."""
    return next(iter(costs_per_row((num_rows,), dim, **changes).values()))


def costs_per_row(sizes: tuple[int, ...], dim: int = 5, **changes: Any) -> Curve:
    """For each size, microseconds per row from half of that many rows on: one stream for all sizes.

    The stream is taken in twice, and the second time counts: some programs are first needed late.
    """
    for _ in range(2):
        costs = _costs(sizes, dim, changes)
    for rows, cost in costs.items():
        print(f"{rows:,} rows, {dim + 1} parameters, {changes}: {cost:.2f} µs per row", flush=True)
    return costs


def _costs(sizes: tuple[int, ...], dim: int, changes: dict[str, Any]) -> Curve:
    history = sgais.history.Reservoir(RESERVOIR)
    model, config = sgais.models.LinearRegression(dim=dim), sgais.Config(**changes)
    evidence = sgais.OnlineEvidence(model, config, history=history)
    spent, costs, halves = 0.0, {}, {}
    for rows, chunk in takewhile(lambda pair: pair[0] <= sizes[-1], _numbered(dim)):
        start = time.process_time()
        evidence.update(chunk)
        spent += time.process_time() - start
        if 2 * rows in sizes:
            halves[2 * rows] = spent
        if rows in sizes:
            costs[rows] = 1e6 * (spent - halves[rows]) / (rows / 2)
    return costs


def _numbered(dim: int) -> Iterator[tuple[int, dict[str, object]]]:
    """Chunks, and how many rows there are with each."""
    for number, chunk in enumerate(endless_rows(dim=dim), start=1):
        yield number * CHUNK, dict(chunk)


QUESTIONS = {
    "rows": Question("rows seen before", lambda: costs_per_row((10_000, FEW, 1_000_000, MANY))),
    "particles": Question(
        "particles",
        lambda: {
            count: cost_per_row(ROWS, num_particles=count, num_islands=ISLANDS) for count in (10, 30, 100, 300, 1000)
        },
    ),
    "parameters": Question(
        "parameters", lambda: {dim + 1: cost_per_row(ROWS, dim) for dim in (5, 11, 24, 49, 99, 199)}
    ),
    "islands": Question(
        "islands", lambda: {count: cost_per_row(ROWS, num_islands=count) for count in (2, 4, 8, 16, 32)}
    ),
}


def section(name: str) -> list[str]:
    """Measure, draw, and put it into words."""
    words, curve = QUESTIONS[name].words, QUESTIONS[name].curve()
    figure = RESULTS / f"growth-{name}.png"
    draw(curve, words).savefig(figure)
    lines = [
        f"## {words.capitalize()}",
        "",
        f"| {words} | µs per row |",
        "|---|---|",
        *(f"| {size:,} | {cost:.2f} |" for size, cost in curve.items()),
        "",
        f"Fitted exponent: {exponent(curve):.2f}.",
    ]
    if MANY in curve:
        lines += ["", f"At {MANY:,} rows a row costs {curve[MANY] / curve[FEW]:.2f} times what it costs at {FEW:,}"]
        lines[-1] += f" (asked: at most {LARGEST_RATIO})."
    return [*lines, "", f"![{words}]({figure.name})", ""]


def main(names: list[str]) -> None:
    """Measure and report."""
    parts = [
        "# Growth",
        "",
        f"Linear regression, default settings but for what is varied, `sgais.history.Reservoir({RESERVOIR})`, chunks "
        f"of {CHUNK} rows; processor time per row over the second half of {ROWS:,} rows (or of those named), one core. "
        "Printed by `make bench-growth`.",
        "",
        *(line for name in names or QUESTIONS for line in section(name)),
    ]
    if not names:
        REPORT.write_text("\n".join(parts))
    print("\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
