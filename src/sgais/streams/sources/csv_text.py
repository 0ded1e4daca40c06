"""Rows of CSV: the first line names the columns."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sgais.errors import DataError
from sgais.streams.source import Broken, Piece, existing_columns, past_the_end
from sgais.streams.sources.csv_numbers import read_numbers
from sgais.streams.sources.files import Lines, is_utf8, unmarked


class CsvSource:
    """Comma-separated values with quotes as in RFC 4180; blank lines are passed over."""

    total_rows: int | None = None
    is_at_hand = False

    def __init__(self, lines: Lines) -> None:
        self.name = lines.name
        self._lines = lines
        self.column_names: list[str] | None = None
        if not lines.is_live:
            first = next((rows for block in self._blocks() if (rows := self._rows(block)).cells), None)
            self.column_names = _header(self.name, first.cells[0] if first else [])

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        header: list[str] = []
        names: list[str] = []
        to_skip = start
        for block in self._blocks():
            if header and not to_skip:
                numbers = read_numbers(block.text, block.num_lines_before, header, names)
                if numbers is not None:
                    yield numbers
                    continue
            rows = self._rows(block)
            if not header and rows.cells:
                header = _header(self.name, rows.cells[0])
                names = existing_columns(self.name, header, wanted)
                rows = rows.after(1)
            skipped = min(to_skip, len(rows.cells))
            to_skip -= skipped
            places = {name: place for place, name in enumerate(header)}
            yield _piece(rows.after(skipped), {name: places[name] for name in names}, len(header))
        _header(self.name, header)
        if to_skip:
            raise past_the_end(self.name, start, start - to_skip)

    def _blocks(self) -> Iterator["_Block"]:
        """The text in blocks of whole rows; a row that runs on into the next block is moved there."""
        unfinished = ""
        num_lines = 0
        for block in unmarked(self._lines.blocks()):
            text = unfinished + block
            unfinished = _unfinished_row(self.name, text, num_lines) if '"' in text else ""
            text = text.removesuffix(unfinished)
            yield _Block(text, num_lines)
            num_lines += text.count("\n")
        if unfinished and not self._lines.may_grow:
            yield _Block(unfinished, num_lines, is_cut_off=True)

    def _rows(self, block: "_Block") -> "_Rows":
        if block.is_cut_off:
            return _Rows([[block.text]], [block.num_lines_before + 1], is_cut_off=True)
        rows = _Rows([], [])
        for cells, line in _cells(self.name, block.text, block.num_lines_before):
            if cells:
                rows.cells.append(cells)
                rows.lines.append(line)
        return rows


class _Block(NamedTuple):
    """Text of whole rows, or of one that stops inside a quoted cell."""

    text: str
    num_lines_before: int
    is_cut_off: bool = False


class _Rows(NamedTuple):
    """Rows as cells, the line each ends on, and whether the last one stops inside a quoted cell."""

    cells: list[list[str]]
    lines: list[int]
    is_cut_off: bool = False

    def after(self, count: int) -> "_Rows":
        """The same without the first few."""
        return _Rows(self.cells[count:], self.lines[count:], self.is_cut_off)


def _unfinished_row(name: str, text: str, num_lines_before: int) -> str:
    """The end of a text that belongs to a row whose quoted cell is not closed yet."""
    lines = list(io.StringIO(text, newline=""))
    is_dry = False

    def watched() -> Iterator[str]:
        nonlocal is_dry
        yield from lines
        is_dry = True

    last_row_starts = num_lines_before
    for _, line in _cells(name, watched(), num_lines_before):
        if is_dry:  # the reader asked for more lines to finish this row
            return "".join(lines[last_row_starts - num_lines_before :])
        last_row_starts = line
    return ""


def _cells(name: str, text: str | Iterator[str], num_lines_before: int) -> Iterator[tuple[list[str], int]]:
    """The cells of each row, and the line on which it ends."""
    reader = csv.reader(io.StringIO(text, newline="") if isinstance(text, str) else text)
    try:
        for cells in reader:
            yield cells, num_lines_before + reader.line_num
    except csv.Error as error:
        line = num_lines_before + reader.line_num
        raise DataError(f"`{name}` must be CSV, got {error} at line {line}. Is a quote left open?") from error


def _header(name: str, cells: list[str]) -> list[str]:
    """The names of the columns; refuse a first line that holds data, which would be lost in silence."""
    if not cells:
        raise DataError(f"`{name}` must start with a line of column names, got an empty file.")
    if not all(map(is_utf8, cells)):
        raise DataError(f"`{name}` must name its columns in UTF-8, got other bytes: {cells}. Convert the file.")
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
    if rows.is_cut_off and cells:
        broken[len(cells) - 1] = Broken("ends inside a quoted cell", cells[-1])
    if set(map(len, cells)) - {width}:
        for place in [place for place, row in enumerate(cells) if len(row) != width]:
            reason = f"must have {width} cells as the first line has, got {len(cells[place])}"
            broken.setdefault(place, Broken(reason, cells[place]))
            cells[place] = [""] * width
    columns = list(zip(*cells, strict=True)) or [()] * width
    return Piece({name: list(columns[place]) for name, place in places.items()}, len(cells), broken, rows.lines)
