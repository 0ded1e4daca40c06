"""A table or a query as a stream: rows in the order of a key, so that the last key read says where to go on.

Keys must grow with time: a row that is added later has a larger key than all before it. Where transactions commit out
of that order, a row is read only when no open transaction can put another before it. A row that has come too late, or
has gone, shows when rows are counted: before a run goes on, and at its end.
"""

import itertools
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np

from sgais.errors import DataError
from sgais.streams.databases.database import Batch, Database, Key, Questions
from sgais.streams.remote.address import Address
from sgais.streams.remote.bookmarks import check_kind, rows_gone, skipped
from sgais.streams.remote.patience import Follow, retried, retry_seconds, waiting
from sgais.streams.source import Bookmark, Column, Piece, existing_columns

KIND = "database"
POLL_SECONDS = 0.25  # from one look for new rows to the next


class KeyedRows:
    """Rows of a database.

    Args:
        address: With the options `table` or `query`, `key`, and `retry_seconds`.
        new_database: Makes a connection; each reading has its own, as one may end while the next begins.
        follow_seconds: How long to wait for more rows; None for those that are there.
    """

    total_rows: int | None = None
    column_names: list[str] | None = None
    is_at_hand = False

    def __init__(self, address: Address, new_database: Callable[[], Database], follow_seconds: float | None) -> None:
        self.name = address.shown
        self._address, self._new_database = address, new_database
        self._questions = Questions(address)
        self._retry_seconds = retry_seconds(address)
        self._follow_seconds = follow_seconds

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        return skipped(self._read(None, 0, wanted), start, self.name)

    def resume(self, bookmark: Bookmark, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows behind a bookmark, unless those before it are not the ones that were counted."""
        return self._read(check_kind(self.name, bookmark, KIND)["key"], start, wanted)

    def _read(self, key: Key | None, num_rows: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        database = self._new_database()
        reader = _Reader(self.name, database, self._questions, wanted, Follow(self._follow_seconds))
        reader.key, reader.num_rows, reader.patience = key, num_rows, self._retry_seconds
        return retried(reader.read_on, self._address, database.failures, self._retry_seconds)


class _Reader:
    """How far one reading has come."""

    def __init__(
        self, name: str, database: Database, questions: Questions, wanted: Sequence[str] | None, follow: Follow
    ) -> None:
        self.key: Key | None = None
        self.num_rows = 0
        self.patience = 0.0  # seconds that a transaction may stay open
        self._name, self._database, self._questions, self._follow = name, database, questions, follow
        self._wanted = wanted

    def read_on(self) -> Iterator[Piece]:
        """Connect and hand out what comes after the last row read."""
        database, questions = self._database, self._questions
        try:
            database.open()
            names = existing_columns(self._name, database.column_names(questions.columns), self._wanted)
            existing_columns(self._name, database.column_names(questions.columns), [questions.key_name])
            self._check_counts()
            self._follow.note_news()  # the server is back
            while True:
                last = yield from self._last_final_key()
                if last is not None and last != self.key:
                    yield from self._read_up_to(last, names)
                    self._follow.note_news()
                elif self._follow.is_over:
                    self._check_counts()
                    return
                if not self._follow.is_following:
                    self._check_counts()
                    return
                database.close()  # a file that is being read cannot be written to
                yield from waiting(POLL_SECONDS)
                database.open()
        finally:
            database.close()

    def _last_final_key(self) -> Generator[Piece, None, Any]:
        """The largest key up to which no transaction that is still open can add a row."""
        last = self._database.value(self._questions.last_key)
        writers = self._database.open_writers(self._questions.table)
        end = time.monotonic() + self.patience
        while writers:  # those that began later get larger keys
            if time.monotonic() > end:
                raise DataError(
                    f"`{self._name}` must be rid of a transaction within {self.patience:g} seconds, got {len(writers)} "
                    "still open that may add rows between those that are there. End them, or give retry_seconds=."
                )
            yield from waiting(POLL_SECONDS)
            writers &= self._database.open_writers(self._questions.table)
        return last

    def _read_up_to(self, last: Key, names: list[str]) -> Iterator[Piece]:
        is_overlap = self.key is not None  # the last row is read again, to see that it is there, and only once
        for batch in self._database.batches(self._questions.between(self.key, last, names)):
            keys = _checked_keys(self._name, batch.columns[self._questions.key_name])
            first = 0
            if is_overlap and len(keys):
                if keys[0] != self.key:
                    raise rows_gone(self._name, f"none with {self._questions.key_name} = {self.key!r}")
                first, is_overlap = 1, False
            elif len(keys) and keys[0] == self.key:
                raise _twice(self._name, keys[0])
            if len(keys) > first:
                yield self._piece(batch, keys, first, names)

    def _piece(self, batch: Batch, keys: Sequence[Key], first: int, names: list[str]) -> Piece:
        self.key, self.num_rows = keys[-1], self.num_rows + len(keys) - first
        columns: dict[str, Column] = {name: batch.columns[name][first:] for name in names}  # type: ignore[misc]
        return Piece(
            columns,
            len(keys) - first,
            bookmark_behind=lambda rows: {"kind": KIND, "key": keys[first + rows - 1]},
        )

    def _check_counts(self) -> None:
        """Refuse rows without a key, and an order in which rows have come or gone before the last one read."""
        without = self._database.value(self._questions.num_without_key)
        key_name = self._questions.key_name
        if without:
            raise DataError(f"`{self._name}` must have a {key_name} in every row, got {without} without. Fill them in.")
        if self.key is None:
            return
        found = self._database.value(self._questions.num_up_to(self.key))
        if found < self.num_rows:
            raise rows_gone(self._name, f"{found:,} of {self.num_rows:,} rows up to {key_name} = {self.key!r}")
        if found > self.num_rows:
            raise DataError(
                f"`{self._name}` must get new rows behind the old ones, got {found - self.num_rows:,} more up to "
                f"{key_name} = {self.key!r} after those were read. Use a key that grows with time, and start a new run."
            )


def _checked_keys(name: str, column: Column) -> Sequence[Key]:
    """Keys as Python has them; refuse what cannot be one."""
    keys: Any = column.tolist() if isinstance(column, np.ndarray) else column
    if keys and not all(type(key) is type(keys[0]) for key in keys):
        raise DataError(f"`{name}` must have keys of one type, got {keys[0]!r} and others. Choose another key.")
    if keys and not isinstance(keys[0], int | str):
        raise DataError(
            f"`{name}` must have a key of whole numbers or text, got {keys[0]!r}. Choose another, or make one "
            "with query=."
        )
    for key, following in itertools.pairwise(keys):
        if key == following:
            raise _twice(name, key)
    return list(keys)


def _twice(name: str, key: Key) -> DataError:
    return DataError(
        f"`{name}` must have each key once, got {key!r} twice. Choose a column that no two rows share, such as its "
        "primary key."
    )
