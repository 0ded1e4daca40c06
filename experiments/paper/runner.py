"""All runs that are missing: side by side where only results matter, one after the other where time does."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

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
    """Whether the same run on fewer rows took too long already: then it is not begun, as in the paper."""
    smaller = (replace(task, rows=other.rows) for other in tasks if other.rows < task.rows and other.is_like(task))
    found = (cache.find(other, limit) for other in smaller)
    return any(run is not None and run.outcome.ending == OUT_OF_TIME for run in found)


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

        _side_by_side([task for task in waiting if not task.timed], cache, limit, cores, done)
        _alone([task for task in waiting if task.timed], cache, limit, cores, done)


def _side_by_side(tasks: list[Task], cache: Cache, limit: float, cores: list[int], done: Done) -> None:
    """A run on every core. Compilation takes its time, and that of other runs, hence the longest of limits."""
    if tasks:
        limit = max(limit, PUBLISHED_LIMIT)
        with workers(cores[: len(tasks)]) as pool:
            futures = {_submit(pool, task, cache, limit, alone=False): task for task in tasks}
            for future in as_completed(futures):
                future.result()
                done(futures[future])


def _alone(tasks: list[Task], cache: Cache, limit: float, cores: list[int], done: Done) -> None:
    """One run at a time, while nothing else of ours is running."""
    if tasks:
        with workers(cores[:1]) as pool:
            for task in tasks:
                if is_hopeless(task, tasks, cache, limit):  # since a moment ago
                    done(task, ": not begun, fewer rows took too long")
                else:
                    _submit(pool, task, cache, limit, alone=True).result()
                    done(task)


def _submit(pool: ProcessPoolExecutor, task: Task, cache: Cache, limit: float, alone: bool) -> "Future[None]":
    return pool.submit(make, task, limit, cache.folder, alone)
