"""What is missing is run, whatever happened before: deleted files, Ctrl-C, kill."""

import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.paper import runner
from experiments.paper.cache import Cache, Run
from experiments.paper.execution import Outcome
from experiments.paper.task import Task

ROOT = Path(__file__).parents[2]
NUM_RUNS = 30
TASKS = [Task("linear", "sgais, as published", 1000, 2000, seed, timed=seed % 2 == 0) for seed in range(NUM_RUNS)]
LIFE = f"""
import pathlib, sys
from experiments.paper import runner
from experiments.paper.task import Task
if __name__ == "__main__":
    tasks = [Task("linear", "sgais, as published", 1000, 2000, seed, timed=seed % 2 == 0) for seed in range({NUM_RUNS})]
    runner.run(tasks, pathlib.Path(sys.argv[1]), 60.0)
    print("done", flush=True)
"""


def start(folder):
    script = folder / "life.py"
    script.write_text(LIFE)
    return subprocess.Popen(
        [sys.executable, script, folder / "runs"],
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "PATH": "/usr/bin:/bin", "HOME": str(Path.home())},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def made(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder / "runs").rglob("*.json")}


def live_on(folder):
    process = start(folder)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "done" in output


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_work_goes_on_where_it_stopped(tmp_path, how):
    process = start(tmp_path)
    while len(made(tmp_path)) < 3:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode != 0
    deadline = time.monotonic() + 60
    before = made(tmp_path)
    while time.monotonic() < deadline:  # the workers notice that their parent is gone
        time.sleep(2.0)
        if made(tmp_path) == before:
            break
        before = made(tmp_path)
    assert 3 <= len(before) < NUM_RUNS
    live_on(tmp_path)
    after = made(tmp_path)
    assert len(after) == NUM_RUNS
    assert before.items() <= after.items(), "what was made is not made again"


def test_a_deleted_run_is_made_again_and_no_other(tmp_path):
    folder, tasks = tmp_path / "runs", TASKS[:3]
    runner.run(tasks, folder, 60.0)
    cache = Cache(folder)
    first, before = cache.read(tasks[1]), made(tmp_path)
    cache.path(tasks[1]).unlink()
    assert runner.missing(tasks, cache, 60.0) == [tasks[1]]
    runner.run(tasks, folder, 60.0)
    after = made(tmp_path)
    assert {name for name in after if after[name] != before[name]} == {cache.path(tasks[1]).name}
    assert cache.read(tasks[1]).outcome.log_evidence == first.outcome.log_evidence
    assert [cache.read(task).timed for task in tasks] == [True, False, True]
    assert runner.missing(tasks, cache, 60.0) == []


def test_larger_runs_of_a_kind_that_was_too_slow_are_not_begun(tmp_path):
    cache = Cache(tmp_path)
    tasks = [Task("mixture", "ais", rows, 10_000, 0, timed=True) for rows in (1000, 2000, 10_000)]
    other = replace(tasks[2], seed=1)
    stopped = Outcome(float("nan"), float("nan"), 5.0, "out of time", "out of time", 3, [])
    cache.keep(tasks[1], Run(stopped, True, 5.0, {}))
    assert runner.missing([*tasks, other], cache, 5.0) == [tasks[0], other]
    assert runner.missing([*tasks, other], cache, 50.0) == [tasks[0], tasks[1], *tasks[2:], other], (
        "with more time all may be tried"
    )


def test_a_run_that_would_be_too_slow_is_not_begun(tmp_path):
    """By the one on the most rows: on few rows, what any run takes weighs too much."""
    cache = Cache(tmp_path)
    tasks = [Task("mixture", "ais", rows, 10_000, 0, timed=True) for rows in (100, 1000, 2000, 10_000)]
    for task, seconds in ((tasks[0], 1.0), (tasks[1], 2.0)):
        cache.keep(task, Run(Outcome(-1.0, 0.1, seconds, "complete", "complete", 3, []), True, 10.0, {}))
    assert runner.missing(tasks, cache, 10.0) == [tasks[2]]
    assert runner.missing(tasks, cache, 25.0) == tasks[2:]
    kept = Run(Outcome(-1.0, 0.1, 20.0, "complete", "complete", 3, []), False, 10.0, {})
    cache.keep(tasks[2], kept)
    assert tasks[3] in runner.missing(tasks, cache, 25.0), "a time that was not taken alone does not count"
