"""SQLite, by Python's own module: `sqlite:///folder/file.db?table=t&key=id`. Writers take turns: keys come in order."""

import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from sgais.errors import DataError
from sgais.streams.databases.database import OPTIONS, Batch
from sgais.streams.databases.keyed_rows import KeyedRows
from sgais.streams.remote.address import Address
from sgais.streams.remote.files import file_of
from sgais.streams.remote.patience import Failures
from sgais.streams.source import ROWS_PER_PIECE


def sqlite_rows(uri: str, follow_seconds: float | None) -> KeyedRows:
    """The source of a URI."""
    address = Address.of(uri, "", OPTIONS)
    return KeyedRows(address, partial(SqliteFile, file_of(address)), follow_seconds)


class SqliteFile:
    """A file of SQLite, opened for reading."""

    failures: Failures = (sqlite3.OperationalError,)

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def open(self) -> None:
        """Connect."""
        if self._connection is None:
            self._connection = sqlite3.connect(
                f"{self._path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
            )

    def close(self) -> None:
        """Let go."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def column_names(self, query: str) -> list[str]:
        """The columns that a query has."""
        return [column[0] for column in self._run(query).description]

    def value(self, query: str) -> Any:
        """The one value that a query has."""
        return self._run(query).fetchone()[0]

    def batches(self, query: str) -> Iterator[Batch]:
        """The rows that a query has."""
        cursor = self._run(query)
        names = [column[0] for column in cursor.description]
        while rows := cursor.fetchmany(ROWS_PER_PIECE):
            yield Batch(
                {name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}, len(rows)
            )

    def open_writers(self, table: str | None) -> frozenset[str]:  # noqa: ARG002 (of the contract)
        """None: writers take turns."""
        return frozenset()

    def _run(self, query: str) -> sqlite3.Cursor:
        assert self._connection is not None, "opened before it is asked"
        try:
            return self._connection.execute(query)
        except sqlite3.OperationalError as error:
            if "locked" in str(error) or "unable to open" in str(error):
                raise
            raise DataError(f"`{self._path}` must answer the query, got {error}. The query was: {query}") from error
        except sqlite3.DatabaseError as error:
            raise DataError(f"`{self._path}` must be a file of SQLite, got {error}.") from error
