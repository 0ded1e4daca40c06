"""Rows or chunks from any Python iterable: a list, a generator, a subscription."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from sgais.errors import DataError
from sgais.streams.source import ROWS_PER_PIECE, Broken, Piece, Source, past_the_end, read_only_once
from sgais.streams.sources.arrays import ArraySource
from sgais.streams.sources.row_columns import RowColumns
from sgais.streams.sources.tables import is_table, table_source


class IterableSource:
    """An iterable of rows or of chunks; its first item says which.

    A row is a dictionary in which at least one value is a single number or a text, or just a number (which means
    `{"y": number}`). A chunk is a dictionary of arrays, an array or a table.
    """

    total_rows: int | None = None
    column_names: list[str] | None = None
    is_at_hand = False

    def __init__(self, items: Iterable[Any], rows_per_piece: int) -> None:
        self.name = f"{type(items).__name__} of rows"
        self._items = items
        self._rows_per_piece = rows_per_piece  # a chunk, so that no chunk waits for more rows than it needs
        self._was_read = False

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        if isinstance(self._items, Iterator):
            self._was_read = read_only_once(self.name, self._was_read)
        items = iter(self._items)
        reader = _Rows(self.name, start, wanted, self._rows_per_piece)
        try:
            first = next(items, None)
            if first is not None:
                readers = reader.read_rows if _is_row(first) else reader.read_chunks
                yield from readers(chain([first], items))
        except DataError:
            raise
        except Exception as error:
            yield from reader.rest()
            raise DataError(
                f"`{self.name}` must not fail, got {type(error).__name__} after row {reader.num_rows - 1}: {error}. "
                "Mend what makes the rows."
            ) from error
        if start > reader.num_rows:
            raise past_the_end(self.name, start, reader.num_rows)


class _Rows:
    """One pass over the items, which knows how far it has come when they fail."""

    def __init__(self, name: str, start: int, wanted: Sequence[str] | None, rows_per_piece: int) -> None:
        self.num_rows = 0
        self._name = name
        self._start = start
        self._wanted = wanted
        self._rows_per_piece = rows_per_piece
        self._table = RowColumns(name, wanted)
        self._collected: list[Any] = []

    def read_rows(self, items: Iterator[Any]) -> Iterator[Piece]:
        """Collect rows to pieces."""
        for item in items:
            self._table.see(_as_row(item))
            self.num_rows += 1
            if self.num_rows > self._start:
                self._collected.append(item)
                if len(self._collected) == self._rows_per_piece:
                    yield from self.rest()
            elif self.num_rows % ROWS_PER_PIECE == 0:
                yield self._table.piece([], {})  # a sign of life while skipping
        yield from self.rest()

    def read_chunks(self, items: Iterator[Any]) -> Iterator[Piece]:
        """Hand out chunks as they are."""
        for number, item in enumerate(items):
            chunk = self._as_source(item, number)
            length = chunk.total_rows or 0
            first = max(self._start - self.num_rows, 0)
            if first < length:
                yield from chunk.read(first, self._wanted)
            self.num_rows += length

    def rest(self) -> Iterator[Piece]:
        """The rows collected so far."""
        if self._collected:
            items, self._collected = self._collected, []
            broken = {
                place: Broken("must be a dictionary", item) for place, item in enumerate(items) if _as_row(item) is None
            }
            yield self._table.piece([_as_row(item) for item in items], broken)

    def _as_source(self, item: Any, number: int) -> Source:
        name = f"{self._name}, chunk {number}"
        return table_source(item, name) if is_table(item) else ArraySource(item, name)


def _is_row(item: Any) -> bool:
    if isinstance(item, Mapping):
        return any(np.ndim(value) == 0 for value in item.values())
    return not is_table(item) and np.ndim(item) == 0


def _as_row(item: Any) -> Any:
    """A row as a dictionary; None if it is neither that nor a number."""
    if isinstance(item, Mapping):
        return item
    return {"y": item} if isinstance(item, int | float | np.number) else None
