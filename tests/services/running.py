"""Servers that many tests of a session share: each is started by the first that asks for it."""

import contextlib
import itertools
import json
import os
import sqlite3

import pyarrow as pa

from tests.services import mosquitto, postgresql, redis
from tests.services.kafka import Kafka
from tests.services.nats import TOKEN, Nats
from tests.services.process import skip_or_fail
from tests.services.s3 import S3

LIBRARIES = {"nats": "nats", "redis": "redis", "kafka": "confluent_kafka", "s3": "obstore", "duckdb": "duckdb"}
LIBRARIES |= {"postgresql": "adbc_driver_postgresql", "mqtt": "paho.mqtt.client"}


class Running:
    """Servers by name, and what makes a source of columns on them.

    Args:
        folder: For their files.
    """

    def __init__(self, folder):
        self._folder = folder
        self._exits = contextlib.ExitStack()
        self._servers = {}
        self._numbers = itertools.count()

    def server(self, name):
        if name not in self._servers:
            require_library(name)
            kinds = {"nats": Nats, "redis": redis.Redis, "kafka": Kafka, "s3": S3, "mqtt": mosquitto.Mosquitto}
            made = postgresql.Postgresql() if name == "postgresql" else kinds[name](self._folder / name)
            self._servers[name] = self._exits.enter_context(made)
            os.environ.update(variables(name, made))
        return self._servers[name]

    def close(self):
        self._exits.close()

    def new_name(self):
        return f"rows{next(self._numbers)}"

    def nats_json(self, data):
        return self._filled("nats", _json(data))

    def nats_arrow(self, data):
        return self._filled("nats", [_arrow(part) for part in _parts(data, 77)])

    def kafka_json(self, data):
        return self._filled("kafka", _json(data))

    def redis_entries(self, data):
        return self._filled("redis", [{name: repr(cell) for name, cell in row.items()} for row in rows_of(data)])

    def postgresql_table(self, data):
        server, table = self.server("postgresql"), self.new_name()
        server.fill(table, data)
        return f"{server.uri}?table={table}&key=id"

    def s3_parquet(self, data, rows_per_file=333, rows_per_group=50):
        server, prefix = self.server("s3"), self.new_name()
        for number, part in enumerate(_parts(data, rows_per_file)):
            server.put_table(f"{prefix}/part-{number:03d}.parquet", part, row_group_size=rows_per_group)
        return f"s3://bucket/{prefix}/*.parquet"

    def s3_text(self, data):
        server, prefix = self.server("s3"), self.new_name()
        lines = _json(data)
        server.put(f"{prefix}/a.ndjson", b"\n".join(lines[:400]))
        server.put(f"{prefix}/b.ndjson", b"\n".join(lines[400:]))
        return f"s3://bucket/{prefix}"

    def _filled(self, name, contents):
        server, target = self.server(name), self.new_name()
        server.fill(target, contents)
        return server.uri(target)


def sqlite_file(folder, data):
    path = folder / "rows.db"
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            f"CREATE TABLE points (id INTEGER PRIMARY KEY, {', '.join(f'{name} REAL' for name in data)})"
        )
        marks = ", ".join("?" for _ in data)
        connection.executemany(
            f"INSERT INTO points ({', '.join(data)}) VALUES ({marks})", [tuple(row.values()) for row in rows_of(data)]
        )
    return f"sqlite://{path}?table=points&key=id"


def duckdb_file(folder, data):
    require_library("duckdb")
    import duckdb

    path = folder / "rows.duckdb"
    points = pa.table({"id": range(len(next(iter(data.values())))), **data})
    with duckdb.connect(str(path)) as connection:
        connection.register("points_there", points)
        connection.execute("CREATE TABLE points AS SELECT * FROM points_there")
    return f"duckdb://{path}?query=SELECT * FROM points&key=id"


def require_library(name):
    try:
        __import__(LIBRARIES[name])
    except ImportError:
        skip_or_fail(f"needs the Python package {LIBRARIES[name]}")


def variables(name, server):
    """Of the environment of those who read."""
    secrets = {"nats": {"NATS_PASSWORD": TOKEN}, "redis": {"REDIS_PASSWORD": redis.PASSWORD}}
    secrets |= {"postgresql": {"PGPASSWORD": postgresql.PASSWORD}, "mqtt": {"MQTT_PASSWORD": mosquitto.PASSWORD}}
    return server.variables if name == "s3" else secrets.get(name, {})


def rows_of(data):
    return [dict(zip(data, map(float, cells), strict=True)) for cells in zip(*data.values(), strict=True)]


def _json(data):
    return [json.dumps(row).encode() for row in rows_of(data)]


def _arrow(data):
    sink, table = pa.BufferOutputStream(), pa.table(data)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _parts(data, size):
    for first in range(0, len(next(iter(data.values()))), size):
        yield {name: cells[first : first + size] for name, cells in data.items()}
