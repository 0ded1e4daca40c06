"""The write-ahead log: every row that was acknowledged and is not yet in a checkpoint, in the order of the stream.

Rows are on disk before anybody hears that they were accepted. The worker reads them from here, so that there is no
other queue: a service that was killed reads on from its checkpoint just as one that was not.
"""

import os
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sgais.fields import Chunk, Field, Fields, num_rows
from sgais.history.records import to_records
from sgais.serve.log.entry import NO_KEY, Entry, pack
from sgais.serve.log.found import Found, Witness
from sgais.serve.log.newest import Newest
from sgais.serve.log.segment import Segment


class Batch(NamedTuple):
    """Rows that wait to be written.

    Attributes:
        rows: Checked columns.
        key: The digest of the idempotency key, or `NO_KEY`.
    """

    rows: Chunk
    key: bytes = NO_KEY


class RowLog:
    """Files in a folder, each of which begins where the one before it ends.

    Args:
        folder: Of the log; made if it is not there.
        first_row: Where the stream stands: rows from here on are needed, and the first of them where the log is empty.
        acknowledged: Rows that are known to have been acknowledged; a log that lacks some of them is refused.
        gives_up: Whether to continue without acknowledged rows that are damaged or gone.

    Attributes:
        end_row: The number of the row that will be appended next.
        entries: The headers of the batches that were found at the start, for their keys.
        has_given_up: Whether acknowledged rows from `end_row` on were given up at the start.
    """

    def __init__(self, folder: Path, first_row: int = 0, acknowledged: int = 0, gives_up: bool = False) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._is_closed = True  # the newest file is never appended to after a start: its columns may be others
        folder.mkdir(parents=True, exist_ok=True)
        self._newest = Newest(folder.with_name(folder.name + ".newest"))
        found = Found(folder, Witness(first_row, acknowledged, self._newest), gives_up)
        self._segments, self.entries = found.segments, found.entries
        self.end_row, self.has_given_up = found.end_row, found.has_given_up
        if self.has_given_up:
            self._newest.clear()
            warnings.warn(f"acknowledged rows from {self.end_row:,} on were given up", stacklevel=3)
        elif found.num_torn_bytes:
            warnings.warn(
                f"{found.num_torn_bytes:,} bytes behind row {self.end_row:,} were set aside: they are a part of a "
                "batch that was being written when the process ended",
                stacklevel=3,
            )

    @property
    def size(self) -> int:
        """Bytes on disk."""
        with self._lock:
            return sum(segment.size for segment in self._segments)

    def fields(self) -> Fields | None:
        """What its rows look like, if there are any."""
        if not self._segments:
            return None
        found: Any = self._segments[-1].dtype.fields or {}
        return {name: Field(kind.shape, kind.base.kind in "iu") for name, (kind, *_) in found.items()}

    def append(self, batches: Sequence[Batch]) -> list[Entry]:
        """Write batches one behind the other; they are on disk for good when this returns, or not at all.

        Where writing fails (`OSError`), the log is as it was before.
        """
        with self._lock:
            if self._is_closed:
                self._begin_file(batches[0].rows)
            segment, first_row = self._segments[-1], self.end_row
            blobs, entries = [], []
            for batch in batches:
                rows = to_records(batch.rows).tobytes()
                entry = Entry.of(rows, first_row, num_rows(batch.rows), batch.key)
                blobs.append(pack(entry, rows))
                entries.append(entry)
                first_row += entry.num_rows
            blob = b"".join(blobs)
            _write_durably(segment, blob)
            segment.size += len(blob)
            segment.end_row = self.end_row = first_row
            return entries

    def segment_at(self, row: int) -> Segment | None:
        """The file that holds a row."""
        with self._lock:
            return next((segment for segment in self._segments if segment.first_row <= row < segment.end_row), None)

    def start_new_file(self) -> None:
        """Let the next batch begin a file, so that those before can be dropped one day."""
        with self._lock:
            self._is_closed = True

    def drop_before(self, row: int) -> None:
        """Delete the files all of whose rows come before a row."""
        with self._lock:
            dropped = [segment for segment in self._segments[:-1] if segment.end_row <= row]
            if self._is_closed and self._segments and self._segments[-1].end_row <= row:
                dropped.append(self._segments[-1])
                self._newest.clear()
            for segment in dropped:
                segment.path.unlink(missing_ok=True)
                self._segments.remove(segment)

    def _begin_file(self, columns: Chunk) -> None:
        segment = Segment.create(self._folder, self.end_row, columns)
        self._newest.write(segment.first_row)
        if self._segments and self._segments[-1].first_row == self.end_row:
            self._segments.pop()  # it never got a batch, and has just been written over
        self._segments.append(segment)
        self._is_closed = False


def _write_durably(segment: Segment, blob: bytes) -> None:
    with segment.path.open("r+b", buffering=0) as file:
        try:
            file.seek(segment.size)
            written = 0
            while written < len(blob):  # a disk that fills up takes a part, and refuses at the next try
                written += file.write(blob[written:]) or 0
            os.fdatasync(file.fileno())
        except OSError:
            file.truncate(segment.size)
            raise
