"""Good rows put together to chunks of exactly the size asked for, whatever the pieces they came in."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from sgais.fields import Chunk
from sgais.streams.cleaning.bad_rows import BadRow
from sgais.streams.cleaning.cleaning import Clean
from sgais.streams.source import Bookmark


class Delivery(NamedTuple):
    """What one chunk takes from the source.

    Attributes:
        chunk: The good rows; None if there were none left.
        position: The source rows consumed up to the last of them, or to the end of the source.
        bad_rows: Those before that position which no earlier delivery reported.
        bookmark: Of that position, where the source has bookmarks and anything was read.
    """

    chunk: Chunk | None
    position: int
    bad_rows: list[BadRow]
    bookmark: Bookmark | None


class Assembly:
    """Holds the rows that have been read and not been delivered.

    Bad rows behind the last good row of a chunk wait for the next one: a position is always that of a good row
    plus one, so that a stream which starts there meets them again, once.
    """

    def __init__(self, parts: Iterator[Clean], start: int) -> None:
        self._parts = parts
        self._waiting: deque[Clean] = deque()
        self._num_waiting = 0
        self._bad_rows: deque[BadRow] = deque()
        self._end = start
        self._last_bookmark_at: Callable[[int], Bookmark] | None = None

    def take(self, num_rows: int) -> Delivery:
        """The next rows: `num_rows` of them, or fewer if the source ends."""
        while self._num_waiting < num_rows:
            part = next(self._parts, None)
            if part is None:
                return self._deliver(self._num_waiting, is_last=True)
            self._add(part)
        return self._deliver(num_rows, is_last=False)

    def close(self) -> None:
        """Let go of the source."""
        close = getattr(self._parts, "close", None)
        if close is not None:
            close()

    def _add(self, part: Clean) -> None:
        if part.end > self._end:
            self._end, self._last_bookmark_at = part.end, part.bookmark_at
        self._bad_rows.extend(part.bad_rows)
        if len(part.rows):
            self._waiting.append(part)
            self._num_waiting += len(part.rows)

    def _deliver(self, num_rows: int, is_last: bool) -> Delivery:
        taken = list(self._cut(num_rows))
        position = self._end if is_last else int(taken[-1].rows[-1]) + 1
        bookmark_at = self._last_bookmark_at if is_last else taken[-1].bookmark_at
        bad_rows = []
        while self._bad_rows and self._bad_rows[0].row < position:
            bad_rows.append(self._bad_rows.popleft())
        bookmark = None if bookmark_at is None else bookmark_at(position)
        return Delivery(_joined(taken) if taken else None, position, bad_rows, bookmark)

    def _cut(self, num_rows: int) -> Iterator[Clean]:
        """Take rows off the front, splitting the part in which the last of them lies."""
        self._num_waiting -= num_rows
        while num_rows > 0:
            part = self._waiting.popleft()
            if len(part.rows) > num_rows:
                self._waiting.appendleft(_rows_of(part, num_rows, len(part.rows)))
                part = _rows_of(part, 0, num_rows)
            num_rows -= len(part.rows)
            yield part


def _rows_of(part: Clean, first: int, last: int) -> Clean:
    columns = {name: values[first:last] for name, values in part.columns.items()}
    return Clean(columns, part.rows[first:last], [], part.end, part.bookmark_at)


def _joined(parts: list[Clean]) -> Chunk:
    if len(parts) == 1:
        return parts[0].columns
    return {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
