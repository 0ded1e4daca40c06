"""Processes that make runs: each single-threaded, on a core of its own, and gone when their parent is."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from experiments.paper.cache import Cache, Run
from experiments.paper.execution import execute, versions
from experiments.paper.task import Task

SINGLE_THREADED = "--xla_cpu_multi_thread_eigen=false"


def available_cores() -> list[int]:
    """Those that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


@contextmanager
def workers(cores: list[int]) -> Iterator[ProcessPoolExecutor]:
    """A process for each core. Left in haste (Ctrl-C, an error), they are ended in the midst of their runs."""
    os.environ["XLA_FLAGS"] = SINGLE_THREADED  # read by the children when they import JAX
    context = multiprocessing.get_context("spawn")  # a fork of a process in which JAX runs may hang
    free = context.Queue()
    for core in cores:
        free.put(core)
    pool = ProcessPoolExecutor(len(cores), context, initializer=_begin, initargs=(free,))
    others = set(multiprocessing.active_children())
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    pool.shutdown()


def make(task: Task, limit: float, folder: Path, alone: bool) -> None:
    """Make a run and keep it. Called in a worker."""
    Cache(folder).keep(task, Run(execute(task, limit), alone, limit, versions()))


def _begin(free: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's; a run that it cut short must not be kept
    core = free.get()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
