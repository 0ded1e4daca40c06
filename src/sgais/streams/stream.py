"""Chunks from anything that has rows: the one way into this room."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from sgais.errors import DataError, require, require_count
from sgais.fields import Chunk, Fields
from sgais.streams.assembly import Assembly, Delivery
from sgais.streams.choice import choose_source
from sgais.streams.cleaning.bad_rows import check_policy
from sgais.streams.cleaning.cleaning import Cleaner
from sgais.streams.cleaning.mapping import column_mapping, wanted_columns
from sgais.streams.prefetch import read_ahead
from sgais.streams.source import Bookmark, MarkedSource, Piece, Source, existing_columns, past_the_end


def stream(
    source: object,
    chunk_size: int = 500,
    *,
    fields: Fields | None = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
    on_error: str = "raise",
    quarantine: str | Path | None = None,
    follow_seconds: float | None = None,
    prefetch: int = 2,
    format: str | None = None,  # noqa: A002 (the word that users expect)
    storage_options: Mapping[str, str] | None = None,
    **columns: str | Sequence[str],
) -> "Stream":
    """Read a source in chunks of `chunk_size` rows; the last may be shorter.

    Args:
        source: A dictionary of arrays, one array (which means `{"y": array}`), a pandas, Polars or Arrow table, the
            path of a CSV, Parquet or NDJSON file, a directory or pattern of Parquet files, "-" for standard input,
            the URI of a broker, a database or an object store (docs/streams.md), or any iterable of rows
            (dictionaries) or of chunks.
        chunk_size: Good rows per chunk.
        fields: What the model expects (`model.fields`); rows that do not fit are bad rows.
        categories: The categories of columns of the source that hold text, in the order of their labels 0, 1, ...
        on_error: What is done with a bad row: "raise", "skip", or "quarantine" (write it to a file and continue).
        quarantine: That file; one JSON object per line is appended.
        follow_seconds: Wait for more rows at the end of a CSV or NDJSON file or at a URI, until none came for so long.
        prefetch: How many pieces of the source are read ahead by a background thread; 0 for none.
        format: "csv", "ndjson" or "parquet", where the name of the source does not say it; of messages, "json" (the
            default), "arrow" or "avro".
        storage_options: Of an object store, where the environment does not say them.
        **columns: The source's columns that make up a column of the chunks: `x=["height", "age"], y="weight"`.
            Without any, and without `fields`, every column keeps its own name.

    Example:
        >>> for chunk in sgais.stream({"x": np.zeros((5, 2)), "y": np.arange(5.0)}, chunk_size=2):
        ...     print(chunk["x"].shape, chunk["y"])
        (2, 2) [0. 1.]
        (2, 2) [2. 3.]
        (1, 2) [4.]
    """
    require_count("chunk_size", chunk_size)
    require_count("prefetch", prefetch, smallest=0)
    chosen = choose_source(source, chunk_size, follow_seconds, format, storage_options or {})
    return Stream(
        chosen,
        chunk_size,
        fields,
        categories or {},
        on_error,
        quarantine,
        0 if chosen.is_at_hand else prefetch,
        columns,
    )


class Stream:
    """The chunks of a source, and how far they have come. Made by `sgais.stream`.

    A stream is its own iterator: a second loop continues where the first one stopped. `seek` starts elsewhere, also
    anew at 0 if the source can be read again.

    Attributes:
        chunk_size: Good rows per chunk; only the last has fewer.
        position: Source rows consumed by the chunks delivered so far, bad rows included, rows read ahead not.
        bookmark: The same in the source's own terms (an offset, a key), where its rows are not found by counting.
        num_bad_rows: Bad rows among those that this stream has consumed.
        total_rows: Rows of the source, where that is known (arrays, tables, Parquet), else None.

    Example:
        >>> stream = sgais.stream([{"y": 1.0}, {"y": 2.0}, {"y": 3.0}], chunk_size=2)
        >>> len(next(stream)["y"]), stream.position, stream.num_bad_rows
        (2, 2, 0)
    """

    def __init__(
        self,
        source: Source,
        chunk_size: int,
        fields: Fields | None,
        categories: Mapping[str, Sequence[Any]],
        on_error: str,
        quarantine: str | Path | None,
        prefetch: int,
        columns: Mapping[str, Any],
    ) -> None:
        self._source = source
        self.chunk_size = int(chunk_size)
        self.on_error = on_error
        self._quarantine = check_policy(on_error, quarantine)
        self._prefetch = prefetch
        mapping = column_mapping(columns, fields)
        self._wanted = wanted_columns(mapping)
        self._cleaner = Cleaner(source.name, mapping, fields, categories)
        self.position = 0
        self.bookmark: Bookmark | None = None
        self.num_bad_rows = 0
        self._assembly: Assembly | None = None
        if source.total_rows == 0:
            raise _no_rows(source)
        if source.column_names is not None:  # better refused here than at the first chunk
            known = existing_columns(source.name, source.column_names, self._wanted)
            existing_columns(source.name, source.column_names, list(categories))
            require(bool(known), "source", "have at least one column", known)

    def must_be_whole(self) -> None:
        """Rows may not be left out: no error advises it."""
        self._cleaner.may_skip = False

    @property
    def total_rows(self) -> int | None:
        """Rows of the source, where that is known without reading it."""
        return self._source.total_rows

    def seek(self, position: int, bookmark: Bookmark | None = None) -> Self:
        """Continue with source row `position`; at a border of chunks the same chunks follow as without a break.

        A position behind the end is an error: now if the number of rows is known, else at the next chunk. With the
        bookmark that belongs to it, a source that has bookmarks goes there; without, it counts from its first row.
        """
        require_count("position", position, smallest=0)
        if self.total_rows is not None and position > self.total_rows:
            raise past_the_end(self._source.name, position, self.total_rows)
        self.close()
        self.position, self.bookmark = int(position), bookmark
        if self._quarantine is not None:
            self._quarantine.forget(self._source.name, self.position)
        return self

    def take(self, num_rows: int) -> Chunk | None:
        """The next `num_rows` good rows as one chunk, fewer if the source ends; None if it has ended."""
        require_count("num_rows", num_rows)
        delivery = self._take(num_rows)
        self.num_bad_rows += len(delivery.bad_rows)
        self.position = delivery.position
        self.bookmark = delivery.bookmark or self.bookmark
        if self.position == 0:
            raise _no_rows(self._source)
        return delivery.chunk

    def close(self) -> None:
        """Let go of files and of the background thread; iterating again continues at `position`."""
        if self._assembly is not None:
            self._assembly.close()
        self._assembly = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Chunk:
        chunk = self.take(self.chunk_size)
        if chunk is None:
            raise StopIteration
        return chunk

    def __repr__(self) -> str:
        return f"Stream({self._source.name!r}, chunk_size={self.chunk_size}, position={self.position})"

    def _take(self, num_rows: int) -> Delivery:
        if self._assembly is None:
            self._assembly = self._start()
        try:
            delivery = self._assembly.take(num_rows)
            if self._quarantine is not None:
                self._quarantine.write(delivery.bad_rows)
            return delivery
        except BaseException:
            self.close()  # rows that were read and not delivered must be read again, not be lost
            raise

    def _start(self) -> Assembly:
        parts = self._cleaner.clean_all(self._pieces(), self.position, stop_at_bad_row=self.on_error == "raise")
        return Assembly(read_ahead(parts, self._prefetch), self.position)

    def _pieces(self) -> Iterator[Piece]:
        if self.bookmark is not None and isinstance(self._source, MarkedSource):
            return self._source.resume(self.bookmark, self.position, self._wanted)
        return self._source.read(self.position, self._wanted)


def _no_rows(source: Source) -> DataError:
    return DataError(f"`{source.name}` must have at least one row, got none.")
