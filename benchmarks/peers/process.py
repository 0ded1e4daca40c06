"""A process with a limit: on one core, single-threaded, killed from outside when its time is up, its memory known."""

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

SINGLE_THREADED = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
}
BETWEEN_LOOKS = 0.02  # seconds


class Ended(NamedTuple):
    """How a process ended."""

    code: int  # of its exit; minus the signal if it was killed
    in_time: bool
    seconds: float  # since it said that it begins, or since it was started
    peak_megabytes: float
    errors: str


def run(
    command: Sequence[str],
    environment: dict[str, str],
    begun: Path,
    limit: float,
    preparation: float,
    core: int | None = None,
) -> Ended:
    """Run a command to its end, or kill it and all that it started.

    Args:
        command: What to run.
        environment: Variables on top of those of this process.
        begun: A file that the process writes when its preparations are over and its time begins.
        limit: Seconds that it may take from then on.
        preparation: Seconds that it may take until then.
        core: The one that it runs on; the first that this process may use if omitted.
    """
    core = min(os.sched_getaffinity(0)) if core is None else core
    errors = begun.with_suffix(".errors")
    with errors.open("wb") as file:
        process = subprocess.Popen(
            ["taskset", "--cpu-list", str(core), *command],
            env=os.environ | SINGLE_THREADED | environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=begun.parent,  # where libraries may leave their logs
            start_new_session=True,
        )
    try:
        return _watched(process, begun, limit, preparation)._replace(errors=errors.read_text(errors="replace"))
    finally:
        _kill(process)  # Ctrl-C is no reason to leave it running


def _watched(process: subprocess.Popen[bytes], begun: Path, limit: float, preparation: float) -> Ended:
    start, has_begun, in_time, peak = time.monotonic(), False, True, 0.0
    while process.poll() is None:
        now = time.monotonic()
        peak = max(peak, _peak_megabytes(process.pid))
        if not has_begun and begun.exists():
            start, has_begun = now, True
        if in_time and now - start > (limit if has_begun else preparation):
            in_time = False
            _kill(process)
        time.sleep(BETWEEN_LOOKS)
    return Ended(process.returncode, in_time, time.monotonic() - start, peak, "")


def _peak_megabytes(pid: int) -> float:
    """As the kernel keeps it while the process lives: what it tells afterwards counts its parent's memory, too."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):  # it has just ended
        return 0.0


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The process and all others of its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
