"""From rows as a source holds them to columns of numbers, with the bad rows set aside."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import DataError
from sgais.fields import Chunk, Field, Fields
from sgais.streams.cleaning.bad_rows import BadRow
from sgais.streams.cleaning.categories import check_labels
from sgais.streams.cleaning.mapping import ColumnMapping, check_shape, put_together
from sgais.streams.cleaning.numbers import Checked, check_numbers, check_present, check_whole
from sgais.streams.source import Bookmark, Column, Labels, Piece


class Clean(NamedTuple):
    """Consecutive rows of the source, good and bad apart.

    Attributes:
        columns: The good rows.
        rows: The number in the source of each good row.
        bad_rows: The others, in order.
        end: The number in the source of the row after these.
        bookmark_at: The bookmark of a row's number, from the first of these to `end`, where the source has bookmarks.
    """

    columns: Chunk
    rows: Sequence[int] | np.ndarray
    bad_rows: list[BadRow]
    end: int
    bookmark_at: Callable[[int], Bookmark] | None = None


class Cleaner:
    """Checks pieces against what the reader of the stream asked for."""

    def __init__(
        self,
        source_name: str,
        mapping: ColumnMapping | None,
        fields: Fields | None,
        categories: Mapping[str, Sequence[Any]],
    ) -> None:
        self._source_name = source_name
        self._mapping = mapping
        self._fields = fields
        self._categories = categories
        self._widths: dict[
            str, int
        ] = {}  # numbers per cell of each column (0: no vector), as the first good rows have it
        self.may_skip = True  # whether bad rows might be passed over, if one asked for it
        self._declared: dict[str, list[Any]] = {}  # the categories that the source itself declares

    def clean_all(self, pieces: Iterator[Piece], start: int, stop_at_bad_row: bool) -> Iterator[Clean]:
        """Clean piece after piece; where bad rows are not passed over, what is before the first still comes."""
        try:
            for piece in pieces:
                clean = self.clean(piece, start)
                start = clean.end
                if clean.bad_rows and stop_at_bad_row:
                    yield _before(clean, clean.bad_rows[0].row)
                    raise clean.bad_rows[0].error(self.may_skip)
                yield clean
        finally:
            close = getattr(pieces, "close", None)
            if close is not None:
                close()

    def clean(self, piece: Piece, start: int) -> Clean:
        """Read the columns as numbers and set the bad rows aside."""
        end = start + piece.num_rows
        if piece.num_rows == 0:
            return Clean({}, range(start, end), [], end)
        faults: dict[int, tuple[str | None, str]] = {row: (None, broken.reason) for row, broken in piece.broken.items()}
        columns = {name: self._column(name, parts, piece, faults) for name, parts in self._parts(piece).items()}
        bookmark_at = _counted_from(start, piece.bookmark_behind)
        if not faults:
            return Clean(columns, range(start, end), [], end, bookmark_at)
        good = np.ones(piece.num_rows, bool)
        good[list(faults)] = False
        bad_rows = [self._bad_row(piece, start, row, *faults[row]) for row in sorted(faults)]
        columns = {name: values[good] for name, values in columns.items()}
        return Clean(columns, start + np.flatnonzero(good), bad_rows, end, bookmark_at)

    def _parts(self, piece: Piece) -> ColumnMapping:
        return {name: name for name in piece.columns} if self._mapping is None else self._mapping

    def _column(
        self, name: str, parts: str | list[str], piece: Piece, faults: dict[int, tuple[str | None, str]]
    ) -> np.ndarray:
        """One column of the chunk; notes the first fault of each row."""
        names = [parts] if isinstance(parts, str) else parts
        field = self._fields[name] if self._fields is not None else None
        width = sum(field.shape) if field is not None and isinstance(parts, str) and field.shape != (1,) else None
        checked = [self._check(part, piece.columns[part], field, width) for part in names]
        for part, found in zip(names, checked, strict=True):
            for row, reason in found.faults.items():
                faults.setdefault(row, (part, reason))
        values = put_together([found.values for found in checked], is_list=not isinstance(parts, str))
        return check_shape(self._source_name, name, values, self._fields)

    def _check(self, name: str, column: Column, field: Field | None, expected_width: int | None) -> Checked:
        categories = self._categories.get(name)
        if field is not None and field.is_as_it_comes:
            checked = check_present(column)
        elif categories is not None:
            checked = check_labels(column, categories)
        elif isinstance(column, Labels):
            self._require_same_categories(name, column.names)
            checked = check_labels(column, column.names)
        else:
            self._require_numbers(name, column)
            checked = check_numbers(column, self._widths.get(name, expected_width))
            if checked.values.ndim <= 2 and len(checked.faults) < len(checked.values):
                self._widths.setdefault(name, sum(checked.values.shape[1:]))
        if field is not None and field.is_integer:
            checked = check_whole(checked, field)
        return checked

    def _require_numbers(self, name: str, column: np.ndarray | list[Any]) -> None:
        """Refuse a column that as a whole is of another type: no single row is at fault."""
        if isinstance(column, np.ndarray) and column.dtype.kind not in "fiu":
            cure = "Say what it means: .astype(int)." if column.dtype.kind == "b" else "Convert it or leave it out."
            raise DataError(f"column '{name}' of `{self._source_name}` must hold numbers, got {column.dtype}. {cure}")

    def _require_same_categories(self, name: str, names: list[Any]) -> None:
        """Refuse a second order of the categories: the same label would mean two things."""
        declared = self._declared.setdefault(name, names)
        if declared != names:
            raise DataError(
                f"column '{name}' of `{self._source_name}` must keep its categories, got {declared} and later {names}. "
                f"Name them once for all: categories={{{name!r}: [...]}}."
            )

    def _bad_row(self, piece: Piece, start: int, row: int, column: str | None, reason: str) -> BadRow:
        line = None if piece.lines is None else piece.lines[row]
        broken = piece.broken.get(row)
        values = {name: _cell(cells, row) for name, cells in piece.columns.items()} if broken is None else broken.values
        return BadRow(self._source_name, start + row, line, column, reason, values)


def _before(clean: Clean, row: int) -> Clean:
    """The rows before a given one, all of them good."""
    count = int(np.searchsorted(clean.rows, row))
    columns = {name: values[:count] for name, values in clean.columns.items()}
    return Clean(columns, clean.rows[:count], [], row, clean.bookmark_at)


def _counted_from(start: int, behind: Callable[[int], Bookmark] | None) -> Callable[[int], Bookmark] | None:
    return None if behind is None else lambda row: behind(row - start)


def _cell(column: Column, row: int) -> Any:
    if isinstance(column, Labels):
        return column.names[column.codes[row]] if column.codes[row] >= 0 else None
    return None if column[row] is np.ma.masked else column[row]
