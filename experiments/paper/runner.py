"""All runs that are missing: side by side where only results matter, one after the other where time does."""

from collections.abc import Callable, Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_COMPLETED, Future, wait
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from experiments.paper.cache import Cache
from experiments.paper.costs import expected_seconds
from experiments.paper.execution import OUT_OF_TIME
from experiments.paper.settings import PUBLISHED_LIMIT
from experiments.paper.task import Task, without_repetitions
from experiments.paper.workers import available_cores, make, workers

LONG_MEMORY = 1e9  # seconds of the past from which the time left is reckoned: all of it
Done = Callable[..., None]  # of a task, and words that say more


def missing(tasks: Sequence[Task], cache: Cache, limit: float) -> list[Task]:
    """The runs that have to be made, those that go fast first."""
    unknown = [task for task in without_repetitions(list(tasks)) if cache.find(task, limit) is None]
    hopeful = (task for task in unknown if not is_hopeless(task, tasks, cache, limit))
    return sorted(hopeful, key=lambda task: (task.rows, str(task)))


def is_hopeless(task: Task, tasks: Sequence[Task], cache: Cache, limit: float) -> bool:
    """Whether a run would take too long, by the same one on fewer rows: then it is not begun, as in the paper.

    Either that one was stopped, or its time in proportion to the rows, which is less than more rows take, is too long.
    """
    alike = {other.rows for other in tasks if other.rows < task.rows and other.is_like(task)}
    found = [(rows, cache.find(replace(task, rows=rows), limit)) for rows in sorted(alike)]
    known = [(rows, run.outcome) for rows, run in found if run is not None]
    if not known:
        return False
    rows, outcome = known[-1]  # fewer rows tell less: what any run takes weighs more there
    return outcome.ending == OUT_OF_TIME or outcome.seconds * task.rows / rows > limit


def run(tasks: Sequence[Task], folder: Path, limit: float, console: Console | None = None) -> None:
    """Make all runs that are missing. May be interrupted at any time: what is made is kept."""
    cache = Cache(folder)
    waiting = missing(tasks, cache, limit)
    if not waiting:
        return
    cores = available_cores()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    shares = {task.key: expected_seconds(task, limit) / (1 if task.timed else len(cores)) for task in waiting}
    with Progress(*columns, console=console, speed_estimate_period=LONG_MEMORY) as progress:
        bar = progress.add_task(f"{len(waiting)} runs", total=sum(shares.values()))

        def done(task: Task, words: str = "") -> None:
            progress.update(bar, advance=shares.pop(task.key), description=f"{len(shares)} runs left")
            progress.console.print(f"{task}{words}", highlight=False)

        with_others, alone = ([task for task in waiting if task.timed == timed] for timed in (False, True))
        # Compilation takes its time, and that of other runs, hence the longest of limits for who is not alone.
        _make(with_others, cores[: len(with_others)], _Allowed(limit, max(limit, PUBLISHED_LIMIT)), cache, done)
        _make(alone, cores[:1], _Allowed(limit, limit), cache, done)


class _Allowed(NamedTuple):
    """Seconds: what a run may be expected to take when it is begun, and what it may take then."""

    expected: float
    taken: float


def _make(tasks: list[Task], cores: list[int], allowed: _Allowed, cache: Cache, done: Done) -> None:
    """A run at a time on every core, the smallest first: what they take tells which of the larger ones to begin."""
    if not tasks:
        return
    running: dict[Future[None], Task] = {}
    with workers(cores) as pool:
        for task in tasks:
            if len(running) == len(cores):
                _wait(running, FIRST_COMPLETED, done)
            if is_hopeless(task, tasks, cache, allowed.expected):
                done(task, ": not begun, it would take too long")
            else:
                running[pool.submit(make, task, allowed.taken, cache.folder, task.timed)] = task
        _wait(running, ALL_COMPLETED, done)


def _wait(running: "dict[Future[None], Task]", until: str, done: Done) -> None:
    """Take out the runs that are over; one that raised raises here."""
    for future in wait(running, return_when=until).done:
        task = running.pop(future)
        future.result()
        done(task)
