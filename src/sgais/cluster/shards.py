"""Shards: row groups of Parquet files, which stay the same however many workers there are."""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import DataError
from sgais.fields import Chunk, Fields, check_chunk, infer_fields
from sgais.models.base import real_dtype
from sgais.streams.source import Piece, existing_columns
from sgais.streams.sources.parquet import ParquetSource
from sgais.streams.stream import Stream

MOST_BYTES = 256 * 2**20  # of rows that a worker remembers


class Shard(NamedTuple):
    """A row group of a file.

    Attributes:
        path: Of the file.
        group: The number of the row group.
        num_rows: How many rows it has.
    """

    path: str
    group: int
    num_rows: int

    def __str__(self) -> str:
        return f"row group {self.group} of {self.path}"


class Shards(NamedTuple):
    """The rows of some files, by description.

    Attributes:
        parts: In the order of the files and of their row groups.
        columns: The files' columns for each column of the model, as in `sgais.stream`.

    Example:
        >>> import pyarrow as pa, pyarrow.parquet as pq
        >>> pq.write_table(pa.table({"a": range(10), "b": range(10)}), "rows.parquet", row_group_size=4)
        >>> found = sgais.cluster.shards("rows.parquet", x=["a"], y="b")
        >>> found.num_rows, len(found.parts)
        (10, 3)
    """

    parts: tuple[Shard, ...]
    columns: dict[str, Any]

    @property
    def num_rows(self) -> int:
        """Of all of them."""
        return sum(part.num_rows for part in self.parts)


def shards(path: str, **columns: str | Sequence[str]) -> Shards:
    """The row groups of a Parquet file, a directory or a pattern of such files; only their footers are read.

    Args:
        path: Where they are; every worker must see them there.
        **columns: The files' columns that make up a column of the model: `x=["height", "age"], y="weight"`.

    Example:
        >>> import pyarrow as pa, pyarrow.parquet as pq
        >>> pq.write_table(pa.table({"a": range(10), "b": range(10)}), "rows.parquet", row_group_size=4)
        >>> found = sgais.cluster.shards("rows.parquet", x=["a"], y="b")
        >>> [part.num_rows for part in found.parts]
        [4, 4, 2]
    """
    files = ParquetSource(path).files
    parts = [Shard(str(file.name), group, rows) for file in files for group, rows in enumerate(file.group_rows) if rows]
    if not parts:
        raise DataError(f"`data` must have at least one row, got none in {path}.")
    return Shards(tuple(parts), dict(columns))


_REMEMBERED: "OrderedDict[tuple[Any, ...], Chunk]" = OrderedDict()


def rows_of(shard: Shard, columns: dict[str, Any], fields: Fields | None) -> Chunk:
    """The rows of a shard, cleaned and checked; a process remembers some of them."""
    key = (shard, repr(columns), repr(fields))
    if key not in _REMEMBERED:
        source = Stream(_RowGroup(shard), shard.num_rows, fields, {}, "raise", None, 0, columns)
        chunk = next(iter(source))
        _REMEMBERED[key] = check_chunk(chunk, fields or infer_fields(chunk), real_dtype())
        while len(_REMEMBERED) > 1 and sum(map(_num_bytes, _REMEMBERED.values())) > MOST_BYTES:
            _REMEMBERED.popitem(last=False)
    _REMEMBERED.move_to_end(key)
    return _REMEMBERED[key]


class _RowGroup:
    """A source that is one row group."""

    is_at_hand = True

    def __init__(self, shard: Shard) -> None:
        self.name = str(shard)
        self._file = ParquetSource(shard.path).files[0]
        if self._file.group_rows[shard.group : shard.group + 1] != [shard.num_rows]:
            raise DataError(f"`data` must stay as it was, got another number of rows in {shard}. Start anew.")
        self._start = sum(self._file.group_rows[: shard.group])
        self.column_names: list[str] | None = list(self._file.schema.names)
        self.total_rows: int | None = shard.num_rows

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """The rows from row `start` of the row group on."""
        names = existing_columns(self.name, self.column_names or [], wanted)
        left = (self.total_rows or 0) - start
        for piece in self._file.read(self._start + start, names):
            count = min(left, piece.num_rows)
            cut: dict[str, Any] = {name: values[:count] for name, values in piece.columns.items()}
            yield Piece(cut, count)
            left -= count
            if not left:
                return


def _num_bytes(rows: Chunk) -> int:
    return sum(np.asarray(values).nbytes for values in rows.values())
