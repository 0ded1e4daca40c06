"""What is asked of a database, and the text of the questions."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

from sgais.errors import ConfigError
from sgais.streams.remote.address import Address
from sgais.streams.remote.patience import Failures
from sgais.streams.source import Column

Key: TypeAlias = int | str
OPTIONS = ("table", "query", "key", "retry_seconds")


class Batch(NamedTuple):
    """Rows of a result, column by column."""

    columns: dict[str, Column]
    num_rows: int


class Database(Protocol):
    """A connection that is opened, closed and opened again.

    Attributes:
        failures: The errors after which it may help to try again.
    """

    failures: Failures

    def open(self) -> None:
        """Connect."""

    def close(self) -> None:
        """Let go."""

    def column_names(self, query: str) -> list[str]:
        """The columns that a query has."""

    def value(self, query: str) -> Any:
        """The one value that a query has."""

    def batches(self, query: str) -> Iterator[Batch]:
        """The rows that a query has."""

    def open_writers(self, table: str | None) -> frozenset[str]:
        """Transactions that may yet add rows to a table, or to any; empty where rows come in the order of keys."""


class Questions:
    """The queries for one table, or for another query, in the order of its key."""

    def __init__(self, address: Address) -> None:
        options = address.options
        if ("table" in options) == ("query" in options) or "key" not in options:
            raise ConfigError(
                f"`source` must name a table or a query and its key, got {address.shown}. "
                "Write ?table=NAME&key=COLUMN, with a column of whole numbers or text that no two rows share."
            )
        self.key_name = options["key"]
        self.table = ".".join(_name(part) for part in options["table"].split(".")) if "table" in options else None
        self._rows = self.table or f"({options['query'].rstrip().rstrip(';')}) AS all_rows"
        self._key = _name(self.key_name)

    @property
    def columns(self) -> str:
        """A result without rows."""
        return f"SELECT * FROM {self._rows} LIMIT 0"

    @property
    def last_key(self) -> str:
        """The largest key."""
        return f"SELECT max({self._key}) FROM {self._rows}"

    @property
    def num_without_key(self) -> str:
        """Rows that no order has."""
        return f"SELECT count(*) FROM {self._rows} WHERE {self._key} IS NULL"

    def num_up_to(self, key: Key) -> str:
        """How many rows there are up to a key."""
        return f"SELECT count(*) FROM {self._rows} WHERE {self._key} <= {_literal(key)}"

    def between(self, first: Key | None, last: Key, columns: list[str]) -> str:
        """Rows in order, from one key (or the smallest) to another, both included."""
        names = ", ".join(_name(name) for name in dict.fromkeys([self.key_name, *columns]))
        since = "" if first is None else f"{self._key} >= {_literal(first)} AND "
        return f"SELECT {names} FROM {self._rows} WHERE {since}{self._key} <= {_literal(last)} ORDER BY {self._key}"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(key: Key) -> str:
    return str(key) if isinstance(key, int) else "'" + key.replace("'", "''") + "'"
