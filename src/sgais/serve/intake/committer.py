"""Group commit: batches that come while the disk is busy are written together, and wait for one sync."""

import queue
import threading
from concurrent.futures import Future

from sgais.serve.intake.idempotency import Keys
from sgais.serve.log.entry import Entry
from sgais.serve.log.row_log import Batch, RowLog

MOST_BATCHES = 512  # in one group


class Committer:
    """The one thread that writes to the log.

    Args:
        log: The log.
        keys: Of the batches in it; a key is known before its batch is acknowledged.
    """

    def __init__(self, log: RowLog, keys: Keys) -> None:
        self._log, self._keys = log, keys
        self._waiting: queue.SimpleQueue[tuple[Batch, Future[Entry]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="sgais-commit", daemon=True)
        self._thread.start()

    def commit(self, batch: Batch) -> "Future[Entry]":
        """Write a batch; the result is there when it is on disk, or an `OSError` if it cannot be."""
        future: Future[Entry] = Future()
        self._waiting.put((batch, future))
        return future

    def close(self) -> None:
        """Write what waits, and end."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            group = [self._waiting.get()]
            while len(group) < MOST_BATCHES and not self._waiting.empty():
                group.append(self._waiting.get())
            is_open = None not in group
            self._write([each for each in group if each is not None])

    def _write(self, group: list[tuple[Batch, "Future[Entry]"]]) -> None:
        if not group:
            return
        try:
            entries = self._log.append([batch for batch, _ in group])
        except Exception as error:  # whatever it is, those who wait must hear of it
            for _, future in group:
                future.set_exception(error)
            return
        for entry, (_, future) in zip(entries, group, strict=True):
            self._keys.add(entry)
            future.set_result(entry)
