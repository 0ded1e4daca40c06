"""Reads the rows of the log in order, in stretches of any length, wherever batches and files end."""

from typing import BinaryIO

import numpy as np

from sgais.errors import CheckpointError
from sgais.fields import Chunk
from sgais.history.records import to_columns
from sgais.serve.log.entry import read_header, read_rows
from sgais.serve.log.row_log import RowLog
from sgais.serve.log.segment import Segment


class LogReader:
    """One pass over the log.

    Args:
        log: The log.
        next_row: The number of the row to begin with.
    """

    def __init__(self, log: RowLog, next_row: int) -> None:
        self._log, self.next_row = log, next_row
        self._segment: Segment | None = None
        self._file: BinaryIO | None = None
        self._read: list[np.ndarray] = []  # records of batches that are read and not taken
        self._num_read = 0

    def take(self, count: int) -> Chunk | None:
        """The next `count` rows, or None while there are not so many."""
        if self._log.end_row - self.next_row < count:
            return None
        while self._num_read < count:
            self._add(self._next_batch())
        records = self._read[0] if len(self._read) == 1 else np.concatenate(self._read)
        self._read = [records[count:]] if len(records) > count else []
        self._num_read -= count
        self.next_row += count
        return to_columns(records[:count])

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
        self._file = self._segment = None

    def _add(self, records: np.ndarray) -> None:
        self._read.append(records)
        self._num_read += len(records)

    def _next_batch(self) -> np.ndarray:
        """The records of the next batch, without those that come before what is asked for."""
        row = self.next_row + self._num_read
        if self._segment is None or row >= self._segment.end_row:
            self._open(row)
        assert self._file is not None, "a segment that is read has a file"
        assert self._segment is not None, "a file that is read has a segment"
        while True:
            entry = read_header(self._file)
            rows = None if entry is None else read_rows(self._file, entry)
            if entry is None or rows is None:
                raise CheckpointError(f"{self._segment.path} is damaged at row {row:,}. Put it back from a copy.")
            if entry.first_row + entry.num_rows > row:
                return np.frombuffer(rows, self._segment.dtype)[row - entry.first_row :]

    def _open(self, row: int) -> None:
        self.close()
        segment = self._log.segment_at(row)
        if segment is None:
            raise CheckpointError(f"the log does not hold row {row:,}, which the checkpoint counts on.")
        # Not buffered: what lies behind the last batch may still be written over.
        self._segment, self._file = segment, segment.path.open("rb", buffering=0)
        self._file.seek(segment.start)
