"""How rows come in: checked, known by their key, not too many at once, on disk, and only then acknowledged."""

import asyncio
import errno
import math
import threading
from typing import NamedTuple

from sgais.fields import Chunk, num_rows
from sgais.history.records import to_records
from sgais.monitoring.throughput import Pace
from sgais.serve.intake.admission import Admission
from sgais.serve.intake.committer import Committer
from sgais.serve.intake.idempotency import Accepted, Keys, digest_of
from sgais.serve.log.entry import NO_KEY, Entry
from sgais.serve.log.row_log import Batch, RowLog
from sgais.serve.refusal import RefusalError

SMALL_BODY = 64 * 1024  # bytes that are parsed faster than a thread is woken
NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
LONGEST_WAIT = 60  # seconds that anybody is told to wait


class Receipt(NamedTuple):
    """The answer to a batch.

    Attributes:
        first_row: The number of its first row, counted from the start of the stream.
        num_rows: How many rows it has.
        is_duplicate: Whether it had been accepted before.
    """

    first_row: int
    num_rows: int
    is_duplicate: bool


class Counts:
    """What has happened to batches, and to messages that no model could take, since the start; for the metrics."""

    def __init__(self) -> None:
        self.batches = self.rows = self.duplicates = self.set_aside = 0


class Intake:
    """The way in. Used by the event loop only.

    Args:
        admission: What a batch has to be like.
        log: Where rows go.
        keys: Of batches that were accepted.
        most_waiting: Rows that may wait to be taken in.
    """

    def __init__(self, admission: Admission, log: RowLog, keys: Keys, most_waiting: int) -> None:
        self.admission, self.log, self.keys, self.counts = admission, log, keys, Counts()
        self._most_waiting = most_waiting
        self._committer = Committer(log, keys)
        self._rows_in_flight = 0
        self._keys_in_flight: dict[bytes, asyncio.Future[Receipt]] = {}
        self._taken_in = 0
        self._pace = Pace()
        self._lock = threading.Lock()
        self.failure = ""  # why nothing is taken in any more

    def note_taken_in(self, rows: int) -> None:
        """The worker has come so far; called from its thread."""
        with self._lock:
            self._taken_in = rows
            self._pace.note(rows)

    @property
    def num_waiting(self) -> int:
        """Rows that are accepted, or about to be, and not taken in."""
        with self._lock:
            return self.log.end_row + self._rows_in_flight - self._taken_in

    async def take(self, media_type: str, body: bytes, key: str | None) -> Receipt:
        """Accept a batch or raise a `RefusalError`; what is accepted is on disk."""
        self._check_can_go_on()
        self._check_room(1)  # before the work of looking at it
        if self.admission.is_tried and len(body) <= SMALL_BODY:
            rows = self.admission.admit(media_type, body)
        else:
            rows = await asyncio.to_thread(self.admission.admit, media_type, body)
        digest = NO_KEY if key is None else digest_of(key)
        known = await self._known(digest, rows)
        if known is not None:
            self.counts.duplicates += 1
            return known
        return await self._commit(rows, digest)

    def close(self) -> None:
        """Write what waits, and end."""
        self._committer.close()

    async def _known(self, digest: bytes, rows: Chunk) -> Receipt | None:
        """What became of a batch with this key, if there was one; a batch that is on its way is waited for."""
        if digest in self._keys_in_flight:
            await asyncio.wait([self._keys_in_flight[digest]])
        found = None if digest == NO_KEY else self.keys.find(digest)
        if found is None:
            return None
        if not _is_same(found, rows):
            raise RefusalError(422, "the Idempotency-Key was used for other rows. Choose a new one.")
        return Receipt(found.first_row, found.num_rows, True)

    async def _commit(self, rows: Chunk, digest: bytes) -> Receipt:
        # From here to the first `await` nothing else runs: two batches with one key cannot both pass.
        if digest in self._keys_in_flight:
            raise RefusalError(409, "a batch with this Idempotency-Key is being written. Try again.", retry_after=1)
        self._check_room(num_rows(rows))
        self._rows_in_flight += num_rows(rows)
        committed: asyncio.Future[Entry] = asyncio.wrap_future(self._committer.commit(Batch(rows, digest)))
        task = asyncio.ensure_future(self._finish(committed, num_rows(rows), digest))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # somebody has looked at it
        if digest != NO_KEY:
            self._keys_in_flight[digest] = task
        return await asyncio.shield(task)  # a client that hangs up changes nothing

    async def _finish(self, committed: "asyncio.Future[Entry]", count: int, digest: bytes) -> Receipt:
        try:
            entry = await committed
        except OSError as error:
            raise _not_written(error) from error
        finally:
            self._rows_in_flight -= count
            self._keys_in_flight.pop(digest, None)
        self.counts.batches += 1
        self.counts.rows += count
        return Receipt(entry.first_row, entry.num_rows, False)

    def _check_can_go_on(self) -> None:
        if self.failure:
            raise RefusalError(503, f"no model can continue: {self.failure}")

    def _check_room(self, count: int) -> None:
        if self.num_waiting + count <= self._most_waiting:
            return
        with self._lock:
            speed = self._pace.rows_per_second
        wait = math.ceil(count / speed) if speed > 0 else 1  # NaN and 0 are not more than 0
        raise RefusalError(
            429,
            f"{self.num_waiting} rows are waiting, and at most {self._most_waiting} may. Slow down.",
            retry_after=min(max(wait, 1), LONGEST_WAIT),
        )


def _is_same(found: Accepted, rows: Chunk) -> bool:
    entry = Entry.of(to_records(rows).tobytes(), found.first_row, num_rows(rows), NO_KEY)
    return (entry.num_rows, entry.checksum) == (found.num_rows, found.checksum)


def _not_written(error: OSError) -> RefusalError:
    if error.errno in NO_ROOM:
        return RefusalError(507, "there is no room on the disk of the service. Try again later.", retry_after=10)
    return RefusalError(503, "the rows could not be written to disk. Try again later.", retry_after=10)
