"""The same program on several groups of particles, on as many cores as there are for us.

One size of groups means that one compiled program serves many particles or few.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import jax
import numpy as np

GROUP = 128  # particles

Part = TypeVar("Part")
Outcome = TypeVar("Outcome")


def in_groups(function: Callable[..., Any], *particles: Any, size: int = GROUP, fill: bool = False) -> Any:
    """What the function says of particles, given group by group, as NumPy arrays.

    Args:
        function: From arrays with a leading axis of particles to a tree of such arrays, all of a group at a time.
        particles: Trees of arrays with a leading axis of particles.
        size: Of a group.
        fill: Whether fewer particles than that are filled up to a group.
    """
    count = len(jax.tree.leaves(particles)[0])
    if count in (0, size) or (count < size and not fill):
        return jax.device_get(function(*particles))
    parts = in_parallel(lambda group: jax.device_get(function(*group)), grouped(particles, size, fill))
    return jax.tree.map(lambda *leaves: np.concatenate(leaves)[:count], *parts)


def grouped(particles: Any, size: int, fill: bool = False) -> list[Any]:
    """Groups of one size, the last one filled up with the last particle; fewer are one group, unless to be filled."""
    count = len(jax.tree.leaves(particles)[0])
    size = size if fill else min(size, count)
    indices = [np.minimum(np.arange(start, start + size), count - 1) for start in range(0, count, size)]
    return [jax.tree.map(lambda leaf, index=index: np.asarray(leaf)[index], particles) for index in indices]


def in_parallel(function: Callable[[Part], Outcome], parts: Sequence[Part], is_compiled: bool = False) -> list[Outcome]:
    """The outcome for each part, in order; the number of cores changes when it is there, not what it is.

    Threads do, since compiled programs run without Python's lock. Unless all is compiled, the first part goes ahead
    alone: what has to be compiled is then compiled once.
    """
    first, rest = ([], parts) if is_compiled else ([function(part) for part in parts[:1]], parts[1:])
    if len(rest) < 2 or num_cores() == 1:
        return first + [function(part) for part in rest]
    with ThreadPoolExecutor(min(num_cores(), len(rest))) as threads:
        return first + list(threads.map(function, rest))


def num_cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
