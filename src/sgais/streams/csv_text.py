"""Rows of CSV: the first line names the columns."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sgais.errors import DataError
from sgais.streams.files import Lines, unmarked
from sgais.streams.source import Broken, Piece, existing_columns, past_the_end


class CsvSource:
    """Comma-separated values with quotes as in RFC 4180; blank lines are passed over."""

    total_rows: int | None = None
    is_at_hand = False

    def __init__(self, lines: Lines) -> None:
        self.name = lines.name
        self._lines = lines
        self.column_names: list[str] | None = None
        if not lines.is_live:
            first = next((rows for rows in self._rows() if rows.cells), None)
            self.column_names = _header(self.name, first.cells[0] if first else [])

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        header: list[str] | None = None
        places: dict[str, int] = {}
        to_skip = start
        for rows in self._rows():
            if header is None and rows.cells:
                header = _header(self.name, rows.cells[0])
                places = {name: header.index(name) for name in existing_columns(self.name, header, wanted)}
                rows = rows.after(1)
            skipped = min(to_skip, len(rows.cells))
            to_skip -= skipped
            yield _piece(rows.after(skipped), places, len(header or ()))
        _header(self.name, header or [])
        if to_skip:
            raise past_the_end(self.name, start, start - to_skip)

    def _rows(self) -> Iterator["_Rows"]:
        """The rows of each block; one that runs on into the next block is read there."""
        unfinished = ""
        num_lines = 0
        for block in unmarked(self._lines.blocks()):
            rows, rest = _parse(self.name, unfinished + block, num_lines)
            num_lines += (unfinished + block).count("\n") - rest.count("\n")
            unfinished = rest
            yield rows
        if unfinished and not self._lines.may_grow:
            yield _Rows([[unfinished]], [num_lines + 1], is_cut_off=True)


class _Rows(NamedTuple):
    """Rows as cells, the line each ends on, and whether the last one stops inside a quoted cell."""

    cells: list[list[str]]
    lines: list[int]
    is_cut_off: bool = False

    def after(self, count: int) -> "_Rows":
        """The same without the first few."""
        return _Rows(self.cells[count:], self.lines[count:], self.is_cut_off)


def _parse(name: str, text: str, num_lines_before: int) -> tuple[_Rows, str]:
    """Cut text into rows, and give back what belongs to a row whose quoted cell is not closed yet."""
    row_text: list[str] = []
    is_dry = False

    def lines() -> Iterator[str]:
        nonlocal is_dry
        for line in io.StringIO(text, newline=""):
            row_text.append(line)
            yield line
        is_dry = True

    reader = csv.reader(lines())
    rows = _Rows([], [])
    try:
        for cells in reader:
            if is_dry:  # the reader asked for more lines to finish this row
                return rows, "".join(row_text)
            row_text.clear()
            if cells:
                rows.cells.append(cells)
                rows.lines.append(num_lines_before + reader.line_num)
    except csv.Error as error:
        line = num_lines_before + reader.line_num
        raise DataError(f"`{name}` must be CSV, got {error} at line {line}. Is a quote left open?") from error
    return rows, ""


def _header(name: str, cells: list[str]) -> list[str]:
    """The names of the columns; refuse a first line that holds data, which would be lost in silence."""
    if not cells:
        raise DataError(f"`{name}` must start with a line of column names, got an empty file.")
    if all(map(_is_number, cells)) and not all(cell.isdigit() for cell in cells):
        raise DataError(f"`{name}` must start with a line of column names, got numbers: {cells}. Add such a line.")
    return cells


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _piece(rows: _Rows, places: dict[str, int], width: int) -> Piece:
    cells = rows.cells
    broken = {}
    if rows.is_cut_off:
        broken[len(cells) - 1] = Broken("ends inside a quoted cell", cells[-1])
    if set(map(len, cells)) - {width}:
        for place in [place for place, row in enumerate(cells) if len(row) != width]:
            reason = f"must have {width} cells as the first line has, got {len(cells[place])}"
            broken.setdefault(place, Broken(reason, cells[place]))
            cells[place] = [""] * width
    columns = list(zip(*cells, strict=True)) or [()] * width
    return Piece({name: list(columns[place]) for name, place in places.items()}, len(cells), broken, rows.lines)
