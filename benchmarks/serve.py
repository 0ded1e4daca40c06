"""The service under load: 200 batches a second for a minute, as many as it takes, and an hour's rows with the page.

`python benchmarks/serve.py` writes benchmarks/results/serve.md; `load`, `most` or `hour` as an argument measures only
that.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sgais

RESULTS = Path(__file__).parent / "results" / "serve.md"
MODELS = ("both=linear-regression", "one=linear-regression:features=0")
COLUMNS = ("-c", "x=a,b", "-c", "y=target")
CHUNK_SIZE = 500
BATCHES_PER_SECOND, BATCH_ROWS, SECONDS = 200, 50, 60
HOUR_ROWS, HOUR_BATCH_ROWS = 3_600_000, 5_000
CONNECTIONS, STALLED_READERS = 16, 10
MOST_SINGLE, MOST_BATCHES, IDLE_SOCKETS = 20_000, 10_000, 200
TARGETS, TARGET_P99 = {1: 1_400, BATCH_ROWS: 30_000}, 100  # rows a second by rows in a batch; milliseconds


@dataclass
class Served:
    """A process of `sgais serve`."""

    process: subprocess.Popen[str]
    port: int

    def state(self) -> dict[str, Any]:
        """What it says of itself."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/state") as answer:
            return dict(json.load(answer))

    def post_first_chunk(self, data: dict[str, np.ndarray]) -> None:
        """Let it compile, or load, its programs."""
        _post_all(self.port, {name: values[:CHUNK_SIZE] for name, values in data.items()}, "first")
        self.wait_for_rows(CHUNK_SIZE)

    def memory_mb(self) -> float:
        """Resident memory of the process."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def processor_seconds(self) -> float:
        """Of all its threads so far; unlike the clock's, they hardly depend on what else the machine does."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_for_rows(self, count: int) -> dict[str, Any]:
        """Until so many rows have been taken in."""
        while (state := self.state())["num_rows"] < count:
            time.sleep(0.2)
        return state


@contextlib.contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    arguments = [*MODELS, *COLUMNS, "--chunk-size", str(CHUNK_SIZE), "--save", str(folder), "--port", "0", *options]
    command = [sys.executable, "-m", "sgais", "serve", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        port = int(line.split("http://127.0.0.1:")[1].split("/")[0])
        yield Served(process, port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def data_of(num_rows: int) -> dict[str, np.ndarray]:
    return sgais.simulate.linear_regression(num_rows, dim=2, seed=1).data


def warm_up() -> None:
    """Let another service compile the programs, so that the load meets one that has them on disk."""
    data = data_of(10_000)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "kept") as service:
        asyncio.run(Load(data, 10_000 // BATCH_ROWS, BATCH_ROWS, 100).run(service.port))
        service.wait_for_rows(10_000)


@dataclass
class Load:
    """Batches that are sent at a steady pace, over several connections, and again after 429.

    Attributes:
        seconds: Of every answer.
        statuses: How often each was answered.
        first_rows: The number that the first row of each batch was given.
    """

    data: dict[str, np.ndarray]
    num_batches: int
    batch_rows: int
    per_second: float
    seconds: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    first_rows: dict[int, int] = field(default_factory=dict)

    async def run(self, port: int) -> None:
        """Send everything."""
        numbers: asyncio.Queue[int] = asyncio.Queue()
        clients = [asyncio.create_task(self._client(port, numbers)) for _ in range(CONNECTIONS)]
        start = time.perf_counter()
        for number in range(self.num_batches):
            await asyncio.sleep(max(0.0, start + number / self.per_second - time.perf_counter()))
            numbers.put_nowait(number)
        await numbers.join()
        self.took = time.perf_counter() - start
        for client in clients:
            client.cancel()

    async def _client(self, port: int, numbers: "asyncio.Queue[int]") -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while True:
            number = await numbers.get()
            request = self._request(number)
            while True:
                start = time.perf_counter()
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                body = await reader.readexactly(length)
                self.seconds.append(time.perf_counter() - start)
                status = int(head.split(b" ")[1])
                self.statuses[status] = self.statuses.get(status, 0) + 1
                if status != 429:
                    break
                await asyncio.sleep(int(head.lower().split(b"retry-after: ")[1].split(b"\r\n")[0]))
            assert status == 201, body
            self.first_rows[number] = json.loads(body)["first_row"]
            numbers.task_done()

    def _request(self, number: int) -> bytes:
        rows = slice(number * self.batch_rows, (number + 1) * self.batch_rows)
        x, y = self.data["x"][rows].tolist(), self.data["y"][rows].tolist()
        listed = [{"a": pair[0], "b": pair[1], "target": target} for pair, target in zip(x, y, strict=True)]
        return _post(json.dumps(listed).encode(), "application/json", f"batch-{number}")


def _post(body: bytes, kind: str, key: str) -> bytes:
    head = f"POST /observations HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nIdempotency-Key: {key}\r\n"
    return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def stalled_readers(port: int) -> list[socket.socket]:
    """Listeners that never read."""
    readers = []
    for _ in range(STALLED_READERS):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        reader.connect(("127.0.0.1", port))
        reader.sendall(b"GET /events?from=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        readers.append(reader)
    return readers


async def _watched(load: Load, service: Served, every: float) -> list[float]:
    """Run the load and look at the service's memory now and then."""
    memory: list[float] = []
    running = asyncio.create_task(load.run(service.port))
    while not running.done():
        memory.append(service.memory_mb())
        await asyncio.wait([running], timeout=every)
    await running
    return memory


def offline(data: dict[str, np.ndarray]) -> dict[str, float]:
    """What a plain run finds on the same rows."""
    models = {
        "both": sgais.models.LinearRegression(dim=2),
        "one": sgais.models.LinearRegression(dim=2, features=(0,)),
    }
    comparison = sgais.Comparison(models, history=sgais.history.Reservoir(100_000))
    for chunk in sgais.stream(data, chunk_size=CHUNK_SIZE):
        comparison.update(chunk)
    return {name: comparison[name].log_evidence for name in models}


def measure_load() -> list[str]:
    num_batches = BATCHES_PER_SECOND * SECONDS
    total = num_batches * BATCH_ROWS
    data = data_of(total)
    load = Load(data, num_batches, BATCH_ROWS, BATCHES_PER_SECOND)
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "kept", "--checkpoint-seconds", "15") as service,
    ):
        readers = stalled_readers(service.port)
        memory = asyncio.run(_watched(load, service, 1.0))
        state = service.wait_for_rows(total)
        memory.append(service.memory_mb())
        for reader in readers:
            reader.close()
    order = sorted(load.first_rows, key=lambda number: load.first_rows[number])
    starts = [load.first_rows[number] for number in order]
    is_exact = starts == list(range(0, total, BATCH_ROWS)) and state["num_rows"] == state["rows_accepted"] == total
    rows = np.concatenate([np.arange(number * BATCH_ROWS, (number + 1) * BATCH_ROWS) for number in order])
    expected = offline({name: values[rows] for name, values in data.items()})
    found = {model["name"]: model["log_evidence"] for model in state["models"]}
    p50, p99, worst = np.quantile(load.seconds, [0.5, 0.99, 1.0]) * 1e3
    late = memory[len(memory) // 3 :]
    return [
        f"## {BATCHES_PER_SECOND} batches a second of {BATCH_ROWS} rows for {SECONDS} s",
        "",
        f"{CONNECTIONS} connections, {STALLED_READERS} readers of events that never read, two linear models, chunks of "
        f"{CHUNK_SIZE} rows, a checkpoint every 15 s.",
        "",
        "| | |",
        "|---|---|",
        f"| rows posted, accepted, taken in | {total:,}, {state['rows_accepted']:,}, {state['num_rows']:,} |",
        f"| every batch has its place in the stream, none two | {'yes' if is_exact else 'NO'} |",
        f"| log Z, both models | {', '.join(f'{value!r}' for value in found.values())} |",
        f"| the same in a plain run over the same rows | {', '.join(f'{value!r}' for value in expected.values())} |",
        f"| equal to the bit | {'yes' if found == expected else 'NO'} |",
        f"| answers | {', '.join(f'{count:,} of {status}' for status, count in sorted(load.statuses.items()))} |",
        f"| time to answer: median, 99th percentile, longest | {p50:.1f} ms, {p99:.0f} ms, {worst:.0f} ms |",
        f"| batches a second | {num_batches / load.took:.0f} |",
        f"| memory of the service from the first third on: least, most | {min(late):.0f} MB, {max(late):.0f} MB |",
        "",
    ]


def idle_sockets(port: int) -> list[socket.socket]:
    """Connections that say nothing."""
    return [socket.create_connection(("127.0.0.1", port)) for _ in range(IDLE_SOCKETS)]


def measure_most() -> list[str]:
    """Single rows and batches as fast as they are taken."""
    lines, before = [], os.getloadavg()[0]
    for batch_rows, num_batches in ((1, MOST_SINGLE), (BATCH_ROWS, MOST_BATCHES)):
        load = Load(data_of(batch_rows * num_batches), num_batches, batch_rows, float("inf"))
        options = ("--max-requests", "100000", "--max-waiting-rows", "10000000")
        with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "kept", *options) as service:
            silent = [*stalled_readers(service.port), *idle_sockets(service.port)]
            service.post_first_chunk(load.data)
            start = service.processor_seconds()
            asyncio.run(load.run(service.port))
            spent = (service.processor_seconds() - start) / num_batches * 1e3
            for each in silent:
                each.close()
        p50, p99 = np.quantile(load.seconds, [0.5, 0.99]) * 1e3
        rate = num_batches / load.took
        line = f"| {batch_rows} | {rate:,.0f} | {rate * batch_rows:,.0f} | {p50:.1f} | {p99:.0f} | {spent:.2f} |"
        lines.append(f"{line} {'yes' if rate * batch_rows >= TARGETS[batch_rows] and p99 < TARGET_P99 else 'NO'} |")
        print(lines[-1], flush=True)
    return [
        "## As much as it takes",
        "",
        f"{CONNECTIONS} connections that post one batch behind the other, {STALLED_READERS} readers of events that "
        f"never read, {IDLE_SOCKETS} sockets that say nothing, two linear models whose first chunk is behind them. On "
        f"{os.cpu_count()} cores that also run the clients; load average before {before:.1f}, at the end "
        f"{os.getloadavg()[0]:.1f}. Processor time is the service's, of all its threads: accepting rows and updating "
        f"models. The target is {TARGETS[1]:,} single rows and {TARGETS[BATCH_ROWS]:,} rows in batches of {BATCH_ROWS} "
        f"a second, with a 99th percentile below {TARGET_P99} ms.",
        "",
        "| rows in a batch | batches a second | rows a second | median answer (ms) | 99th percentile (ms) "
        "| processor time of a batch (ms) | target met |",
        "|---|---|---|---|---|---|---|",
        *lines,
        "",
    ]


class Page:
    """The page in headless Chromium."""

    def __init__(self, url: str) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        self._profile = tempfile.TemporaryDirectory()
        flags = (
            "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
            f"--disable-component-update --disable-sync --window-size=1300,1000 --user-data-dir={self._profile.name}"
        )
        for flag in flags.split():
            options.add_argument(flag)
        driver = webdriver.ChromeService(shutil.which("chromedriver"))
        self.browser = webdriver.Chrome(options=options, service=driver)
        self.browser.get(url)

    def heap_mb(self) -> float:
        """What the page's objects take, after a collection of garbage."""
        self.browser.execute_cdp_cmd("HeapProfiler.enable", {})
        self.browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        return float(self.browser.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]) / 1e6

    def nodes(self) -> int:
        """How many elements the page has."""
        return int(self.browser.execute_script("return document.querySelectorAll('*').length"))

    def slowest_frame_ms(self) -> float:
        """The longest pause between two frames within two seconds: how long a click may have to wait."""
        script = """const done = arguments[0]; let last = performance.now(), most = 0; const end = last + 2000;
            const look = (now) => { most = Math.max(most, now - last); last = now;
              now < end ? requestAnimationFrame(look) : done(most) }; requestAnimationFrame(look)"""
        return float(self.browser.execute_async_script(script))

    def rows(self) -> int:
        """The rows that the page shows."""
        return int(self.browser.execute_script("return Number(document.body.dataset.rows || 0)"))

    def close(self) -> None:
        """Close the browser."""
        self.browser.quit()
        self._profile.cleanup()


def measure_hour() -> list[str]:
    data = data_of(HOUR_ROWS)
    lines: list[str] = []
    # As many checkpoints as an hour would have, or nearly so.
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "kept", "--checkpoint-seconds", "1") as service:
        page = Page(f"http://127.0.0.1:{service.port}/") if shutil.which("chromedriver") else None
        start = time.perf_counter()
        for tenth in range(10):
            rows = slice(tenth * HOUR_ROWS // 10, (tenth + 1) * HOUR_ROWS // 10)
            _post_all(service.port, {name: values[rows] for name, values in data.items()}, f"part-{tenth}")
            pause = page.slowest_frame_ms() if page else float("nan")  # while the rest is being taken in
            service.wait_for_rows(rows.stop)
            time.sleep(1.0)
            shown = page.rows() if page else 0
            heap, nodes = (page.heap_mb(), page.nodes()) if page else (float("nan"), 0)
            lines.append(
                f"| {rows.stop:,} | {service.memory_mb():.0f} | {heap:.1f} | {nodes:,} | {pause:.0f} | {shown:,} |"
            )
            print(lines[-1], flush=True)
        took = time.perf_counter() - start
        if page:
            page.close()
    return [
        f"## The rows of an hour: {HOUR_ROWS:,}, with the page open",
        "",
        f"At 1,000 rows a second they would take an hour; here they took {took / 60:.1f} minutes "
        f"({HOUR_ROWS / took:,.0f} rows a second, posted as Arrow batches of {HOUR_BATCH_ROWS:,} rows), with a "
        "checkpoint every second.",
        "",
        "| rows | service (MB) | objects of the page (MB) | its elements | longest pause between frames (ms) | shown |",
        "|---|---|---|---|---|---|",
        *lines,
        "",
    ]


def _post_all(port: int, data: dict[str, np.ndarray], name: str) -> None:
    """In order, again after 429."""
    table = pa.table({"a": data["x"][:, 0], "b": data["x"][:, 1], "target": data["y"]})
    for first in range(0, table.num_rows, HOUR_BATCH_ROWS):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.slice(first, HOUR_BATCH_ROWS))
        headers = {"Content-Type": "application/vnd.apache.arrow.stream", "Idempotency-Key": f"{name}-{first}"}
        url, body = f"http://127.0.0.1:{port}/observations", sink.getvalue().to_pybytes()
        while True:
            try:
                urllib.request.urlopen(urllib.request.Request(url, body, headers)).read()
                break
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    raise
                time.sleep(int(error.headers["Retry-After"]))


PARTS: dict[str, Callable[[], list[str]]] = {"load": measure_load, "most": measure_most, "hour": measure_hour}


def main() -> None:
    chosen = sys.argv[1:] or list(PARTS)
    warm_up()
    lines = [
        "# The service under load",
        "",
        "`make bench-serve`, on a machine with two cores that also runs the clients and the browser.",
        "",
    ]
    for name in chosen:
        lines += PARTS[name]()
    text = "\n".join(lines)
    print(text)
    if chosen == list(PARTS):
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
