"""From messages to pieces, with a bookmark behind every row, also in the midst of a message."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.streams.brokers.formats import decoder_of
from sgais.streams.source import Bookmark, Broken, Piece, existing_columns
from sgais.streams.sources.arrow_columns import from_arrow
from sgais.streams.sources.row_columns import RowColumns

ROWS = "rows"  # of a bookmark: rows that are done with, of the next message of each lane


class Messages(NamedTuple):
    """Messages that came together.

    Attributes:
        payloads: What they hold.
        lanes: The part of the broker's stream that each is from, each with an order of its own.
        behind: The bookmark behind the first so many of them.
    """

    payloads: Sequence[Any]
    lanes: Sequence[str]
    behind: Callable[[int], Bookmark]


class MessageRows:
    """Reads the rows of messages.

    Args:
        name: Of the source.
        format_name: What messages hold.
        wanted: The columns to read; all if None.
        rows_done: Of a bookmark: rows of the next message of each lane that were delivered before.
    """

    def __init__(
        self, name: str, format_name: str | None, wanted: Sequence[str] | None, rows_done: Mapping[str, int]
    ) -> None:
        self._name, self._wanted = name, wanted
        self._decode = decoder_of(format_name)
        self._columns = RowColumns(name, wanted)
        self._rows_done = dict(rows_done)

    def pieces(self, messages: Messages) -> Iterator[Piece]:
        """The rows of these messages; those delivered before are left out."""
        first = 0
        decoded = [self._decode(payload) for payload in messages.payloads]
        while first < len(decoded):
            last = first + 1
            while last < len(decoded) and _go_together(decoded[first], decoded[last]):
                last += 1
            run = Messages(decoded[first:last], messages.lanes[first:last], _counted_from(first, messages.behind))
            yield self._piece(run)
            first = last

    def _piece(self, run: Messages) -> Piece:
        """The rows of decoded messages of one kind."""
        done_before = dict(self._rows_done)
        done = [self._rows_done.pop(lane, 0) for lane in run.lanes]
        ends = np.cumsum([0, *(len(content) - count for content, count in zip(run.payloads, done, strict=True))])

        def bookmark_behind(num_rows: int) -> Bookmark:
            whole = int(np.searchsorted(ends, num_rows, side="right")) - 1  # messages
            rows = {lane: count for lane, count in done_before.items() if lane not in run.lanes[:whole]}
            if num_rows > ends[whole]:
                rows[run.lanes[whole]] = int(num_rows - ends[whole]) + done[whole]
            return {**run.behind(whole), ROWS: rows}

        parts = [content[count:] for content, count in zip(run.payloads, done, strict=True)]
        piece = self._of_rows(parts) if isinstance(parts[0], list) else self._of_tables(parts)
        return piece._replace(bookmark_behind=bookmark_behind)

    def _of_rows(self, parts: Sequence[list[Any]]) -> Piece:
        rows = [row for part in parts for row in part]
        broken = {place: row for place, row in enumerate(rows) if isinstance(row, Broken)}
        self._columns.see(next((row for row in rows if not isinstance(row, Broken)), None))
        return self._columns.piece(rows, broken)

    def _of_tables(self, parts: Sequence[Any]) -> Piece:
        import pyarrow as pa

        table = pa.concat_tables(parts)
        names = existing_columns(self._name, table.column_names, self._wanted)
        return Piece({name: from_arrow(table.column(name)) for name in names}, table.num_rows)


def _go_together(one: Any, other: Any) -> bool:
    if isinstance(one, list) or isinstance(other, list):
        return isinstance(one, list) and isinstance(other, list)
    return bool(one.schema == other.schema)


def _counted_from(first: int, behind: Callable[[int], Bookmark]) -> Callable[[int], Bookmark]:
    return lambda count: behind(first + count)
