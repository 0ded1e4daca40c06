"""Peak memory of the default on a data set at hand, in a process of its own.

python -m benchmarks.memory PROBLEM ROWS
"""

import gc
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import sgais
from benchmarks.problems import PROBLEMS

MEGABYTE = 2**20


class Memory(NamedTuple):
    """In megabytes."""

    data: float
    before: float  # of the process that holds the data and has imported the library
    peak: float

    @property
    def of_run(self) -> float:
        """What the run adds to the process."""
        return self.peak - self.before


def measure(problem: str, rows: int, programs: str) -> Memory:
    """Run the default in a process of its own, and ask the kernel for the most that it held.

    Args:
        problem: A name of `PROBLEMS`.
        rows: Of the data.
        programs: The folder of compiled programs; what is not there is compiled.
    """
    environment = os.environ | {"SGAIS_COMPILATION_CACHE": programs}
    command = [sys.executable, "-m", "benchmarks.memory", problem, str(rows)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return Memory(*(float(number) for number in output.split()))


def _here(problem: str, rows: int) -> Memory:
    model, simulate, _ = PROBLEMS[problem]
    data = simulate(rows).data
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak that drawing the data has left
    before = _resident("VmRSS")
    sgais.estimate(model, data)
    return Memory(sum(values.nbytes for values in data.values()) / MEGABYTE, before, _resident("VmHWM"))


def _resident(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


if __name__ == "__main__":
    print(*_here(sys.argv[1], int(sys.argv[2])))
