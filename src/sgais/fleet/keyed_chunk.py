"""A chunk with a column of keys, put in the order of its keys."""

from typing import NamedTuple

import numpy as np

from sgais.errors import DataError
from sgais.fields import Chunk


class KeyedChunk(NamedTuple):
    """Rows by key.

    Attributes:
        names: The keys, each once.
        counts: How many rows each has.
        starts: Where they begin.
        rows: The columns, sorted by key; the rows of one key are in the order in which they came.
    """

    names: list[str]
    counts: np.ndarray
    starts: np.ndarray
    rows: Chunk

    def of(self, number: int) -> Chunk:
        """The rows of one key."""
        start, end = self.starts[number], self.starts[number] + self.counts[number]
        return {name: values[start:end] for name, values in self.rows.items()}


def by_key(keys: np.ndarray, rows: Chunk) -> KeyedChunk:
    """The rows in the order of their keys."""
    names, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(inverse, kind="stable")
    ordered = {name: values[order] for name, values in rows.items()}
    return KeyedChunk(names.tolist(), counts, np.cumsum(counts) - counts, ordered)


def as_keys(name: str, values: object) -> np.ndarray:
    """A column of keys as text: 17, "17" and 17.0 are one key."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise DataError(f"column '{name}' must hold one key per row, got an array of shape {column.shape}.")
    if column.dtype.kind == "f":
        _require(name, column, np.isfinite(column) & (column == np.floor(column)))
        column = column.astype(np.int64)
    elif column.dtype.kind == "O":
        kinds = (str, int, np.integer)
        _require(name, column, np.array([isinstance(each, kinds) and each != "" for each in column], bool))
    elif column.dtype.kind not in "iuUT":
        raise DataError(f"column '{name}' must hold text or whole numbers as keys, got dtype {column.dtype}.")
    return column.astype(np.str_)


def _require(name: str, column: np.ndarray, is_good: np.ndarray) -> None:
    if not is_good.all():
        row = int(np.argmin(is_good))
        raise DataError(
            f"column '{name}' must hold a key in every row, text or a whole number, got {column[row]!r} in row {row} "
            "of the chunk. Drop such rows."
        )
