"""Does memory stay bounded, does a row cost the same at the end of a long stream, and what does reading cost?

    python benchmarks/streams.py            # 1e7 rows, and Parquet against memory
    python benchmarks/streams.py 1e8        # as many rows as you like

Prints and writes results/streams-<rows>.md. Single-threaded. Costs per row are processor time, which other processes
on the machine disturb less than wall time; reading ahead is measured in wall time, since that is its point.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import sgais
from sgais.fields import Chunk

RESULTS = Path(__file__).parent / "results"
DIM = 5
CHUNK = 5000
RESERVOIR = 100_000
FIRST_LOOK = 1_000_000  # rows after which memory and cost are first taken
WINDOW = 1_000_000  # rows over which cost is averaged
ALTERNATIONS = 7  # of reading from memory and from a file


class ExactEvidence:
    """Linear regression's evidence from sums of float64, whatever the number of rows."""

    def __init__(self) -> None:
        self.rows, self.squares = 0, 0.0
        self.gram, self.moment = np.zeros((DIM + 1, DIM + 1)), np.zeros(DIM + 1)

    def add(self, chunk: Chunk) -> None:
        """Add a chunk's rows."""
        design = np.column_stack([chunk["x"], np.ones(len(chunk["y"]))]).astype(np.float64)
        y = chunk["y"].astype(np.float64)
        self.rows += len(y)
        self.squares += float(y @ y)
        self.gram += design.T @ design
        self.moment += design.T @ y

    def log_evidence(self) -> float:
        """Standard Gaussian priors, noise of scale 1."""
        precision = self.gram + np.eye(DIM + 1)
        fit = self.moment @ np.linalg.solve(precision, self.moment)
        log_determinant = np.linalg.slogdet(precision)[1]
        return float(-0.5 * (self.rows * np.log(2 * np.pi) + self.squares - fit + log_determinant))


def endless_rows(seed: int = 0, dim: int = DIM) -> Iterator[Chunk]:
    """Linear regression's rows, made as they are asked for."""
    generator = np.random.default_rng(seed)
    weights, bias = generator.normal(size=dim), generator.normal()
    while True:
        x = generator.standard_normal((CHUNK, dim), np.float32)
        y = x @ weights + bias + generator.standard_normal(CHUNK)
        yield {"x": x, "y": y.astype(np.float32)}


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def bounded_memory(total: int) -> list[str]:
    """A reservoir of RESERVOIR rows on a stream of `total` rows."""
    history = sgais.history.Reservoir(RESERVOIR)
    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=DIM), history=history)
    exact, table = ExactEvidence(), []
    spent, spent_before, memory = 0.0, 0.0, {}
    looks = [rows for rows in (FIRST_LOOK * 10**power for power in range(9)) if rows <= total]
    costs: dict[int, float] = {}
    for chunk in endless_rows():
        exact.add(chunk)
        start = time.process_time()
        record = evidence.update(chunk)
        spent += time.process_time() - start
        if record.num_rows + WINDOW in looks or record.num_rows == FIRST_LOOK // 2:
            spent_before = spent
        if record.num_rows in looks:
            window = WINDOW if record.num_rows > FIRST_LOOK else FIRST_LOOK // 2
            costs[record.num_rows] = (spent - spent_before) / window
            memory[record.num_rows] = resident_megabytes()
            error = record.log_evidence - exact.log_evidence()
            table.append(
                f"| {record.num_rows:,} | {error:+.2f} | {record.standard_error:.2f} "
                f"| {1e6 * costs[record.num_rows]:.2f} | {memory[record.num_rows]:.0f} |"
            )
            print(table[-1], flush=True)
        if record.num_rows >= total:
            break
    first, last = looks[0], looks[-1]
    return [
        f"Linear regression ({DIM} features), `sgais.history.Reservoir({RESERVOIR})`, chunks of {CHUNK} rows made on "
        "the fly, one seed, one core. Exact evidence from sums in float64.",
        "",
        "| rows | error (nats) | claimed | µs of processor time per row | resident memory (MB) |",
        "|---|---|---|---|---|",
        *table,
        "",
        f"From {first:,} to {last:,} rows: memory times {memory[last] / memory[first]:.3f} (asked: at most 1.05), cost "
        f"per row times {costs[last] / costs[first]:.2f} (asked: at most 1.1).",
    ]


def reading() -> list[str]:
    """The same million rows from memory and from Parquet."""
    data = sgais.simulate.linear_regression(1_000_000, dim=DIM).data
    names = [f"x{number}" for number in range(DIM)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        pd.DataFrame(data["x"], columns=names).assign(y=data["y"]).to_parquet(path, row_group_size=100_000)
        memory, parquet = _in_turn(lambda: sgais.stream(data, 500), lambda: sgais.stream(path, 500, x=names, y="y"))
    return [
        f"A million rows in chunks of 500, from memory and from a Parquet file, {ALTERNATIONS} times in turn. Files "
        "are read in a thread of their own: with a second core the clock sees less of that than the processor does, "
        "and other processes disturb the clock. Asked: a median ratio by the clock of at most 1.15.",
        "",
        "| seconds | memory, median | Parquet, median | median ratio | ratio of the fastest |",
        "|---|---|---|---|---|",
        _compared("by the clock", memory[:, 0], parquet[:, 0]),
        _compared("of the processor", memory[:, 1], parquet[:, 1]),
    ]


def _in_turn(*kinds: Callable[[], Iterable[Chunk]]) -> list[np.ndarray]:
    """The costs of each kind of stream, run after run; who comes first changes, as load comes and goes."""
    _cost(kinds[0]())  # compiles
    costs: list[list[tuple[float, float]]] = [[] for _ in kinds]
    for number in range(ALTERNATIONS):
        for place in range(len(kinds))[:: -1 if number % 2 else 1]:
            costs[place].append(_cost(kinds[place]()))
        print("seconds by the clock, of the processor:", *(one[-1] for one in costs), flush=True)
    return [np.array(one) for one in costs]


def _compared(name: str, memory: np.ndarray, parquet: np.ndarray) -> str:
    """One line: medians, the median of the ratios of neighbours, and the ratio of the runs least disturbed."""
    return (
        f"| {name} | {np.median(memory):.2f} | {np.median(parquet):.2f} | {np.median(parquet / memory):.2f} "
        f"| {parquet.min() / memory.min():.2f} |"
    )


def _cost(stream: Iterable[Chunk]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor, threads included."""
    evidence = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=DIM))
    clock, processor = time.perf_counter(), time.process_time()
    evidence.run(stream)
    return time.perf_counter() - clock, time.process_time() - processor


def main(total: int) -> None:
    parts = ["# Long streams", "", *bounded_memory(total), "", "## Reading", "", *reading()]
    report = RESULTS / f"streams-{total:.0e}.md".replace("+0", "")
    report.write_text("\n".join(parts) + "\n")
    print(report.read_text())


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000)
