"""The same program on several parts of the particles, on as many cores as there are for us."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Outcome = TypeVar("Outcome")


def in_parallel(function: Callable[[Part], Outcome], parts: Sequence[Part]) -> list[Outcome]:
    """The outcome for each part, in order; the number of cores changes when it is there, not what it is.

    Threads do, since compiled programs run without Python's lock. The first part goes ahead alone: what has to be
    compiled is then compiled once.
    """
    first, rest = [function(part) for part in parts[:1]], parts[1:]
    if len(rest) < 2 or num_cores() == 1:
        return first + [function(part) for part in rest]
    with ThreadPoolExecutor(min(num_cores(), len(rest))) as threads:
        return first + list(threads.map(function, rest))


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
