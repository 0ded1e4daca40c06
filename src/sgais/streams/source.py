"""What a source of rows is: the contract that every file of this room keeps.

A source hands out *pieces*: consecutive rows as it holds them, nothing checked yet, as many at a time as it can give
cheaply or, if it is live, as it has. Where pieces end says nothing about where chunks will end.
"""

import difflib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np

from sgais.errors import DataError

MOST_LISTED = 100  # names of columns in a message
ROWS_PER_PIECE = 65_536  # large enough that the work per piece does not show, small enough to be read ahead


class Labels(NamedTuple):
    """A column of categories: `names[code]` is the value of a row, code -1 means missing."""

    codes: np.ndarray
    names: list[Any]


Column: TypeAlias = np.ndarray | Labels | list[Any]
"""Numbers (masked where missing), categories, or cells of any Python type, in order of simplicity."""


Bookmark: TypeAlias = dict[str, Any]
"""Where a source goes on, in its own terms and in words that JSON has: an offset, a key, a file and a row of it."""


class Broken(NamedTuple):
    """A row that could not be cut into cells."""

    reason: str
    values: Any


class Piece(NamedTuple):
    """Consecutive rows of a source; a live source that has nothing new gives one of no rows.

    Attributes:
        columns: The columns asked for, all of the same length.
        num_rows: That length.
        broken: The rows without cells, by their place in the piece; their places in the columns hold anything.
        lines: The line of the text that each row ends on, counted from 1, where there is a text.
        bookmark_behind: The bookmark behind the first so many of the rows, where the source has bookmarks.
    """

    columns: dict[str, Column]
    num_rows: int
    broken: dict[int, Broken] = {}  # noqa: RUF012 (never changed)
    lines: Sequence[int] | None = None
    bookmark_behind: Callable[[int], Bookmark] | None = None


class Source(Protocol):
    """Something that rows can be read from.

    Attributes:
        name: What messages call it.
        total_rows: How many rows there are, if that is known without reading them.
        column_names: Its columns, if they are known without waiting for data.
        is_at_hand: Whether its rows lie in memory, so that nothing is gained by reading ahead.
    """

    name: str
    total_rows: int | None
    column_names: list[str] | None
    is_at_hand: bool

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""


@runtime_checkable
class MarkedSource(Source, Protocol):
    """A source whose rows may go while a run is stopped, so that counting from the first would meet others.

    Its pieces have bookmarks. `read` counts from the first row that is there.
    """

    def resume(self, bookmark: Bookmark, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows behind a bookmark, the first of which is row `start`; refuse if some of them are gone."""


def existing_columns(source_name: str, available: Sequence[str], wanted: Sequence[str] | None) -> list[str]:
    """The columns to read; refuse names that occur twice or not at all."""
    known = set(available)
    if len(known) < len(available):
        twice = {name for name, count in Counter(available).items() if count > 1}
        raise DataError(
            f"`{source_name}` must name each column once, got {sorted(twice)[0]!r} more than once. Rename one."
        )
    if wanted is None:
        return list(available)
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, available[:MOST_LISTED], n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]!r}?" if near else "Map the columns by keyword, e.g. y='target'."
            raise DataError(
                f"`{source_name}` must have the column {name!r}, got the columns {_listed(available)}. {hint}"
            )
    return list(dict.fromkeys(wanted))


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names):,} in all)" if len(names) > MOST_LISTED else ""
    return ", ".join(map(repr, names[:MOST_LISTED])) + more


def past_the_end(source_name: str, start: int, num_rows: int) -> DataError:
    """The error of a position that the source does not have."""
    return DataError(
        f"`position` must be at most the number of rows of `{source_name}`, got {start} of {num_rows} rows. "
        "Is it the source that the position was taken from?"
    )


def read_only_once(source_name: str, was_read: bool) -> bool:
    """Refuse to read a second time what comes only once."""
    if was_read:
        raise DataError(
            f"`{source_name}` must be read in one go, got a second reading after an error or a `seek`: "
            "its rows come only once. Make a new stream."
        )
    return True
