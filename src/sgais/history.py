"""The past that mini-batches are drawn from: every row seen, in memory."""

from typing import Protocol

import numpy as np

from sgais.fields import Chunk, num_rows

SMALLEST_BUFFER = 4096
RECORD_ALIGNMENT = 32  # bytes; half a cache line


class History:
    """All rows seen so far, in a buffer that doubles as it fills (so that appending costs O(1) per row).

    A row's columns are stored side by side as one record: drawing a row from a long history is then one cache
    miss, not one per column, and the cost of a mini-batch hardly grows with the rows seen.
    """

    def __init__(self) -> None:
        self._records: np.ndarray | None = None
        self.num_rows = 0

    def append(self, chunk: Chunk) -> None:
        """Add the rows of a checked chunk."""
        total = self.num_rows + num_rows(chunk)
        if self._records is None or total > len(self._records):
            self._records = self._grown(chunk, total)
        for name, values in chunk.items():
            self._records[name][self.num_rows : total] = values
        self.num_rows = total

    def draw(self, generator: np.random.Generator, num_batches: int, batch_size: int) -> Chunk:
        """Mini-batches drawn independently with replacement: columns of shape (num_batches, batch_size, ...)."""
        return self.take(generator.integers(self.num_rows, size=(num_batches, batch_size)))

    def take(self, rows: np.ndarray) -> Chunk:
        """The rows with these numbers: columns of shape (*rows.shape, ...)."""
        assert self._records is not None, "there is no past to draw from before the first chunk"
        # `take` is several times faster than indexing; the rows are in range, so clipping never acts.
        return _columns(self._records.take(rows, mode="clip"))

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, in the order of the stream."""
        assert self._records is not None, "there are no rows before the first chunk"
        return _columns(self._records[start:end])

    def _grown(self, chunk: Chunk, total: int) -> np.ndarray:
        dtype = _record_dtype(chunk) if self._records is None else self._records.dtype
        grown = np.empty(max(SMALLEST_BUFFER, 2 * total), dtype)
        if self._records is not None:
            grown[: self.num_rows] = self._records[: self.num_rows]
        return grown


class Past(Protocol):
    """The rows before a chunk, as far as estimators need them."""

    @property
    def num_rows(self) -> int:
        """How many there are."""

    def draw(self, generator: np.random.Generator, num_batches: int, batch_size: int) -> Chunk:
        """Mini-batches, independent and with replacement."""

    def take(self, rows: np.ndarray) -> Chunk:
        """The rows with these numbers."""

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`."""


class WithChunk:
    """The past and a chunk that is just being taken in, as one stretch of rows; neither is changed or copied."""

    def __init__(self, past: Past, chunk: Chunk) -> None:
        self._past, self._chunk = past, chunk
        self.num_rows = past.num_rows + num_rows(chunk)

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, in the order of the stream."""
        border = self._past.num_rows
        new = {name: values[max(0, start - border) : max(0, end - border)] for name, values in self._chunk.items()}
        if start >= border:
            return new
        old = self._past.between(start, min(end, border))
        return {name: np.concatenate([old[name], new[name]]) for name in new}

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], start: int, end: int) -> Chunk:
        """Rows between `start` and `end`, drawn independently with replacement."""
        rows = generator.integers(start, end, size=shape)
        border = self._past.num_rows
        if end <= border:
            return self._past.take(rows)
        is_new = rows >= border
        new = {name: values[np.maximum(rows - border, 0)] for name, values in self._chunk.items()}
        if start >= border:
            return new
        drawn = self._past.take(np.minimum(rows, border - 1))
        for name, values in drawn.items():
            values[is_new] = new[name][is_new]
        return drawn


def _record_dtype(chunk: Chunk) -> np.dtype:
    formats = [(values.dtype, values.shape[1:]) for values in chunk.values()]
    packed = np.dtype({"names": list(chunk), "formats": formats})
    padded = -(-packed.itemsize // RECORD_ALIGNMENT) * RECORD_ALIGNMENT
    return np.dtype({"names": list(chunk), "formats": formats, "itemsize": padded})


def _columns(records: np.ndarray) -> Chunk:
    return {name: np.ascontiguousarray(records[name]) for name in records.dtype.names or ()}
