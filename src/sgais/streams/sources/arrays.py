"""Arrays at hand: a dictionary of them, or one, which means `{"y": array}`."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sgais.errors import DataError
from sgais.streams.source import ROWS_PER_PIECE, Column, Piece, existing_columns, past_the_end


class ArraySource:
    """Columns in memory, handed out as views."""

    is_at_hand = True

    def __init__(self, columns: Mapping[object, object] | object, name: str = "source") -> None:
        named = columns if isinstance(columns, Mapping) else {"y": columns}
        self.name = name
        self._columns = {str(label): as_column(str(label), values) for label, values in named.items()}
        lengths = {label: len(values) for label, values in self._columns.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"`{name}` must have columns of equal length, got {lengths}. Cut them to the same rows.")
        self.column_names: list[str] | None = list(lengths)
        self.total_rows: int | None = max(lengths.values(), default=0)

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        num_rows = self.total_rows or 0
        if start > num_rows:
            raise past_the_end(self.name, start, num_rows)
        names = existing_columns(self.name, list(self._columns), wanted)
        for first in range(start, num_rows, ROWS_PER_PIECE):
            last = min(first + ROWS_PER_PIECE, num_rows)
            columns: dict[str, Column] = {name: _cells(self._columns[name][first:last]) for name in names}
            yield Piece(columns, last - first)


def as_column(name: str, values: object) -> np.ndarray:
    """An array with one entry per row; a masked array stays one."""
    try:
        array = values if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError as error:
        raise DataError(f"column '{name}' is ragged: {error}. Give every row the same length.") from error
    if array.ndim == 0:
        raise DataError(f"column '{name}' must have one entry per row, got a single value. Wrap it: [value].")
    return array


def _cells(values: np.ndarray) -> Column:
    """Text and objects as cells, so that they are read one by one."""
    return values.tolist() if values.dtype.kind in "OUS" else values
