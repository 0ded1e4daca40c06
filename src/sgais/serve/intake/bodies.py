"""The three forms in which rows are sent: JSON, NDJSON and Arrow IPC, each made a piece of columns."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from sgais.serve.intake.arrow_body import parse_arrow
from sgais.serve.refusal import RefusalError
from sgais.streams.source import Broken, Column, Piece

JSON, NDJSON, ARROW = "application/json", "application/x-ndjson", "application/vnd.apache.arrow.stream"


def parse(media_type: str, body: bytes, wanted: Sequence[str] | None) -> Piece:
    """The rows of a body; nothing is checked yet.

    Args:
        media_type: One of `JSON`, `NDJSON` and `ARROW`.
        body: What was sent.
        wanted: The columns that there should be; None: those that there are.
    """
    return PARSERS[media_type](body, wanted)


def _parse_json(body: bytes, wanted: Sequence[str] | None) -> Piece:
    """A list of rows, or an object of columns."""
    content = _loads(_text(body), "the body")
    if isinstance(content, list):
        return _rows_as_columns(content, wanted)
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


def _parse_ndjson(body: bytes, wanted: Sequence[str] | None) -> Piece:
    """One row per line; blank lines are passed over."""
    lines = [line for line in _text(body).split("\n") if line.strip()]
    rows: list[Any] = []
    for number, line in enumerate(lines):
        try:
            rows.append(_loads(line, f"line {number}"))
        except RefusalError as refusal:
            rows.append(Broken(refusal.message, None))
    return _rows_as_columns(rows, wanted)


def _rows_as_columns(rows: list[Any], wanted: Sequence[str] | None) -> Piece:
    broken = {place: row for place, row in enumerate(rows) if isinstance(row, Broken)}
    for place, row in enumerate(rows):
        if place not in broken and not isinstance(row, dict):
            broken[place] = Broken("must be an object with one entry per column", None)
    whole: list[Mapping[str, Any]] = [{} if place in broken else row for place, row in enumerate(rows)]
    names = wanted if wanted is not None else next((list(row) for row in whole if row), [])
    return Piece({name: [row.get(name) for row in whole] for name in names}, len(rows), broken)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusalError(400, f"the body must be UTF-8, got another byte at place {error.start}.") from error


def _loads(text: str, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, f"{what} must be JSON: {error}.") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


PARSERS: dict[str, Callable[[bytes, Sequence[str] | None], Piece]] = {
    JSON: _parse_json,
    NDJSON: _parse_ndjson,
    ARROW: parse_arrow,
}
