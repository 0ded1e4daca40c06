"""Rows out of JSON, one after the other, so that there are never more of them in memory than a batch may have.

What a body means is what `json.loads` would make of it. Between two rows other threads have their turn.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from sgais.serve.refusal import RefusalError

_SPACE = re.compile(r"[ \t\n\r]*")


def loads(text: str, what: str) -> Any:
    """One value."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, f"{what} must be JSON: {error}.") from error


def list_of_rows(text: str, most_rows: int) -> list[Any]:
    """The entries of a list; refused at the first one too many."""
    rows: list[Any] = []
    try:
        for row in _entries(text):
            if len(rows) == most_rows:
                raise too_many(most_rows)
            rows.append(row)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, f"the body must be JSON: {error}.") from error
    return rows


def begins_list(text: str) -> bool:
    """Whether the body is a list, and not an object of columns."""
    return text.startswith("[", _behind_space(text, 0))


def too_many(most_rows: int) -> RefusalError:
    """The refusal of a batch with too many rows, which were not even counted."""
    return RefusalError(413, f"a batch must have at most {most_rows} rows, got more.")


def _entries(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    place = _behind_space(text, _behind_space(text, 0) + 1)
    if not text.startswith("]", place):
        while True:
            entry, place = decoder.raw_decode(text, place)
            yield entry
            place = _behind_space(text, place)
            if not text.startswith(",", place):
                break
            place = _behind_space(text, place + 1)
        if not text.startswith("]", place):
            raise json.JSONDecodeError("Expecting ',' delimiter", text, place)
    if _behind_space(text, place + 1) != len(text):
        raise json.JSONDecodeError("Extra data", text, place + 1)


def _behind_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None, "no space at all is found as well"
    return found.end()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
