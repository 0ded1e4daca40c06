"""Tables in memory: pandas, Polars, Arrow. They are told apart without importing any of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sgais.errors import DataError
from sgais.streams.source import ROWS_PER_PIECE, Column, Labels, Piece, Source, existing_columns, past_the_end
from sgais.streams.sources.arrow_columns import from_arrow


def is_table(source: object) -> bool:
    """Whether it is a table of pandas, Polars or Arrow."""
    return _kind(source) is not None


def table_source(table: Any, name: str = "") -> Source:
    """The source for a table."""
    kind = _kind(table)
    name = name or f"{kind} table"
    if kind == "pandas":
        return PandasSource(table, name)
    if kind == "polars":
        if not hasattr(table, "to_arrow"):
            raise DataError(f"`source` must be a table in memory, got a {type(table).__name__}. Call .collect() on it.")
        table = table.to_arrow()
    return ArrowSource(table, name)


def _kind(source: object) -> str | None:
    package = type(source).__module__.split(".")[0]
    kinds = {"pandas": ["DataFrame"], "polars": ["DataFrame", "LazyFrame"], "pyarrow": ["Table", "RecordBatch"]}
    return package if type(source).__name__ in kinds.get(package, []) else None


class ArrowSource:
    """An Arrow table or record batch."""

    is_at_hand = True

    def __init__(self, table: Any, name: str) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table
        self.name = name
        self._table = table.unify_dictionaries()  # one order of the categories for all rows
        self.column_names: list[str] | None = list(table.column_names)
        self.total_rows: int | None = table.num_rows

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        num_rows = self._table.num_rows
        if start > num_rows:
            raise past_the_end(self.name, start, num_rows)
        names = existing_columns(self.name, self._table.column_names, wanted)
        for first in range(start, num_rows, ROWS_PER_PIECE):
            rows = self._table.select(names).slice(first, ROWS_PER_PIECE)
            yield Piece({name: from_arrow(rows.column(name)) for name in names}, rows.num_rows)


class PandasSource:
    """A pandas data frame; its index is left out."""

    is_at_hand = True

    def __init__(self, frame: Any, name: str) -> None:
        self.name = name
        self._frame = frame.set_axis([str(label) for label in frame.columns], axis="columns")
        self.column_names: list[str] | None = list(self._frame.columns)
        self.total_rows: int | None = len(frame)

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        num_rows = len(self._frame)
        if start > num_rows:
            raise past_the_end(self.name, start, num_rows)
        names = existing_columns(self.name, list(self._frame.columns), wanted)
        for first in range(start, num_rows, ROWS_PER_PIECE):
            rows = self._frame.iloc[first : first + ROWS_PER_PIECE]
            yield Piece({name: _from_pandas(rows[name]) for name in names}, len(rows))


def _from_pandas(series: Any) -> Column:
    if series.dtype.name == "category":
        return Labels(np.asarray(series.cat.codes, dtype=np.int32), list(series.cat.categories))
    values = series.to_numpy()
    return values.tolist() if values.dtype.kind == "O" else values
