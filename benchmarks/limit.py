"""How close is the default to the limit: one pass of M likelihoods and one of M gradients over a million rows?

And what does it take besides: memory, and the time until the first record.

    python -m benchmarks.limit            # all three problems
    python -m benchmarks.limit linear     # only this one

Single-threaded, compilation not counted. Writes results/limit.md.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import sgais
from benchmarks import memory, startup
from benchmarks.problems import PROBLEMS
from benchmarks.yardstick import passes

ROWS = 1_000_000
PARTICLES = 100
ISLANDS = 10  # a hundred particles are not a multiple of the default's eight
CHUNKS = (500, 5000, 50_000)
RUNS = 3
NAMES = ("linear", "logistic", "mixture")
ASKED = {"linear": "3"}  # times the limit, at most
LARGEST_MEMORY = 400  # megabytes above the data
START = {  # of `startup.Startup`: what it is, and seconds that it may take
    "library": ("`import sgais`", 1.5),
    "cold": ("the first record, nothing compiled before", 10.0),
    "warm": ("the first record, compiled programs on disk", 3.0),
}
REPORT = Path(__file__).parent / "results" / "limit.md"


def default_seconds(problem: str, data: dict[str, object], chunk_size: int) -> float:
    """Of a run over all rows: the median of three, after one in which everything was compiled."""
    config = sgais.Config(num_particles=PARTICLES, num_islands=ISLANDS, chunk_size=chunk_size)

    def run() -> float:
        start = time.perf_counter()
        sgais.estimate(PROBLEMS[problem].model, data, config=config)
        return time.perf_counter() - start

    run()
    return median(run() for _ in range(RUNS))


def multiples(problem: str) -> list[str]:
    """A line of the table for each size of chunks."""
    model, simulate, _ = PROBLEMS[problem]
    data = simulate(ROWS).data
    limit = passes(model, data, PARTICLES)
    lines = []
    for chunk_size in CHUNKS:
        seconds = default_seconds(problem, dict(data), chunk_size)
        lines.append(
            f"| {problem} | {chunk_size:,} | {limit.likelihood:.2f} | {limit.gradient:.2f} | {seconds:.2f} "
            f"| {seconds / limit.both:.1f} | {ASKED.get(problem, '')} |"
        )
        print(lines[-1], flush=True)
    return lines


def peaks(names: list[str]) -> list[str]:
    """A line of the table for each problem."""
    table = ["| problem | data (MB) | a run adds, all compiled anew | with compiled programs kept from before |"]
    table.append("|---|---|---|---|")
    for problem in names:
        with TemporaryDirectory() as programs:
            cold, warm = (memory.measure(problem, ROWS, programs) for _ in range(2))
        table.append(f"| {problem} | {cold.data:.0f} | {cold.of_run:.0f} | {warm.of_run:.0f} |")
        print(table[-1], flush=True)
    return table


def starts() -> list[str]:
    """A line of the table for each kind of start."""
    found = startup.measure()
    table = [
        "| from the start of Python to the end of | seconds | yardsticks | seconds, at most |",
        "|---|---|---|---|",
    ]
    table.append(f"| `import numpyro` and one trivial compilation: the yardstick | {found.yardstick:.2f} | 1 | |")
    for name, (words, most) in START.items():
        seconds = getattr(found, name)
        table.append(f"| {words} | {seconds:.2f} | {seconds / found.yardstick:.1f} | {most:g} |")
    return table


def main(names: list[str]) -> None:
    """Measure and report."""
    parts = [
        "# The limit",
        "",
        f"`sgais.Config(num_particles={PARTICLES}, num_islands={ISLANDS})` on {ROWS:,} rows, as a multiple of one "
        f"compiled pass of {PARTICLES} likelihoods and one of {PARTICLES} gradients over the same rows. One core, "
        f"medians of {RUNS} runs after one that compiles. Printed by `make bench-limit`.",
        "",
        "| problem | chunk size | likelihoods, seconds | gradients, seconds | default, seconds | multiple | at most |",
        "|---|---|---|---|---|---|---|",
        *(line for problem in names for line in multiples(problem)),
        "",
        "## Memory",
        "",
        f"Megabytes that a run of the default on {ROWS:,} rows adds to a process which holds the data, at its peak; "
        f"asked: at most {LARGEST_MEMORY}.",
        "",
        *peaks(names),
        "",
        "## Start",
        "",
        "Linear regression, 500 rows; processor time, the fastest of three.",
        "",
        *starts(),
    ]
    REPORT.write_text("\n".join(parts) + "\n")
    print(REPORT.read_text())


if __name__ == "__main__":
    main(sys.argv[1:] or list(NAMES))
