"""Rows of NDJSON: one JSON object per line."""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sgais.streams.json_depth import DEEPEST, is_too_deep
from sgais.streams.source import Broken, Piece, past_the_end
from sgais.streams.sources.files import Lines, unmarked
from sgais.streams.sources.row_columns import RowColumns


class NdjsonSource:
    """One JSON object per line; a value may be a list of numbers. Blank lines are passed over."""

    total_rows: int | None = None
    is_at_hand = False

    def __init__(self, lines: Lines) -> None:
        self.name = lines.name
        self._lines = lines
        self.column_names: list[str] | None = None
        if not lines.is_live:
            self.column_names = self._first_row_columns()

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        table = RowColumns(self.name, wanted)
        to_skip = start
        is_first = True
        for lines in self._numbered_lines():
            if is_first:  # read also where it is skipped: it names the columns
                first = next((row for row in map(_parse, lines) if not isinstance(row, Broken)), None)
                if first is not None:
                    table.see(first)
                    is_first = False
            skipped = min(to_skip, len(lines))
            to_skip -= skipped
            yield _piece(table, lines[skipped:])
        if to_skip:
            raise past_the_end(self.name, start, start - to_skip)

    def _first_row_columns(self) -> list[str] | None:
        for lines in self._numbered_lines():
            for line in lines:
                row = _parse(line)
                if not isinstance(row, Broken):
                    return [str(name) for name in row]
        return None

    def _numbered_lines(self) -> Iterator[list["_Line"]]:
        number = 0
        for block in unmarked(self._lines.blocks()):
            lines = list(io.StringIO(block, newline="\n"))
            yield [_Line(text, number + place) for place, text in enumerate(lines, 1) if text.strip()]
            number += len(lines)


class _Line(NamedTuple):
    text: str
    number: int


def _parse(line: _Line) -> dict[str, Any] | Broken:
    if is_too_deep(line.text):
        return Broken(f"must be JSON that is at most {DEEPEST} deep, got more", line.text)
    try:
        row = json.loads(line.text)
    except ValueError as error:
        return Broken(f"must be JSON, got {error}", line.text)
    return row if isinstance(row, dict) else Broken("must be a JSON object", line.text)


def _piece(table: RowColumns, lines: list[_Line]) -> Piece:
    rows = [_parse(line) for line in lines]
    broken = {place: row for place, row in enumerate(rows) if isinstance(row, Broken)}
    return table.piece(rows, broken, [line.number for line in lines])
