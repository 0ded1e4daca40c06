"""Parquet: one file, a directory or a pattern of them, read a row group at a time."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sgais.errors import DataError
from sgais.streams.source import ROWS_PER_PIECE, Piece, existing_columns, past_the_end
from sgais.streams.sources.arrow_columns import from_arrow

CELLS_PER_PIECE = 16 * ROWS_PER_PIECE  # bounds the memory that wide tables take


class ParquetSource:
    """Files of one schema, in the order of their names."""

    is_at_hand = False

    def __init__(self, path: str) -> None:
        self.name = path
        self.files = [ParquetFile.open(str(file), _path_of(file)) for file in _file_paths(path)]
        for file in self.files[1:]:
            check_same_schema(self.files[0], file)
        self.column_names: list[str] | None = list(self.files[0].schema.names)
        self.total_rows: int | None = sum(file.num_rows for file in self.files)

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on; files and row groups before it are not touched."""
        if start > (self.total_rows or 0):
            raise past_the_end(self.name, start, self.total_rows or 0)
        names = existing_columns(self.name, self.column_names or [], wanted)
        for file in self.files:
            if start < file.num_rows:
                yield from file.read(start, names)
            start = max(start - file.num_rows, 0)


class ParquetFile(NamedTuple):
    """What is known of a file before its rows are read.

    Attributes:
        name: What messages call it.
        opened: Gives what pyarrow reads from: a path, or a file of its kind.
        schema: Its columns.
        group_rows: The rows of each of its row groups.
    """

    name: str
    opened: Callable[[], Any]
    schema: Any
    group_rows: list[int]

    @classmethod
    def open(cls, name: str, opened: Callable[[], Any]) -> "ParquetFile":
        """Read the footer."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with pq.ParquetFile(opened()) as file:
                groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
                return cls(name, opened, file.schema_arrow, groups)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(name, error) from error

    @property
    def num_rows(self) -> int:
        """Of all row groups."""
        return sum(self.group_rows)

    def read(self, start: int, names: list[str]) -> Iterator[Piece]:
        """The rows from row `start` of this file on."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        first_group = 0
        while start >= self.group_rows[first_group]:
            start -= self.group_rows[first_group]
            first_group += 1
        rows_per_piece = max(min(ROWS_PER_PIECE, CELLS_PER_PIECE // len(names)), 1)
        try:
            with pq.ParquetFile(self.opened()) as file:
                for groups in self._runs(
                    first_group, rows_per_piece
                ):  # what pyarrow reads ahead, it keeps to their end
                    for batch in file.iter_batches(rows_per_piece, row_groups=groups, columns=names):
                        rows = batch.slice(start)
                        start = max(start - batch.num_rows, 0)
                        yield Piece({name: from_arrow(rows.column(name)) for name in names}, rows.num_rows)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(self.name, error) from error

    def _runs(self, first: int, num_rows: int) -> Iterator[list[int]]:
        """Row groups of so many rows together, or single ones that have more."""
        run: list[int] = []
        for group in range(first, len(self.group_rows)):
            run.append(group)
            if sum(self.group_rows[each] for each in run) >= num_rows:
                yield run
                run = []
        if run:
            yield run


def _path_of(file: Path) -> Callable[[], Path]:
    return lambda: file


def _file_paths(path: str) -> list[Path]:
    if Path(path).is_file():
        return [Path(path)]
    pattern = Path(path) / "*.parquet" if Path(path).is_dir() else Path(path)
    found = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    if not found:
        raise DataError(
            f"`source` must be a Parquet file, a directory or a pattern of such files, got {path}: none there."
        )
    return found


def check_same_schema(first: ParquetFile, other: ParquetFile) -> None:
    """Refuse a file whose columns are others."""
    for name in dict.fromkeys([*first.schema.names, *other.schema.names]):
        types = [
            file.schema.field(name).type if name in file.schema.names else "no such column" for file in (first, other)
        ]
        if types[0] != types[1]:
            raise DataError(
                f"`source` must have files of one schema, got column {name!r} as {types[0]} in {first.name} and as "
                f"{types[1]} in {other.name}. Convert one of them, or stream them apart."
            )


def _unreadable(name: str, error: Exception) -> DataError:
    return DataError(f"`source` must be a Parquet file that can be read, got {name}: {error}")
