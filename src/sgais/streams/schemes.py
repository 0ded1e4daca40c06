"""Which source a URI means. Each is imported when it is used, with the library that it needs."""

import importlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from sgais.errors import ConfigError, require
from sgais.streams.remote.address import scheme_of
from sgais.streams.remote.extras import extra
from sgais.streams.source import Source


class Kind(NamedTuple):
    """How a scheme is opened.

    Attributes:
        opener: Module and function.
        library: What has to be installed; none if empty.
        extra: Of this package, which installs it.
    """

    opener: str
    library: str = ""
    extra: str = ""

    def open(self, *arguments: object) -> Source:
        """The source."""
        if self.library:
            extra(self.library, self.extra)
        module, _, function = self.opener.partition(":")
        opener: Callable[..., Source] = getattr(importlib.import_module(f"sgais.streams.{module}"), function)
        return opener(*arguments)


POSTGRESQL = Kind("databases.postgresql:postgresql_rows", "adbc_driver_postgresql.dbapi", "postgresql")
DATABASES = {
    "duckdb": Kind("databases.duckdb:duckdb_rows", "duckdb", "duckdb"),
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "sqlite": Kind("databases.sqlite:sqlite_rows"),
}
REDIS = Kind("brokers.redis:redis_rows", "redis", "redis")
BROKERS = {
    "kafka": Kind("brokers.kafka:kafka_rows", "confluent_kafka", "kafka"),
    "nats": Kind("brokers.nats:nats_rows", "nats", "nats"),
    "redis": REDIS,
    "rediss": REDIS,
}
OBJECTS = Kind("objects.stores:object_rows", "obstore", "objects")
STORES = dict.fromkeys(("s3", "s3a", "gs", "az", "azure", "abfs", "abfss"), OBJECTS)


def source_at(
    uri: str, follow_seconds: float | None, format_name: str | None, storage_options: Mapping[str, str]
) -> Source:
    """The source of a URI."""
    scheme = scheme_of(uri)
    if scheme in STORES:
        return STORES[scheme].open(uri, follow_seconds, format_name, storage_options)
    require(not storage_options, "storage_options", "come with a URI of an object store", sorted(storage_options))
    if scheme in DATABASES:
        require(format_name is None, "format", "come with files, messages or standard input", format_name)
        return DATABASES[scheme].open(uri, follow_seconds)
    if scheme in BROKERS:
        return BROKERS[scheme].open(uri, follow_seconds, format_name)
    known = ", ".join(f"{name}://" for name in sorted([*DATABASES, *BROKERS, *STORES]))
    raise ConfigError(f"`source` must be a path or a URI of {known}, got {scheme}://. See docs/streams.md.")
