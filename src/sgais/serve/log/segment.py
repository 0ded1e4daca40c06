"""A file of the log: one line of JSON that says what a row looks like, then batches, one behind the other."""

import json
import os
import re
from pathlib import Path

import numpy as np

from sgais.checkpoint import durable
from sgais.errors import CheckpointError
from sgais.fields import Chunk
from sgais.history.records import record_dtype
from sgais.serve.log.entry import Entry, read_header, read_rows

NAME, FORMAT = "sgais rows", 1
_FILE_NAME = re.compile(r"rows-(\d{20})\.log")


class Segment:
    """Batches whose rows have consecutive numbers.

    Attributes:
        path: The file.
        first_row: The number of the first row in it.
        end_row: The number of the row that comes behind it.
        start: Where the first batch stands in the file.
        size: Bytes of the file that hold whole batches.
        dtype: Of its rows.
    """

    def __init__(self, path: Path, first_row: int, dtype: np.dtype, start: int) -> None:
        self.path, self.first_row, self.end_row = path, first_row, first_row
        self.dtype, self.start, self.size = dtype, start, start

    @classmethod
    def create(cls, folder: Path, first_row: int, columns: Chunk) -> "Segment":
        """A new file, whose name is on disk when this returns."""
        path = folder / f"rows-{first_row:020d}.log"
        described = [[name, values.dtype.str, list(values.shape[1:])] for name, values in columns.items()]
        header = {"name": NAME, "format": FORMAT, "first_row": first_row, "columns": described}
        line = json.dumps(header).encode() + b"\n"
        with open(path, "wb", opener=durable.private) as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        durable.sync_folder(folder)
        return cls(path, first_row, record_dtype(columns), len(line))

    @classmethod
    def read(cls, path: Path) -> tuple["Segment", list[Entry]]:
        """A file that is there, with the headers of the batches that are whole; what follows them does not count."""
        with path.open("rb") as file:
            segment = cls._begun(path, file.readline())
            entries = []
            while (entry := read_header(file)) is not None and entry.first_row == segment.end_row:
                if read_rows(file, entry) is None:
                    break
                entries.append(entry)
                segment.end_row += entry.num_rows
                segment.size = file.tell()
        return segment, entries

    @classmethod
    def _begun(cls, path: Path, line: bytes) -> "Segment":
        try:
            header = json.loads(line)
            columns = {str(name): np.empty((0, *shape), np.dtype(str(kind))) for name, kind, shape in header["columns"]}
            if header["name"] == NAME and header["format"] == FORMAT:
                return cls(path, int(header["first_row"]), record_dtype(columns), len(line))
        except (ValueError, TypeError, KeyError):
            pass
        raise CheckpointError(f"{path} must be a log of rows, got another first line.")

    def tail(self) -> bytes:
        """What stands behind the last whole batch."""
        with self.path.open("rb") as file:
            file.seek(self.size)
            return file.read()

    def cut_off_tail(self) -> int:
        """Set aside what stands behind the last whole batch, in a file of its own; tells how many bytes."""
        tail = self.tail()
        if tail:
            durable.replace(self.path.with_suffix(".torn"), tail)
            with self.path.open("r+b") as file:
                file.truncate(self.size)
                os.fsync(file.fileno())
        return len(tail)


def segment_files(folder: Path) -> list[Path]:
    """The files of a log, in the order of their rows."""
    return sorted(path for path in folder.iterdir() if _FILE_NAME.fullmatch(path.name))


def is_empty(path: Path) -> bool:
    """Whether a process was killed before the first line of the file was written."""
    with path.open("rb") as file:
        return not file.readline().endswith(b"\n")


def first_row_of(path: Path) -> int:
    """As its name has it."""
    found = _FILE_NAME.fullmatch(path.name)
    assert found is not None, "files of the log are found by their names"
    return int(found[1])


def set_aside(path: Path) -> None:
    """Take a file out of the log without losing it."""
    path.replace(path.with_name(path.name + ".lost"))
