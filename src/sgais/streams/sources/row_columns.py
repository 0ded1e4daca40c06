"""Rows that are dictionaries, turned into columns."""

from collections.abc import Mapping, Sequence
from typing import Any

from sgais.streams.source import Broken, Column, Piece, existing_columns


class RowColumns:
    """Makes pieces of dictionaries. The first row says which columns there are; a later one may miss some."""

    def __init__(self, source_name: str, wanted: Sequence[str] | None) -> None:
        self._source_name = source_name
        self._wanted = wanted
        self._names: list[str] | None = None

    def see(self, row: Mapping[Any, Any] | None) -> None:
        """Learn the columns from the first row of the source, also if it is not to be delivered."""
        if self._names is None and row is not None:
            self._names = existing_columns(self._source_name, [str(name) for name in row], self._wanted)

    def piece(self, rows: Sequence[Any], broken: dict[int, Broken], lines: Sequence[int] | None = None) -> Piece:
        """The rows as columns; a broken one stands in its place with nothing in it."""
        whole: list[Mapping[Any, Any]] = [{} if place in broken else row for place, row in enumerate(rows)]
        columns: dict[str, Column] = {
            name: [row.get(name) for row in whole] for name in self._names or self._wanted or ()
        }
        return Piece(columns, len(rows), broken, lines)
