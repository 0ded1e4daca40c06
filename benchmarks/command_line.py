"""What does `sgais compare` cost beside the same comparison in Python?

    python benchmarks/command_line.py

Two models on a Parquet file of a million rows, each time in a fresh process, in turn: start-up counts for both, and
compilation for neither, since both have run once before. Single-threaded. Prints and writes results/command-line.md.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import sgais

RESULTS = Path(__file__).parent / "results"
ROWS, DIM, REPEATS = 1_000_000, 5, 7
ASKED = 1.2
NAMES = [f"x{number}" for number in range(DIM)]
FILE = "rows.parquet"
IN_PYTHON = f"""
import sgais

models = {{
    "all": sgais.models.LinearRegression(dim={DIM}),
    "three": sgais.models.LinearRegression(dim={DIM}, features=(0, 1, 2)),
}}
comparison = sgais.Comparison(models, seed=0)
comparison.run(sgais.stream("{FILE}", x={NAMES}, y="y"))
print(comparison)
"""
ON_THE_COMMAND_LINE = (
    f"compare all=linear-regression three=linear-regression:features=0,1,2 -d {FILE} -c x={','.join(NAMES)} -c y=y"
)
COMMANDS = {
    "Python": [sys.executable, "-c", IN_PYTHON],
    "command": [sys.executable, "-m", "sgais", *ON_THE_COMMAND_LINE.split()],
}


class Cost(NamedTuple):
    """Of a process."""

    wall_seconds: float
    processor_seconds: float


def measured(command: list[str], folder: Path) -> Cost:
    """Run it to its end."""
    environment = os.environ | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "OMP_NUM_THREADS": "1"}
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall_seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return Cost(wall_seconds, usage.ru_utime + usage.ru_stime)


def write_rows(path: Path) -> None:
    data = sgais.simulate.linear_regression(ROWS, dim=DIM).data
    frame = pd.DataFrame(data["x"], columns=NAMES).assign(y=data["y"])
    frame.to_parquet(path, row_group_size=100_000)


def measurements() -> dict[str, list[Cost]]:
    """Both ways in turn, so that whatever else the machine does falls on both."""
    costs: dict[str, list[Cost]] = {name: [] for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        write_rows(Path(folder) / FILE)
        for command in COMMANDS.values():
            measured(command, Path(folder))  # compiles
        for _ in range(REPEATS):
            for name, command in COMMANDS.items():
                costs[name].append(measured(command, Path(folder)))
                print(f"{name}: {costs[name][-1]}", flush=True)
    return costs


def report(costs: dict[str, list[Cost]]) -> str:
    lines = [
        "# The command line beside Python",
        "",
        f"Two linear regressions on a Parquet file of {ROWS:,} rows ({DIM} features, chunks of 500): `sgais compare`, "
        f"and `sgais.Comparison` in a script. Fresh processes in turn, {REPEATS} times each, programs compiled before, "
        "single-threaded; start-up counts for both. Printed by `make bench-command-line`.",
        "",
        "| | Python, seconds (median) | `sgais compare`, seconds (median) | ratio of medians | asked |",
        "|---|---|---|---|---|",
    ]
    for field, name in (("processor_seconds", "processor time"), ("wall_seconds", "wall time")):
        python, command = (float(np.median([getattr(cost, field) for cost in costs[way]])) for way in COMMANDS)
        lines.append(f"| {name} | {python:.1f} | {command:.1f} | {command / python:.2f} | at most {ASKED} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    text = report(measurements())
    (RESULTS / "command-line.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
