"""Every row seen, in a file that is only ever appended to."""

import os
import secrets
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from sgais.checkpoint.durable import private
from sgais.errors import CheckpointError, HistoryError, SgaisError
from sgais.fields import Chunk
from sgais.history.records import record_dtype, to_columns, to_records

NAME = b"sgais history\n"
IDENTITY_BYTES = 16
HEADER_BYTES = 64  # name and identity, and room to keep records where memory is read fastest
WITNESSES = 1024  # of the latest records: a checkpoint knows what they were


class Disk:
    """All rows seen so far, in a file; the system keeps in memory what is drawn often.

    Rows are written as records and read through a memory map. They are never written through it: a full disk is then
    an error that can be handled, not the end of the process.

    The file begins with an identity drawn at random, which checkpoints repeat: nothing else is ever written over.

    Args:
        path: A file that does not exist yet.

    Example:
        >>> history = sgais.history.Disk("rows.bin")
        >>> history.append({"y": np.arange(3.0)})
        >>> history.between(1, 3)["y"].tolist()
        [1.0, 2.0]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.exists():
            raise SgaisError(
                f"`path` must be a new file, got {self.path}, which exists. Delete it, or load the checkpoint that "
                "goes with it."
            )
        self.num_rows = 0
        self._identity = secrets.token_bytes(IDENTITY_BYTES)
        self._start = HEADER_BYTES  # of the records
        self._dtype: np.dtype | None = None
        self._map: np.ndarray | None = None

    def __repr__(self) -> str:
        return f"Disk({str(self.path)!r}, num_rows={self.num_rows})"

    @property
    def reach(self) -> int:
        """All rows."""
        return self.num_rows

    def append(self, chunk: Chunk) -> None:
        """Add the rows of a checked chunk. Where that fails, the file counts as if it had not been tried."""
        records = to_records(chunk)
        try:
            if not self.num_rows:
                self._begin()
            with self.path.open("r+b") as file:
                file.seek(self._start + self.num_rows * records.itemsize)
                file.write(records.tobytes())
        except OSError as error:
            raise HistoryError(
                f"the rows must find room in {self.path}, got {error.strerror or error}. The chunk was not used: "
                "make room and push it again, or resume from the last checkpoint."
            ) from error
        self._dtype = records.dtype
        self.num_rows += len(records)

    def take(self, rows: np.ndarray, start: int, end: int) -> Chunk:  # noqa: ARG002 - every row is kept
        """The rows with these numbers: columns of shape `(*rows.shape, ...)`."""
        return to_columns(self._records().take(rows, mode="clip"))

    def between(self, start: int, end: int) -> Chunk:
        """The rows from `start` to before `end`, in the order of the stream."""
        return to_columns(self._records()[start:end])

    def num_kept(self, start: int, end: int) -> int:
        """All of them."""
        return end - start

    def state(self, folder: Path) -> dict[str, Any]:
        """What a checkpoint in this folder needs to find the rows again; they are on disk once this returns."""
        try:
            with self.path.open("r+b") as file:
                os.fsync(file.fileno())
        except OSError as error:
            raise CheckpointError(f"the rows in {self.path} cannot be saved: {error.strerror or error}.") from error
        path, folder = self.path.resolve(), folder.resolve()
        return {
            "path": str(path.relative_to(folder) if path.is_relative_to(folder) else path),
            "num_rows": self.num_rows,
            "columns": to_columns(self._records()[:0]),
            "identity": np.frombuffer(self._identity, np.uint8),
            "start": self._start,
            "witness": self._witness(),
        }

    @classmethod
    def restored(cls, state: dict[str, Any], folder: Path) -> "Disk":
        """The history that had this state: rows that were appended after it no longer count.

        Args:
            state: Of the history.
            folder: Of the checkpoint. Where this was copied together with the rows, the copy's rows are meant.
        """
        disk = cls.__new__(cls)
        disk.num_rows, disk._map = int(state["num_rows"]), None
        disk._dtype = record_dtype(state["columns"])
        # Versions before wrote no identity; their files are taken only where they lie beside the checkpoint.
        has_identity = state.get("start", 0) == HEADER_BYTES
        path = Path(state["path"])
        disk.path = folder / (path if has_identity else path.name)
        disk._start = HEADER_BYTES if has_identity else 0
        disk._identity = state["identity"].tobytes() if has_identity else b""
        disk._check(state.get("witness"))
        return disk

    def _begin(self) -> None:
        with open(self.path, "w+b", opener=private) as file:
            file.write((NAME + self._identity).ljust(HEADER_BYTES, b"\0"))

    def _check(self, witness: int | None) -> None:
        """Refuse a file that is not the one that was saved: it would be written over."""
        assert self._dtype is not None, "a history that is restored has a record type"
        size = self.path.stat().st_size if self.path.is_file() else 0
        if self.num_rows < 1 or size < self._start + self.num_rows * self._dtype.itemsize:
            raise SgaisError(
                f"the checkpoint counts on {self.num_rows} rows in {self.path}, which is missing or shorter than that. "
                "Put the file back; the rows are nowhere else."
            )
        with self.path.open("rb") as file:
            begins_so = file.read(len(NAME) + IDENTITY_BYTES) == NAME + self._identity
        is_ours = begins_so if self._start else not self.path.is_symlink()
        if not is_ours or (witness is not None and self._witness() != witness):
            raise SgaisError(
                f"{self.path} must hold the rows that the checkpoint was saved with, got others. Put the file back "
                "that goes with the checkpoint; two runs cannot share one."
            )

    def _witness(self) -> int:
        """A checksum of the latest rows."""
        return zlib.crc32(self._records()[-WITNESSES:].tobytes())

    def _records(self) -> np.ndarray:
        assert self._dtype is not None, "there is no past to draw from before the first chunk"
        if self._map is None or len(self._map) < self.num_rows:
            self._map = np.memmap(self.path, self._dtype, mode="r", offset=self._start, shape=(self.num_rows,))
        return self._map
