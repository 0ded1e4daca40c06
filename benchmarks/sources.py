"""How fast are rows from brokers, databases and buckets, beside the same rows from a local Parquet file?

    python -m benchmarks.sources

Two linear models take in the same rows from servers of this machine (`make services`), in turn with the file. Prints
and writes results/sources.md. Single-threaded models; servers, and the client's own threads, share the machine.
"""

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sgais
from benchmarks.streams import RESULTS
from tests.services.running import Running

ROWS = 100_000
DIM = 5
CHUNK = 500
ROWS_PER_MESSAGE = 1_000  # of Arrow
ALTERNATIONS = 5
ASKED = 0.6
NAMES = [f"x{number}" for number in range(DIM)]
Open = Callable[[], Any]


def columns() -> dict[str, np.ndarray]:
    """The rows, column by column."""
    data = sgais.simulate.linear_regression(ROWS, dim=DIM).data
    return {name: data["x"][:, place].astype(float) for place, name in enumerate(NAMES)} | {
        "y": data["y"].astype(float)
    }


def sources(data: dict[str, np.ndarray], folder: Path, running: Any) -> dict[str, Open]:
    """How each is opened, filled before."""
    path = folder / "rows.parquet"
    pq.write_table(pa.table(data), path, row_group_size=50_000)

    def opened(uri: str | Path, **options: Any) -> Open:
        return lambda: sgais.stream(uri, CHUNK, x=NAMES, y="y", **options)

    nats, kafka = running.server("nats"), running.server("kafka")
    messages = list(arrow_messages(data))
    names = {kind: running.new_name() for kind in ("nats", "kafka")}
    nats.fill(names["nats"], messages)
    kafka.fill(names["kafka"], messages)
    return {
        "local Parquet": opened(path),
        "PostgreSQL, a table": opened(running.postgresql_table(data)),
        "S3, Parquet files": opened(running.s3_parquet(data, rows_per_file=50_000, rows_per_group=50_000)),
        "NATS, Arrow": opened(nats.uri(names["nats"]), format="arrow"),
        "Kafka, Arrow": opened(kafka.uri(names["kafka"]), format="arrow"),
        "NATS, a JSON object per row": opened(running.nats_json(data)),
        "Kafka, a JSON object per row": opened(running.kafka_json(data)),
    }


def arrow_messages(data: dict[str, np.ndarray]) -> Iterator[bytes]:
    """Messages of many rows."""
    for first in range(0, ROWS, ROWS_PER_MESSAGE):
        table = pa.table({name: cells[first : first + ROWS_PER_MESSAGE] for name, cells in data.items()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        yield sink.getvalue().to_pybytes()


def cost(open_stream: Open) -> tuple[float, float, float]:
    """Seconds by the clock and of the processor that two models need for all rows, and log Z of one of them."""
    models = {
        "all": sgais.models.LinearRegression(dim=DIM),
        "one": sgais.models.LinearRegression(dim=DIM, features=(0,)),
    }
    comparison = sgais.Comparison(models)
    clock, processor = time.perf_counter(), time.process_time()
    with contextlib.closing(open_stream()) as rows:
        comparison.run(rows)
    assert comparison.num_rows == ROWS
    return time.perf_counter() - clock, time.process_time() - processor, comparison["all"].log_evidence


def measured(opens: dict[str, Open]) -> dict[str, np.ndarray]:
    """Costs, run after run, each source in turn."""
    cost(opens["local Parquet"])  # compiles
    costs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in opens}
    for number in range(ALTERNATIONS):
        for name in list(opens)[:: -1 if number % 2 else 1]:
            costs[name].append(cost(opens[name]))
            print(name, *(f"{seconds:.2f}" for seconds in costs[name][-1][:2]), flush=True)
    return {name: np.array(each) for name, each in costs.items()}


def report(costs: dict[str, np.ndarray]) -> str:
    """The table; shares are of the speed of Parquet."""
    local = costs["local Parquet"]
    lines = []
    for name, each in costs.items():
        assert np.all(each[:, 2] == local[:, 2]), "the same rows have the same bits"
        clock, processor = np.median(local[:, 0] / each[:, 0]), np.median(local[:, 1] / each[:, 1])
        lines.append(
            f"| {name} | {ROWS / np.median(each[:, 0]):,.0f} | {100 * clock:.0f} % "
            f"| {1e6 * np.median(each[:, 1]) / ROWS:.1f} | {100 * processor:.0f} % |"
        )
    how = (
        f"{ROWS:,} rows of {DIM} features and a target in chunks of {CHUNK}, taken in by two linear models, from "
        f"servers of the same machine, {ALTERNATIONS} times in turn; medians, and medians of the ratios of each turn. "
        f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.0f}. Arrow messages hold {ROWS_PER_MESSAGE:,} rows each. "
        f"Processor time is that of the reading process. Asked: at least {100 * ASKED:.0f} % of the speed of Parquet. "
        "log Z is the same to the bit from every source."
    )
    return "\n".join(
        [
            "# Rows from servers",
            "",
            how,
            "",
            "| source | rows per second | of Parquet | µs of processor time per row | of Parquet |",
            "|---|---|---|---|---|",
            *lines,
            "",
        ]
    )


def main() -> None:
    """Start the servers, measure, write."""
    with tempfile.TemporaryDirectory() as folder:
        running = Running(Path(folder) / "servers")
        try:
            text = report(measured(sources(columns(), Path(folder), running)))
        finally:
            running.close()
    (RESULTS / "sources.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
