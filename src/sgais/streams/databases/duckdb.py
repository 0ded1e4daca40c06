"""DuckDB: `duckdb:///folder/file.db?table=t&key=id`. One process writes at a time: keys come in order."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from sgais.errors import DataError
from sgais.streams.databases.database import OPTIONS, Batch
from sgais.streams.databases.keyed_rows import KeyedRows
from sgais.streams.remote.address import Address
from sgais.streams.remote.extras import extra
from sgais.streams.remote.files import file_of
from sgais.streams.remote.patience import Failures
from sgais.streams.source import ROWS_PER_PIECE
from sgais.streams.sources.arrow_columns import from_arrow


def duckdb_rows(uri: str, follow_seconds: float | None) -> KeyedRows:
    """The source of a URI."""
    address = Address.of(uri, "", OPTIONS)
    return KeyedRows(address, partial(DuckdbFile, file_of(address)), follow_seconds)


class DuckdbFile:
    """A file of DuckDB, opened for reading; while another process writes to it, it has to wait."""

    def __init__(self, path: Path) -> None:
        self._duckdb = extra("duckdb", "duckdb")
        self.failures: Failures = (self._duckdb.IOException,)
        self._path = path
        self._connection: Any = None

    def open(self) -> None:
        """Connect."""
        if self._connection is None:
            self._connection = self._duckdb.connect(str(self._path), read_only=True)

    def close(self) -> None:
        """Let go, so that somebody can write."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def column_names(self, query: str) -> list[str]:
        """The columns that a query has."""
        with self._explained(query):
            return list(self._connection.sql(query).columns)

    def value(self, query: str) -> Any:
        """The one value that a query has."""
        with self._explained(query), self._connection.cursor() as cursor:
            return cursor.execute(query).fetchall()[0][0]

    def batches(self, query: str) -> Iterator[Batch]:
        """The rows that a query has."""
        with self._explained(query):
            for batch in self._connection.sql(query).to_arrow_reader(ROWS_PER_PIECE):
                yield Batch({name: from_arrow(batch.column(name)) for name in batch.schema.names}, batch.num_rows)

    def open_writers(self, table: str | None) -> frozenset[str]:  # noqa: ARG002 (of the contract)
        """None: nobody writes while somebody reads."""
        return frozenset()

    @contextmanager
    def _explained(self, query: str) -> Iterator[None]:
        try:
            yield
        except self.failures:
            raise
        except self._duckdb.Error as error:
            raise DataError(f"`{self._path}` must answer the query, got {error}. The query was: {query}") from error
