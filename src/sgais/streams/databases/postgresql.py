"""PostgreSQL, by ADBC: `postgresql://user@host/database?table=t&key=id`, the password in PGPASSWORD or ~/.pgpass.

Transactions commit in another order than that in which their rows get numbers. A writer holds a lock on its table from
before it takes a number until its row is there or is not; so rows up to the largest key are final once every
transaction that held such a lock after that key was seen has ended. Nobody is kept from writing meanwhile.
"""

import math
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import quote

from sgais.errors import DataError
from sgais.streams.databases.database import OPTIONS, Batch
from sgais.streams.databases.keyed_rows import KeyedRows
from sgais.streams.remote.address import Address
from sgais.streams.remote.extras import extra
from sgais.streams.remote.patience import Failures, answer_seconds
from sgais.streams.sources.arrow_columns import from_arrow

PASSWORD = "PGPASSWORD"
PORT = 5432
CONNECT_SECONDS = 10
REFUSALS = ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied")
WRITERS = """
SELECT DISTINCT virtualtransaction FROM pg_locks
WHERE mode = 'RowExclusiveLock' AND granted AND locktype = 'relation'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND pid IS DISTINCT FROM pg_backend_pid()
"""
WRITERS_OF = (
    WRITERS
    + """
  AND (relation = {table}::regclass OR relation IN (SELECT relid FROM pg_partition_tree({table}::regclass))
    OR EXISTS (SELECT 1 FROM pg_class WHERE oid = {table}::regclass AND relkind NOT IN ('r', 'p')))
"""
)


def postgresql_rows(uri: str, follow_seconds: float | None) -> KeyedRows:
    """The source of a URI."""
    address = Address.of(uri, PASSWORD, OPTIONS)
    return KeyedRows(address, partial(Server, address), follow_seconds)


class Server:
    """A database of a server."""

    def __init__(self, address: Address) -> None:
        self._driver = extra("adbc_driver_postgresql.dbapi", "postgresql")
        self.failures: Failures = (self._driver.OperationalError, OSError)
        self._address = address
        self._connection: Any = None

    def open(self) -> None:
        """Connect."""
        if self._connection is None:
            self._connection = connected(self._address, autocommit=True)

    def close(self) -> None:
        """Let go."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def column_names(self, query: str) -> list[str]:
        """The columns that a query has."""
        with self._run(query) as cursor:
            return [column[0] for column in cursor.description]

    def value(self, query: str) -> Any:
        """The one value that a query has."""
        with self._run(query) as cursor:
            return cursor.fetchone()[0]

    def batches(self, query: str) -> Iterator[Batch]:
        """The rows that a query has."""
        with self._run(query) as cursor:
            for batch in cursor.fetch_record_batch():
                yield Batch({name: from_arrow(batch.column(name)) for name in batch.schema.names}, batch.num_rows)

    def open_writers(self, table: str | None) -> frozenset[str]:
        """Transactions that have locked the table, one of its partitions or, for a view or a query, any table."""
        literal = "" if table is None else "'" + table.replace("'", "''") + "'"
        with self._run(WRITERS if table is None else WRITERS_OF.format(table=literal)) as cursor:
            return frozenset(row[0] for row in cursor.fetchall())

    def _run(self, query: str) -> Any:
        cursor = self._connection.cursor()
        try:
            cursor.execute(query)
        except self.failures:
            cursor.close()
            raise
        except self._driver.Error as error:
            cursor.close()
            raise DataError(f"`{self._address.shown}` must answer the query, got {self._address.hide(error)}") from None
        return cursor


def connected(address: Address, autocommit: bool) -> Any:
    """A connection of ADBC; a server that will not have us is told from one that is not there."""
    driver = extra("adbc_driver_postgresql.dbapi", "postgresql")
    user = quote(address.user, safe="") + (f":{quote(address.password, safe='')}" if address.password else "")
    hosts = ",".join(f"{host}:{port}" for host, port in address.servers(PORT))
    seconds = math.ceil(answer_seconds(address, CONNECT_SECONDS))
    uri = f"postgresql://{user}{'@' if user else ''}{hosts}/{quote(address.path)}?connect_timeout={seconds}"
    try:
        return driver.connect(uri, autocommit=autocommit)
    except driver.OperationalError as error:
        if any(words in str(error) for words in REFUSALS):
            raise DataError(
                f"`{address.shown}` must let its reader in, got {address.hide(error).strip()}. "
                f"Give the user in the URI and the password in {PASSWORD}."
            ) from None
        raise
