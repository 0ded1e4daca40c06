"""Tables: `postgresql://user@host/db?table=events`, `sqlite:///folder/file.db?table=events`; made if there are none.

The id of an event is the primary key, so that one that is sent again is there once.
"""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sgais.errors import ConfigError
from sgais.streams.databases import postgresql
from sgais.streams.remote.address import Address
from sgais.streams.remote.extras import extra

CREATE = "CREATE TABLE IF NOT EXISTS {table} (id {text} PRIMARY KEY, sequence {number}, kind {text}, event {text})"
INSERT = "INSERT INTO {table} (id, sequence, kind, event) VALUES ({marks}) ON CONFLICT (id) DO NOTHING"


class SqliteSink:
    """A table of a file."""

    def __init__(self, path: Path, table: str) -> None:
        self._path, self._table = path, table

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Insert them all in one transaction."""
        with closing(sqlite3.connect(self._path)) as connection, connection:
            connection.execute(CREATE.format(table=self._table, text="TEXT", number="INTEGER"))
            connection.executemany(INSERT.format(table=self._table, marks="?, ?, ?, ?"), [_row(one) for one in events])


class PostgresqlSink:
    """A table of a server."""

    def __init__(self, address: Address, table: str) -> None:
        extra("adbc_driver_postgresql.dbapi", "postgresql")
        self._address, self._table = address, table

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Insert them all in one transaction."""
        with closing(postgresql.connected(self._address, autocommit=False)) as connection:
            with connection.cursor() as cursor:
                cursor.execute(CREATE.format(table=self._table, text="text", number="bigint"))
                insert = INSERT.format(table=self._table, marks="$1, $2, $3, $4")
                cursor.executemany(insert, [_row(one) for one in events])
            connection.commit()


def sqlite_sink(uri: str) -> SqliteSink:
    """The sink of a URI."""
    address = Address.of(uri, "", ("table",))
    path = Path(f"{address.host}/{address.path}" if address.path else address.host)
    return SqliteSink(path, _table(address))


def postgresql_sink(uri: str) -> PostgresqlSink:
    """The sink of a URI."""
    address = Address.of(uri, postgresql.PASSWORD, ("table",))
    return PostgresqlSink(address, _table(address))


def _table(address: Address) -> str:
    if "table" not in address.options:
        raise ConfigError(f"`--emit` must name a table, got {address.shown}. Add ?table=events.")
    return ".".join('"' + part.replace('"', '""') + '"' for part in address.options["table"].split("."))


def _row(event: dict[str, Any]) -> tuple[str, int, str, str]:
    return str(event["id"]), int(event["sequence"]), str(event["kind"]), json.dumps(event)
