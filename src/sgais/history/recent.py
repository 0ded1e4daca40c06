"""The latest rows of a stream, as many as fit."""

import numpy as np


class Recent:
    """The latest `size` records; older ones fall off."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.num_rows = 0
        self._buffer: np.ndarray | None = None
        self._end = 0  # of the part of the buffer that is used

    def append(self, records: np.ndarray) -> None:
        """Add records."""
        self.num_rows += len(records)
        records = records[-self.size :]
        if self._buffer is None:
            self._buffer = np.empty(2 * self.size, records.dtype)
        if self._end + len(records) > len(self._buffer):
            keep = self.size - len(records)
            self._buffer[:keep] = self._buffer[self._end - keep : self._end]
            self._end = keep
        self._buffer[self._end : self._end + len(records)] = records
        self._end += len(records)

    def between(self, start: int, end: int) -> np.ndarray:
        """The records with numbers from `start` to before `end`, counted from the start of the stream."""
        if self._buffer is None:
            raise IndexError("no rows yet")
        shift = self._shift(start)
        return self._buffer[start - shift : end - shift]

    def take(self, rows: np.ndarray) -> np.ndarray:
        """The records with these numbers."""
        assert self._buffer is not None, "there is no past to draw from before the first chunk"
        return self._buffer.take(rows - self._shift(int(rows.min(initial=self.num_rows))), mode="clip")

    def _shift(self, first: int) -> int:
        assert first >= self.num_rows - self.size, "rows so old are no longer kept"
        return self.num_rows - self._end
