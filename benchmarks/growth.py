"""How does the cost of a stream grow: with the rows before, with particles, parameters, islands?

    python -m benchmarks.growth               # all four, ten minutes
    python -m benchmarks.growth particles     # only this one, printed

Linear regression on a stream with a reservoir as its past; processor time on one core: of the first rows, which all
particles see again and again, and of a row over the second half of the stream. Writes results/growth.md and figures.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import sgais
from benchmarks.exponents import Curve, draw, exponent
from benchmarks.streams import CHUNK, RESERVOIR, endless_rows

RESULTS = Path(__file__).parent / "results"
REPORT = RESULTS / "growth.md"
ROWS = 1_000_000  # of a stream on which something else than rows is varied
FIRST_ROWS = 10_000
ISLANDS = 5  # that every number of particles is a multiple of
MANY, FEW = 10_000_000, 100_000  # rows whose costs are compared
LARGEST_RATIO = 1.1


class Costs(NamedTuple):
    """Of a stream.

    Attributes:
        start: Seconds for the first rows.
        per_row: For each size, microseconds per row from half of that many rows on.
    """

    start: float
    per_row: Curve


class Question(NamedTuple):
    """What is varied, in the words of the report, and the streams that answer it: their settings by what is varied."""

    words: str
    streams: dict[int, dict[str, Any]]


def costs(sizes: tuple[int, ...], dim: int = 5, **changes: Any) -> Costs:
    """The costs of one stream, which is taken in twice, and the second time counts: some programs are needed late."""
    for _ in range(2):
        found = _costs(sizes, dim, changes)
    print(f"{dim + 1} parameters, {changes}: {found}", flush=True)
    return found


def _costs(sizes: tuple[int, ...], dim: int, changes: dict[str, Any]) -> Costs:
    history = sgais.history.Reservoir(RESERVOIR)
    model, config = sgais.models.LinearRegression(dim=dim), sgais.Config(**changes)
    evidence = sgais.OnlineEvidence(model, config, history=history)
    spent: Curve = {0: 0.0}
    for rows, chunk in takewhile(lambda pair: pair[0] <= sizes[-1], _numbered(dim)):
        begun = time.process_time()
        evidence.update(chunk)
        spent[rows] = spent[rows - CHUNK] + time.process_time() - begun
    per_row = {size: 1e6 * (spent[size] - spent[size // 2]) / (size / 2) for size in sizes}
    return Costs(spent[FIRST_ROWS], per_row)


def _numbered(dim: int) -> Iterator[tuple[int, dict[str, object]]]:
    """Chunks, and how many rows there are with each."""
    for number, chunk in enumerate(endless_rows(dim=dim), start=1):
        yield number * CHUNK, dict(chunk)


QUESTIONS = {
    "particles": Question(
        "particles",
        {count: {"num_particles": count, "num_islands": ISLANDS} for count in (10, 30, 100, 300, 1000)},
    ),
    "parameters": Question("parameters", {dim + 1: {"dim": dim} for dim in (5, 11, 24, 49, 99, 199)}),
    "islands": Question("islands", {count: {"num_islands": count} for count in (2, 4, 8, 16, 32)}),
}


def rows_section() -> list[str]:
    """One stream, looked at on its way."""
    curve = costs((10_000, FEW, 1_000_000, MANY)).per_row
    return [
        "## Rows",
        "",
        "| rows seen before | µs per row |",
        "|---|---|",
        *(f"| {size:,} | {cost:.2f} |" for size, cost in curve.items()),
        "",
        f"Fitted exponent: {exponent(curve):.2f}. At {MANY:,} rows a row costs {curve[MANY] / curve[FEW]:.2f} times "
        f"what it costs at {FEW:,} (asked: at most {LARGEST_RATIO}).",
        "",
        *_figure("growth-rows", curve, "rows seen before", "µs per row"),
    ]


def section(name: str) -> list[str]:
    """Streams that differ in one setting."""
    words, streams = QUESTIONS[name]
    found = {size: costs((ROWS,), **settings) for size, settings in streams.items()}
    starts = {size: each.start for size, each in found.items()}
    per_row = {size: each.per_row[ROWS] for size, each in found.items()}
    return [
        f"## {words.capitalize()}",
        "",
        f"| {words} | first {FIRST_ROWS:,} rows, seconds | later, µs per row |",
        "|---|---|---|",
        *(f"| {size:,} | {starts[size]:.2f} | {per_row[size]:.2f} |" for size in found),
        "",
        f"Fitted exponents: {exponent(starts):.2f} and {exponent(per_row):.2f}.",
        "",
        *_figure(f"growth-{name}-start", starts, words, f"seconds for {FIRST_ROWS:,} rows"),
        *_figure(f"growth-{name}", per_row, words, "later, µs per row"),
    ]


def _figure(name: str, curve: Curve, across: str, up: str) -> list[str]:
    """Draw it beside the report."""
    draw(curve, across, up).savefig(RESULTS / f"{name}.png")
    return [f"![{up} against {across}]({name}.png)", ""]


def main(names: list[str]) -> None:
    """Measure and report."""
    sections = {"rows": rows_section} | {name: partial(section, name) for name in QUESTIONS}
    parts = [
        "# Growth",
        "",
        f"Linear regression, default settings but for what is varied, `sgais.history.Reservoir({RESERVOIR})`, chunks "
        f"of {CHUNK} rows; processor time on one core, nothing left to compile: of the first {FIRST_ROWS:,} rows, and "
        f"of a row over the second half of {ROWS:,} rows (or of those named). Printed by `make bench-growth`.",
        "",
        *(line for name in names or sections for line in sections[name]()),
    ]
    if not names:
        REPORT.write_text("\n".join(parts), encoding="utf-8")
    print("\n".join(parts))


if __name__ == "__main__":
    main(sys.argv[1:])
