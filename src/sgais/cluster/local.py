"""Workers on this machine: processes, or none beside this one."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

from sgais.cluster.packing import Packed, unpacked
from sgais.cluster.workers import Task
from sgais.errors import EstimationError, require_count

TRIES = 5  # of a shard whose worker was lost


class Local:
    """Processes of this machine; each keeps to its own shards, whose rows it remembers as far as there is room.

    Args:
        processes: How many; with one, it is this process that works.

    Example:
        >>> workers = sgais.cluster.Local(processes=1)
        >>> workers.parts(lambda model, scale, shard: scale * shard, None, 10, [1, 2, 3])
        [10, 20, 30]
        >>> workers.close()
    """

    def __init__(self, processes: int = 1) -> None:
        require_count("processes", processes)
        self.processes = int(processes)
        self._pools: dict[int, ProcessPoolExecutor] = {}
        self._common = Packed()

    def parts(self, task: Task, common: Any, argument: Any, shards: Sequence[Any]) -> list[Any]:
        """What the task makes of each shard, see `Workers`."""
        if self.processes == 1:
            return [task(common, argument, shard) for shard in shards]
        call = partial(done, task, self._common.of(common), argument)
        waiting = [self._asked(number, call, shard) for number, shard in enumerate(shards)]
        return [self._part(number, future, call, shards[number]) for number, future in enumerate(waiting)]

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools.values():
            pool.shutdown(cancel_futures=True)
        self._pools = {}

    def __repr__(self) -> str:
        return f"Local(processes={self.processes})"

    def _part(self, number: int, future: "Future[Any]", call: "partial[Any]", shard: Any) -> Any:
        """Pure parts may be asked for again: where a worker has died, another takes its place."""
        for _ in range(TRIES):
            try:
                return future.result()
            except BrokenProcessPool:
                future = self._asked(number, call, shard)
        raise EstimationError(f"a worker was lost {TRIES} times at {shard}. Is there too little memory?")

    def _asked(self, number: int, call: "partial[Any]", shard: Any) -> "Future[Any]":
        worker = number % self.processes
        if worker in self._pools:
            try:
                return self._pools[worker].submit(call, shard)
            except BrokenProcessPool:
                pass
        # Not a fork: that of a process with threads, of which compiled programs have many, may hang.
        self._pools[worker] = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
        return self._pools[worker].submit(call, shard)


def done(task: Task, sent: bytes, argument: Any, shard: Any) -> Any:
    """In a worker: a task on a shard."""
    return task(unpacked(sent), argument, shard)
