"""Make the runs that are missing: each in a process of its own, smaller data first, none that has no hope."""

import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.peers import process, worker
from benchmarks.peers.cache import Cache
from benchmarks.peers.environments import python_of
from benchmarks.peers.methods import METHODS
from benchmarks.peers.outcome import COMPLETE, FAILED, NOT_BEGUN, OUT_OF_TIME, TOO_SLOW, Outcome
from benchmarks.peers.settings import Settings
from benchmarks.peers.task import ROOT, Task

PREPARATION = 600.0  # seconds for imports, data and compilation before a run
LAST_WORDS = 300  # characters of what a failed run had to say
Make = Callable[[Task, float], Outcome]


def make(task: Task, limit: float) -> Outcome:
    """Make a run in a process of its own."""
    method = METHODS[task.method]
    python = python_of(method.environment)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ended = process.run(
            [str(python), "-m", "benchmarks.peers.worker", json.dumps(asdict(task)), name],
            {
                "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
                "SGAIS_COMPILATION_CACHE": "off",  # compilation is measured, not saved
                "JAX_ENABLE_X64": "1" if method.is_peer else "0",
            },
            folder / worker.BEGUN,
            limit,
            PREPARATION,
        )
        if ended.in_time and ended.code == 0:
            outcome = Outcome(**json.loads((folder / worker.OUTCOME).read_text(encoding="utf-8")))
        elif ended.in_time:
            words = ended.errors.replace(f"{ROOT}/", "").strip()[-LAST_WORDS:]
            outcome = Outcome(FAILED, words, seconds=ended.seconds)
        else:
            outcome = Outcome(OUT_OF_TIME, seconds=ended.seconds)
    return outcome._replace(peak_megabytes=ended.peak_megabytes, limit=limit)


def run(settings: Settings, cache: Cache, methods: list[str], make: Make = make) -> Iterator[tuple[Task, Outcome]]:
    """All runs of these methods, those that were made before and those that are made now, as they come."""
    for problem in settings.problems:
        for method in methods:
            yield from _of_method(problem, method, settings, cache, make)


def _of_method(
    problem: str, method: str, settings: Settings, cache: Cache, make: Make
) -> Iterator[tuple[Task, Outcome]]:
    """Once a method fails or runs out of time, or is sure to do so with the next size, more rows are not begun."""
    reason = ""
    for rows in settings.rows:
        first = Task(problem, method, rows, 0)
        if reason:
            yield first, Outcome(NOT_BEGUN, reason, limit=settings.limit)
            continue
        outcome = _found_or_made(first, settings.limit, cache, make)
        yield first, outcome
        if outcome.ending != COMPLETE:
            reason = f"{outcome.ending} at {rows:,} rows"
            continue
        if outcome.seconds > settings.slow:
            reason = f"{TOO_SLOW}: {outcome.seconds:.0f} s at {rows:,} rows"
        else:
            for seed in range(1, settings.seeds):
                task = Task(problem, method, rows, seed)
                yield task, _found_or_made(task, settings.limit, cache, make)


def _found_or_made(task: Task, limit: float, cache: Cache, make: Make) -> Outcome:
    found = cache.find(task, limit)
    if found is not None:
        return found
    outcome = make(task, limit)
    cache.keep(task, outcome)
    return outcome
