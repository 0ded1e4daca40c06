"""Every row seen, in a file that is only ever appended to."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from sgais.errors import CheckpointError, HistoryError, SgaisError
from sgais.fields import Chunk
from sgais.history.records import record_dtype, to_columns, to_records


class Disk:
    """All rows seen so far, in a file; the system keeps in memory what is drawn often.

    Rows are written as records and read through a memory map. They are never written through it: a full disk is then
    an error that can be handled, not the end of the process.

    Args:
        path: A file that does not exist yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.exists():
            raise SgaisError(
                f"`path` must be a new file, got {self.path}, which exists. Delete it, or load the checkpoint that "
                "goes with it."
            )
        self.num_rows = 0
        self._dtype: np.dtype | None = None
        self._map: np.ndarray | None = None

    @property
    def reach(self) -> int:
        """All rows."""
        return self.num_rows

    def append(self, chunk: Chunk) -> None:
        """Add the rows of a checked chunk. Where that fails, the file counts as if it had not been tried."""
        records = to_records(chunk)
        try:
            with self.path.open("r+b" if self.path.exists() else "w+b") as file:
                file.seek(self.num_rows * records.itemsize)
                file.write(records.tobytes())
        except OSError as error:
            raise HistoryError(
                f"the rows must find room in {self.path}, got {error.strerror or error}. The chunk was not taken in: "
                "make room and push it again, or go on from the last checkpoint."
            ) from error
        self._dtype = records.dtype
        self.num_rows += len(records)

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:  # noqa: ARG002 - every row is kept
        """The rows with these numbers: columns of shape (*rows.shape, ...)."""
        return to_columns(self._records().take(rows, mode="clip"))

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, in the order of the stream."""
        return to_columns(self._records()[start:end])

    def num_kept(self, start: int, end: int) -> int:
        """All of them."""
        return end - start

    def state(self) -> dict[str, Any]:
        """What a checkpoint needs to find the rows again; they are on disk for good once this returns."""
        try:
            with self.path.open("r+b") as file:
                os.fsync(file.fileno())
        except OSError as error:
            raise CheckpointError(f"the rows in {self.path} cannot be saved: {error.strerror or error}.") from error
        empty = to_columns(self._records()[:0])
        return {"path": str(self.path), "num_rows": self.num_rows, "columns": empty}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Disk":
        """The history that had this state: rows that were appended after it no longer count."""
        disk = cls.__new__(cls)
        disk.path, disk.num_rows = Path(state["path"]), state["num_rows"]
        disk._dtype, disk._map = record_dtype(state["columns"]), None
        size = disk.path.stat().st_size if disk.path.exists() else 0
        if size < disk.num_rows * disk._dtype.itemsize:
            raise SgaisError(
                f"the checkpoint counts on {disk.num_rows} rows in {disk.path}, which is missing or shorter than that. "
                "Put the file back; the rows are nowhere else."
            )
        return disk

    def _records(self) -> np.ndarray:
        assert self._dtype is not None, "there is no past to draw from before the first chunk"
        if self._map is None or len(self._map) < self.num_rows:
            self._map = np.memmap(self.path, self._dtype, mode="r", shape=(self.num_rows,))
        return self._map
