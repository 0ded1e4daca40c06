"""The three forms in which rows are sent: JSON, NDJSON and Arrow IPC, each made a piece of columns.

Limits hold while a body is read: no more rows are made than a batch may have, and no more cells than it holds.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sgais.serve.intake.arrow_body import parse_arrow
from sgais.serve.intake.json_rows import begins_list, list_of_rows, loads, too_many
from sgais.serve.refusal import RefusalError
from sgais.streams.source import Broken, Column, Piece

JSON, NDJSON, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"


def parse(media_type: str, body: bytes, wanted: Sequence[str] | None, most_rows: int) -> Piece:
    """The rows of a body; nothing is checked yet but how many there are.

    Args:
        media_type: One of `JSON`, `NDJSON` and `ARROW`.
        body: What was sent.
        wanted: The columns that there should be; None: those that there are.
        most_rows: In a batch.
    """
    piece = PARSERS[media_type](body, wanted, most_rows)
    if piece.num_rows > most_rows:
        raise too_many(most_rows)
    _check_vectors(piece, len(body))
    return piece


def _parse_json(body: bytes, wanted: Sequence[str] | None, most_rows: int) -> Piece:
    """A list of rows, or an object of columns."""
    text = _text(body)
    if begins_list(text):
        return _rows_as_columns(list_of_rows(text, most_rows), wanted)
    content = loads(text, "the body")
    if not isinstance(content, dict):
        raise RefusalError(422, "the body must be a list of rows or an object of columns, got neither.")
    columns: dict[str, Column] = {}
    for name in content if wanted is None else wanted:
        if not isinstance(content.get(name), list):
            raise RefusalError(422, f"column {name!r} must be a list with one entry per row.", row=None, column=name)
        columns[name] = content[name]
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) > 1:
        raise RefusalError(422, "columns must have the same length.")
    return Piece(columns, lengths.pop() if lengths else 0)


def _parse_ndjson(body: bytes, wanted: Sequence[str] | None, most_rows: int) -> Piece:
    """One row per line; blank lines are passed over."""
    rows: list[Any] = []
    text, start = _text(body), 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line, start = text[start:end], end + 1
        if not line.strip():
            continue
        if len(rows) == most_rows:
            raise too_many(most_rows)
        try:
            rows.append(loads(line, f"line {len(rows)}"))
        except RefusalError as refusal:
            rows.append(Broken(refusal.message, None))
    return _rows_as_columns(rows, wanted)


def _rows_as_columns(rows: list[Any], wanted: Sequence[str] | None) -> Piece:
    broken = {place: row for place, row in enumerate(rows) if isinstance(row, Broken)}
    names: Sequence[str] | None = wanted
    for place, row in enumerate(rows):
        if place in broken:
            continue
        if not isinstance(row, dict):
            broken[place] = Broken("must be an object with one entry per column", None)
        elif wanted is None:  # a first batch, or inputs of which some may be left out: the first row has the columns
            names = list(row) if names is None else names
            # What a row lacks is not made up: names times rows could be far more than was sent.
            if len(row) < len(names) or not all(name in row for name in names):
                broken[place] = Broken("must have the columns that the first row has", None)
    whole: list[Mapping[str, Any]] = [{} if place in broken else row for place, row in enumerate(rows)]
    if wanted is None and broken:
        return Piece({}, len(rows), broken)
    return Piece({name: [row.get(name) for row in whole] for name in names or ()}, len(rows), broken)


def _check_vectors(piece: Piece, num_bytes: int) -> None:
    """A long list in one row does not make room for as many numbers in all the others."""
    for name, cells in piece.columns.items():
        widths = {len(cell) for cell in cells if isinstance(cell, list)} if isinstance(cells, list) else set()
        if widths and max(widths) * piece.num_rows > num_bytes:
            raise RefusalError(422, f"column {name!r} must have lists of one length.", row=None, column=name)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusalError(400, f"the body must be UTF-8, got another byte at place {error.start}.") from error


PARSERS: dict[str, Callable[[bytes, Sequence[str] | None, int], Piece]] = {
    JSON: _parse_json,
    NDJSON: _parse_ndjson,
    ARROW: parse_arrow,
}
