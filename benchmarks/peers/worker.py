"""The process of one run: `python -m benchmarks.peers.worker TASK FOLDER`, TASK as JSON.

Writes `begun` into the folder when its preparations are over, and `outcome.json` at the end.
"""

import importlib
import json
import sys
import time
from pathlib import Path

from benchmarks.peers.compilation import CompilationClock
from benchmarks.peers.data import load
from benchmarks.peers.estimate import Adapter
from benchmarks.peers.methods import COMPILED_BY_A_FIRST_RUN, METHODS
from benchmarks.peers.outcome import COMPLETE, Outcome
from benchmarks.peers.target import Target
from benchmarks.peers.task import Task

BEGUN, OUTCOME = "begun", "outcome.json"


def make(task: Task, folder: Path) -> Outcome:
    """Prepare, run, and take compilation off the time."""
    method, is_repeated = METHODS[task.method], task.method in COMPILED_BY_A_FIRST_RUN
    clock, data = CompilationClock(), load(task.problem, task.rows)
    adapter: Adapter = importlib.import_module(f"benchmarks.peers.adapters.{method.adapter}")
    start = time.perf_counter()
    run = adapter.prepare(Target(task.problem, data.columns), task.seed, **method.options)
    if is_repeated:
        run()
    (folder / BEGUN).touch()
    begun = time.perf_counter()
    estimate = run()
    seconds, compiled = time.perf_counter() - begun, clock.seconds(begun)
    prepared = begun - start - (seconds if is_repeated else 0.0)
    return Outcome(
        ending=COMPLETE,
        words=estimate.doubt,
        log_evidence=estimate.log_evidence,
        truth=data.truth,
        standard_error=estimate.standard_error,
        seconds=seconds - compiled,
        compile_seconds=prepared + compiled,
        likelihoods=estimate.likelihoods,
        gradients=estimate.gradients,
    )


def main(task: str, folder: str) -> None:
    """Make the run that is asked for."""
    outcome = make(Task(**json.loads(task)), Path(folder))
    (Path(folder) / OUTCOME).write_text(json.dumps(outcome._asdict()), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
