"""The past that mini-batches are drawn from: every row seen, in memory."""

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
        assert self._records is not None, "there is no past to draw from before the first chunk"
        rows = generator.integers(self.num_rows, size=(num_batches, batch_size))
        # `take` is several times faster than indexing; the rows are in range, so clipping never acts.
        records = self._records.take(rows, mode="clip")
        return {name: np.ascontiguousarray(records[name]) for name in _names(records)}

    def _grown(self, chunk: Chunk, total: int) -> np.ndarray:
        dtype = _record_dtype(chunk) if self._records is None else self._records.dtype
        grown = np.empty(max(SMALLEST_BUFFER, 2 * total), dtype)
        if self._records is not None:
            grown[: self.num_rows] = self._records[: self.num_rows]
        return grown


def _record_dtype(chunk: Chunk) -> np.dtype:
    formats = [(values.dtype, values.shape[1:]) for values in chunk.values()]
    packed = np.dtype({"names": list(chunk), "formats": formats})
    padded = -(-packed.itemsize // RECORD_ALIGNMENT) * RECORD_ALIGNMENT
    return np.dtype({"names": list(chunk), "formats": formats, "itemsize": padded})


def _names(records: np.ndarray) -> tuple[str, ...]:
    return records.dtype.names or ()
