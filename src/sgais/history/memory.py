"""Every row seen, in memory."""

from pathlib import Path
from typing import Any

import numpy as np

from sgais.fields import Chunk, num_rows
from sgais.history.records import fill, record_dtype, to_columns

SMALLEST_BUFFER = 4096


class Memory:
    """All rows seen so far, in a buffer that doubles as it fills (so that appending costs O(1) per row).

    Args:
        expected_rows: How many there will be, if that is known: then none is copied to make room for more.

    Example:
        >>> history = sgais.history.Memory()
        >>> history.append({"y": np.arange(3.0)})
        >>> history.between(1, 3)["y"].tolist()
        [1.0, 2.0]
    """

    def __init__(self, expected_rows: int = 0) -> None:
        self._records: np.ndarray | None = None
        self._expected_rows = expected_rows
        self.num_rows = 0

    def __repr__(self) -> str:
        return f"Memory(num_rows={self.num_rows})"

    @property
    def reach(self) -> int:
        """All rows."""
        return self.num_rows

    def append(self, chunk: Chunk) -> None:
        """Add the rows of a checked chunk."""
        total = self.num_rows + num_rows(chunk)
        if self._records is None:
            self._records = np.empty(max(SMALLEST_BUFFER, 2 * total, self._expected_rows), record_dtype(chunk))
        elif total > len(self._records):
            grown = np.empty(2 * total, self._records.dtype)
            grown[: self.num_rows] = self._records[: self.num_rows]
            self._records = grown
        fill(self._records[self.num_rows : total], chunk)
        self.num_rows = total

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:  # noqa: ARG002 - every row is kept
        """The rows with these numbers: columns of shape `(*rows.shape, ...)`."""
        assert self._records is not None, "there is no past to draw from before the first chunk"
        # `take` is several times faster than indexing; the rows are in range, so clipping never acts.
        return to_columns(self._records.take(rows, mode="clip"))

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, in the order of the stream."""
        assert self._records is not None, "there are no rows before the first chunk"
        return to_columns(self._records[start:end])

    def num_kept(self, start: int, end: int) -> int:
        """All of them."""
        return end - start

    def state(self, folder: Path) -> dict[str, Any]:  # noqa: ARG002 - all of it is in the checkpoint
        """Everything that the future depends on, for a checkpoint."""
        return {"rows": self.between(0, self.num_rows)}

    @classmethod
    def restored(cls, state: dict[str, Any], folder: Path) -> "Memory":  # noqa: ARG003 - see `state`
        """The history that had this state."""
        memory = cls()
        memory.append(state["rows"])
        return memory
