import contextlib
import sqlite3
import threading
import time

import numpy as np
import pytest

import sgais
from sgais.errors import ConfigError, DataError
from tests.services.postgresql import PASSWORD
from tests.services.running import sqlite_file

ROWS = {"y": np.arange(1.0, 1001.0)}


@pytest.fixture
def uri(tmp_path):
    return sqlite_file(tmp_path, ROWS)


@pytest.fixture
def execute(tmp_path):
    def run(statement):
        with contextlib.closing(sqlite3.connect(tmp_path / "rows.db")) as connection, connection:
            connection.execute(statement)

    return run


def halfway(uri, **options):
    """A stream of a thousand rows that has come to its middle."""
    rows = sgais.stream(uri, 500, y="y", **options)
    next(rows)
    return rows


def test_the_bookmark_is_the_key(uri):
    assert halfway(uri).bookmark == {"kind": "database", "key": 500}


def test_rows_come_in_the_order_of_the_key(uri):
    backwards = uri.replace("table=points", "query=SELECT -id AS back, y FROM points").replace("key=id", "key=back")
    np.testing.assert_array_equal(next(sgais.stream(backwards, 1000, y="y"))["y"], ROWS["y"][::-1])


def test_text_is_a_key(uri):
    words = uri.replace("table=points", "query=SELECT printf('it''s %2505d', id) AS word, y FROM points")
    rows = sgais.stream(words.replace("key=id", "key=word"), 300, y="y")
    first = next(rows)
    assert rows.bookmark["key"] == "it's 00300"
    again = sgais.stream(words.replace("key=id", "key=word"), 700, y="y").seek(rows.position, rows.bookmark)
    np.testing.assert_array_equal(np.concatenate([first["y"], next(again)["y"]]), ROWS["y"])


def test_a_table_that_has_lost_rows_is_refused(uri, execute):
    rows = halfway(uri)
    execute("DELETE FROM points WHERE id IN (3, 4)")
    with pytest.raises(
        DataError, match="must still have the rows behind the checkpoint, got 498 of 500 rows up to id = 500"
    ):
        sgais.stream(uri, 500, y="y").seek(rows.position, rows.bookmark).take(500)


def test_rows_that_came_between_those_read_are_refused(uri, execute):
    execute("DELETE FROM points WHERE id = 7")
    rows = halfway(uri)
    execute("INSERT INTO points (id, y) VALUES (7, 7.0)")
    with pytest.raises(DataError, match="must get new rows behind the old ones, got 1 more up to id = 501"):
        sgais.stream(uri, 500, y="y").seek(rows.position, rows.bookmark).take(500)


def test_a_key_that_occurs_twice_is_refused(uri):
    twice = uri.replace("table=points", "query=SELECT id / 2 AS id, y FROM points")
    with pytest.raises(DataError, match="must have each key once, got 1 twice"):
        next(sgais.stream(twice, 500, y="y"))


def test_rows_without_a_key_are_refused(uri):
    without = uri.replace("table=points", "query=SELECT nullif(id, 9) AS id, y FROM points")
    with pytest.raises(DataError, match="must have a id in every row, got 1 without"):
        next(sgais.stream(without, 500, y="y"))


@pytest.mark.parametrize("options", ["", "table=points", "key=id", "table=points&query=SELECT 1&key=id"])
def test_a_uri_without_table_and_key_is_refused(uri, options):
    with pytest.raises(ConfigError, match="must name a table or a query and its key"):
        sgais.stream(f"{uri.partition('?')[0]}?{options}")


def test_what_is_no_database_is_refused(tmp_path):
    (tmp_path / "text.db").write_text("no database at all" * 100)
    with pytest.raises(DataError, match="must be a file of SQLite, got file is not a database"):
        next(sgais.stream(f"sqlite://{tmp_path / 'text.db'}?table=t&key=id"))
    with pytest.raises(DataError, match="must be a file that exists"):
        sgais.stream("sqlite:///nowhere.db?table=t&key=id")


def test_new_rows_are_followed(uri, execute):
    rows = sgais.stream(uri, 500, y="y", follow_seconds=2)
    threading.Timer(0.5, execute, ["INSERT INTO points (id, y) VALUES (2000, 5.0), (2001, 6.0)"]).start()
    chunks = list(rows)
    assert [len(chunk["y"]) for chunk in chunks] == [500, 500, 2]
    assert rows.bookmark["key"] == 2001


@pytest.mark.services
def test_a_row_whose_transaction_ends_late_is_waited_for(running):
    """Number 1001 is taken first and committed last: who read only what is there would never see it."""
    server, table = running.server("postgresql"), running.new_name()
    server.fill(table, ROWS)
    late = server.connect()
    with late, late.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"INSERT INTO {table} VALUES (1001, 1001.0)")
        server.execute(f"INSERT INTO {table} VALUES (1002, 1002.0)")
        rows = sgais.stream(f"{server.uri}?table={table}&key=id", 500, y="y")
        found = []
        reading = threading.Thread(target=lambda: found.extend(rows))
        reading.start()
        time.sleep(1)
        assert rows.position < 1002, "nothing behind the open transaction has been read"
        cursor.execute("COMMIT")
        reading.join(30)
    np.testing.assert_array_equal(np.concatenate([chunk["y"] for chunk in found]), np.arange(1.0, 1003.0))


@pytest.mark.services
def test_a_transaction_that_stays_open_is_named(running):
    server, table = running.server("postgresql"), running.new_name()
    server.fill(table, ROWS)
    late = server.connect()
    with late, late.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"INSERT INTO {table} VALUES (1001, 1001.0)")
        rows = sgais.stream(f"{server.uri}?table={table}&key=id&retry_seconds=0.5", 500, y="y")
        with pytest.raises(DataError, match="must be rid of a transaction within 0.5 seconds, got 1 still open"):
            next(rows)


@pytest.mark.services
def test_a_wrong_password_is_said_at_once_and_never_shown(running, monkeypatch):
    server = running.server("postgresql")
    monkeypatch.setenv("PGPASSWORD", "wr0ng-of-postgresql")
    with pytest.raises(DataError, match="must let its reader in, got .*password authentication failed") as caught:
        next(sgais.stream(f"{server.uri}?table=t&key=id", y="y"))
    assert "wr0ng" not in str(caught.value)
    assert PASSWORD not in str(caught.value)


@pytest.mark.services
def test_numbers_of_any_length_and_vectors_are_read(running):
    server, table = running.server("postgresql"), running.new_name()
    server.execute(
        f"CREATE TABLE {table} (id int PRIMARY KEY, n numeric, x float8[], y real)",
        f"INSERT INTO {table} VALUES (1, 1.5, '{{1, 2}}', 3), (2, 2.25, '{{3, 4}}', 4)",
    )
    chunk = next(sgais.stream(f"{server.uri}?table={table}&key=id", n="n", x="x", y="y"))
    assert chunk["n"].tolist() == [1.5, 2.25]
    assert chunk["x"].tolist() == [[1, 2], [3, 4]]
    assert chunk["y"].dtype == np.float32
