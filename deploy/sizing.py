"""How large a machine the service needs: python deploy/sizing.py [--write] (some minutes).

For some numbers of models, of five columns each, a real service takes in 20,000 rows; the table has what it used.
With `--write` it is put into docs/deployment.md.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[1] / "docs" / "deployment.md"
ROWS, BATCH, WARM = 20_000, 1_000, 2_000  # rows in all, in a batch, and until the programs are compiled
CASES = ((1, 100_000), (2, 100_000), (4, 100_000), (2, 10_000))  # models, rows of the reservoir
COLUMNS = ("a", "b", "c", "d", "e")
TITLES = ("models", "reservoir", "rows a second", "memory (MB)", "folder (MB)", "first rows after (s)")
HEADER = f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}"


def main() -> None:
    """Measure, print, and write if asked to."""
    said = (
        f"{os.cpu_count()} cores, {ROWS:,} rows of {len(COLUMNS) + 1} numbers, posted as JSON in batches of {BATCH:,}."
    )
    table = "\n".join([said, "", HEADER, *(_line(*case) for case in CASES)])
    print(table)
    if "--write" in sys.argv:
        text = re.sub(r"(?s)(<!-- sizing -->\n).*(<!-- /sizing -->)", rf"\g<1>{table}\n\2", PAGE.read_text())
        PAGE.write_text(text)


def _line(models: int, reservoir: int) -> str:
    generator = np.random.default_rng(0)
    values = generator.normal(size=(ROWS, len(COLUMNS) + 1))
    rows = [dict(zip((*COLUMNS, "y"), line, strict=True)) for line in values.tolist()]
    with tempfile.TemporaryDirectory() as folder, _service(Path(folder) / "run", models, reservoir) as address:
        start = time.monotonic()
        _post(address, rows[:WARM])
        _wait(address, WARM)
        compiled = time.monotonic()
        _post(address, rows[WARM:])
        _wait(address, ROWS)
        seconds = time.monotonic() - compiled
        memory = _metrics(address)["sgais_resident_memory_bytes"] / 1e6
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 1e6
    speed = (ROWS - WARM) / seconds
    return f"| {models} | {reservoir:,} | {speed:,.0f} | {memory:,.0f} | {size:,.0f} | {compiled - start:,.0f} |"


@contextmanager
def _service(folder: Path, models: int, reservoir: int) -> Iterator[str]:
    specs = [f"m{number}=linear-regression:noise_scale={1 + number}" for number in range(models)]
    columns = ["-c", f"x={','.join(COLUMNS)}", "-c", "y=y", "--history", f"reservoir:{reservoir}"]
    command = [sys.executable, "-m", "sgais", "serve", *specs, *columns, "--save", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None, "it was asked for"
    try:
        for line in process.stderr:
            if found := re.search(r"http://[\d.]+:\d+", line):
                yield found[0]
                break
    finally:
        process.terminate()
        process.communicate()


def _post(address: str, rows: list[dict[str, float]]) -> None:
    for start in range(0, len(rows), BATCH):
        body = json.dumps(rows[start : start + BATCH]).encode()
        request = urllib.request.Request(f"{address}/observations", body, {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=300).close()


def _wait(address: str, rows: int) -> None:
    while _metrics(address)["sgais_rows_total"] < rows:
        time.sleep(0.1)


def _metrics(address: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{address}/metrics", timeout=300) as answer:
        lines = [line for line in answer.read().decode().splitlines() if line and line[0] != "#" and "{" not in line]
    return {name: float(value) for name, value in (line.split() for line in lines)}


if __name__ == "__main__":
    main()
