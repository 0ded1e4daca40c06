"""One file of many: opened by its format, with the columns that its path names."""

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from sgais.errors import DataError, require
from sgais.streams.objects.hive import hive_column, hive_values
from sgais.streams.objects.listing import FileEntry, Listing
from sgais.streams.source import Piece, existing_columns
from sgais.streams.sources.files import BLOCK_BYTES, whole_lines
from sgais.streams.sources.formats import FORMATS, TEXT_SOURCES, format_of_name
from sgais.streams.sources.parquet import ParquetFile, check_same_schema


class FileParts:
    """Reads files of one kind.

    Args:
        name: Of the source.
        listing: Opens them.
        format_name: Of all of them; by their names if None.
        wanted: The columns to read; all if None.
    """

    def __init__(self, name: str, listing: Listing, format_name: str | None, wanted: Sequence[str] | None) -> None:
        known = sorted(set(FORMATS.values()))
        require(format_name is None or format_name in known, "format", f"be one of {', '.join(known)}", format_name)
        self._name, self._listing, self._format_name = name, listing, format_name
        self._wanted = wanted
        self._first: ParquetFile | None = None  # whose schema the others must have

    def read(self, entry: FileEntry, start: int) -> Iterator[Piece]:
        """The rows of a file from row `start` on."""
        values = hive_values(entry.path)
        inside = None if self._wanted is None else [name for name in self._wanted if name not in values]
        for piece in self._pieces(entry, start, inside):
            asked = values if self._wanted is None else [name for name in self._wanted if name in values]
            hive = {name: hive_column(values[name], piece.num_rows) for name in asked}
            yield piece._replace(columns=hive | piece.columns)

    def _pieces(self, entry: FileEntry, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        kind = self._format_name or format_of_name(entry.path)
        if kind is None:
            raise DataError(
                f"`{self._name}` must have files whose names end on {', '.join(FORMATS)} (or .gz), got {entry.path}. "
                "Name the format: format='parquet', or a pattern that leaves the file out."
            )
        if kind == "parquet":
            return self._of_parquet(entry, start, wanted)
        return TEXT_SOURCES[kind](_ObjectLines(f"{self._name}: {entry.path}", self._listing, entry)).read(start, wanted)

    def _of_parquet(self, entry: FileEntry, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        file = ParquetFile.open(f"{self._name}: {entry.path}", lambda: self._listing.open(entry))
        self._first = self._first or file
        check_same_schema(self._first, file)
        names = existing_columns(self._name, file.schema.names, wanted)
        if start < file.num_rows:
            yield from file.read(start, names)


class _ObjectLines:
    """The text of a file."""

    is_live = False
    may_grow = False

    def __init__(self, name: str, listing: Listing, entry: FileEntry) -> None:
        self.name = name
        self._listing, self._entry = listing, entry

    def blocks(self) -> Iterator[str]:
        """Hand out the whole text; a last line without an end counts as one."""
        raw: Any = io.BufferedReader(self._listing.open(self._entry), 4 * BLOCK_BYTES)
        try:
            with gzip.open(raw) if self._entry.path.endswith(".gz") else raw as file:
                yield from whole_lines(iter(lambda: file.read(BLOCK_BYTES), b""))
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"`{self.name}` must be a whole gzip file, got {error}.") from error
