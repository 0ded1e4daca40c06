"""What every source must do. A new source joins by being listed in SOURCES."""

import gzip
import json
import threading
import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sgais
from sgais.errors import DataError
from sgais.streams.source import MarkedSource
from tests.services.running import Running, duckdb_file, sqlite_file

NUM_ROWS = 1_234
CHUNK = 100
GENERATOR = np.random.default_rng(3)
DATA = {
    "a": GENERATOR.normal(size=NUM_ROWS),
    "b": GENERATOR.normal(size=NUM_ROWS),
    "t": GENERATOR.normal(size=NUM_ROWS),
}
MAPPING = {"x": ["a", "b"], "y": "t"}
EXPECTED = {"x": np.column_stack([DATA["a"], DATA["b"]]), "y": DATA["t"]}


def rows_of(data):
    return [dict(zip(data, map(float, values), strict=True)) for values in zip(*data.values(), strict=True)]


def opened(path):
    return gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w")


def write_csv(path, data):
    with opened(path) as file:
        file.write("unused,a,b,t\n")
        file.writelines(f"text,{row['a']!r},{row['b']!r},{row['t']!r}\n" for row in rows_of(data))
    return path


def write_ndjson(path, data):
    with opened(path) as file:
        file.writelines(json.dumps(row) + "\n" for row in rows_of(data))
    return path


def write_parquet(path, data):
    pq.write_table(pa.table(data), path, row_group_size=70)
    return path


def write_parquet_directory(folder, data):
    folder.mkdir()
    for number, first in enumerate(range(0, len(data["a"]), 333)):
        part = {name: values[first : first + 333] for name, values in data.items()}
        pq.write_table(pa.table(part), folder / f"part-{number:03d}.parquet", row_group_size=50)
    return folder


def pieces_of(data, size):
    for first in range(0, len(data["a"]), size):
        yield {name: values[first : first + size] for name, values in data.items()}


# name -> how to make the source of these columns, given a temporary folder; and options of `stream` that it needs
SOURCES = {
    "arrays": (lambda folder, data: data, {}),
    "pandas": (lambda folder, data: pd.DataFrame(data), {}),
    "polars": (lambda folder, data: pl.DataFrame(data), {}),
    "arrow": (lambda folder, data: pa.table(data), {}),
    "csv": (lambda folder, data: write_csv(folder / "d.csv", data), {}),
    "csv.gz": (lambda folder, data: write_csv(folder / "d.csv.gz", data), {}),
    "followed csv": (lambda folder, data: write_csv(folder / "f.csv", data), {"follow_seconds": 0.05}),
    "ndjson": (lambda folder, data: write_ndjson(folder / "d.ndjson", data), {}),
    "jsonl.gz": (lambda folder, data: write_ndjson(folder / "d.jsonl.gz", data), {}),
    "followed ndjson": (lambda folder, data: write_ndjson(folder / "f.jsonl", data), {"follow_seconds": 0.05}),
    "parquet": (lambda folder, data: write_parquet(folder / "d.parquet", data), {}),
    "parquet directory": (lambda folder, data: write_parquet_directory(folder / "parts", data), {}),
    "parquet pattern": (lambda folder, data: write_parquet_directory(folder / "parts", data) / "part-*.parquet", {}),
    "list of rows": (lambda folder, data: rows_of(data), {}),
    "generator of rows": (lambda folder, data: iter(rows_of(data)), {}),
    "generator of chunks": (lambda folder, data: pieces_of(data, 77), {}),
    "generator of frames": (lambda folder, data: (pd.DataFrame(part) for part in pieces_of(data, 77)), {}),
}
# the same on servers of the tests' own
SOURCES |= {
    "sqlite": (sqlite_file, {}),
    "duckdb": (duckdb_file, {}),
}
ON_SERVERS = {
    "postgresql": (Running.postgresql_table, {}),
    "nats": (Running.nats_json, {}),
    "nats arrow": (Running.nats_arrow, {"format": "arrow"}),
    "redis": (Running.redis_entries, {}),
    "kafka": (Running.kafka_json, {}),
    "s3 parquet": (Running.s3_parquet, {}),
    "s3 ndjson": (Running.s3_text, {}),
}
KNOW_THEIR_LENGTH = {"arrays", "pandas", "polars", "arrow", "parquet", "parquet directory", "parquet pattern"}


@pytest.fixture(params=[*SOURCES, *(pytest.param(name, marks=pytest.mark.services) for name in ON_SERVERS)])
def name(request):
    return request.param


@pytest.fixture
def open_stream(name, tmp_path, running):
    """Streams the columns given, each time from a source made anew."""
    count = iter(range(1_000))

    def open_it(data=DATA, chunk_size=CHUNK, mapping=MAPPING, **more):
        if name in ON_SERVERS:
            make, options = ON_SERVERS[name]
            return sgais.stream(make(running, data), chunk_size, **options, **mapping, **more)
        make, options = SOURCES[name]
        folder = tmp_path / str(next(count))
        folder.mkdir()
        return sgais.stream(make(folder, data), chunk_size, **options, **mapping, **more)

    return open_it


def joined(chunks):
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in ("x", "y")}


def with_value(column, row, value):
    changed = {name: values.copy() for name, values in DATA.items()}
    changed[column][row] = value
    return changed


def assert_same_chunks(chunks, others):
    assert len(chunks) == len(others)
    for chunk, other in zip(chunks, others, strict=True):
        for name in ("x", "y"):
            np.testing.assert_array_equal(chunk[name], other[name])


@pytest.mark.parametrize("prefetch", [0, 2])
def test_chunks_are_the_rows_of_the_arrays(open_stream, prefetch):
    chunks = list(open_stream(prefetch=prefetch))
    assert [len(chunk["y"]) for chunk in chunks] == [CHUNK] * 12 + [34]
    for name, values in joined(chunks).items():
        np.testing.assert_array_equal(values, EXPECTED[name])


def test_the_length_is_known_where_it_should_be(open_stream, name):
    assert open_stream().total_rows == (NUM_ROWS if name in KNOW_THEIR_LENGTH else None)


def test_position_counts_delivered_rows_and_not_those_read_ahead(open_stream):
    rows = open_stream()
    positions = []
    assert rows.position == 0
    for _ in rows:
        time.sleep(0.001)  # lets the background thread run ahead
        positions.append(rows.position)
    assert positions == [*range(CHUNK, NUM_ROWS, CHUNK), NUM_ROWS]


@pytest.mark.parametrize("start", [0, 300, 1_200])
def test_a_stream_that_starts_later_gives_the_same_chunks(open_stream, start):
    resumed = open_stream().seek(start)
    assert_same_chunks(list(resumed), list(open_stream())[start // CHUNK :])
    assert resumed.position == NUM_ROWS


def test_a_second_loop_goes_on_where_the_first_one_stopped(open_stream):
    rows = open_stream()
    first = [next(rows), next(rows)]
    assert_same_chunks(first + list(rows), list(open_stream()))
    assert list(rows) == []


def test_a_bookmark_leads_to_the_same_chunks_as_the_position(open_stream):
    rows = open_stream()
    chunks = [next(rows), next(rows), next(rows)]
    position, bookmark = rows.position, rows.bookmark
    rows.close()
    assert (bookmark is not None) == isinstance(rows._source, MarkedSource)
    if bookmark is None:
        pytest.skip("rows are found by counting")
    again = json.loads(json.dumps(bookmark))  # as a checkpoint keeps it
    assert_same_chunks(chunks + list(rows.seek(position, again)), list(open_stream()))
    assert rows.position == NUM_ROWS


def test_starting_at_the_very_end_gives_nothing(open_stream):
    assert list(open_stream().seek(NUM_ROWS)) == []


def test_starting_behind_the_end_is_an_error(open_stream):
    with pytest.raises(DataError, match=f"`position` must be at most .* got 1235 of {NUM_ROWS} rows"):
        list(open_stream().seek(NUM_ROWS + 1))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_bad_row_is_named_after_the_chunks_before_it(open_stream, value):
    rows = open_stream(with_value("b", 345, value))
    delivered = []
    with pytest.raises(DataError, match=r"row 345\b.* column 'b' is (missing|infinite)"):
        delivered.extend(rows)  # extend keeps what came before the error
    assert rows.position == 300


def test_chunks_before_a_bad_row_are_delivered(open_stream):
    rows = open_stream(with_value("b", 345, np.nan))
    assert_same_chunks([next(rows), next(rows), next(rows)], list(open_stream())[:3])
    with pytest.raises(DataError, match="row 345"):
        next(rows)


def test_bad_rows_are_left_out_of_full_chunks(open_stream):
    rows = open_stream(with_value("t", 345, np.nan), on_error="skip")
    chunks = list(rows)
    assert [len(chunk["y"]) for chunk in chunks] == [CHUNK] * 12 + [33]
    np.testing.assert_array_equal(joined(chunks)["y"], np.delete(EXPECTED["y"], 345))
    assert (rows.num_bad_rows, rows.position) == (1, NUM_ROWS)


def test_quarantine_holds_each_bad_row_once_also_after_a_break(open_stream, tmp_path):
    data = with_value("a", 99, np.nan)
    for row in (100, 101, 500, NUM_ROWS - 1):
        data["a"][row] = np.inf
    file = tmp_path / "bad.ndjson"
    first = open_stream(data, on_error="quarantine", quarantine=file)
    chunks = [next(first), next(first), next(first)]
    position = first.position
    assert position == 303
    second = open_stream(data, on_error="quarantine", quarantine=file).seek(position)
    chunks += list(second)
    uninterrupted = list(open_stream(data, on_error="skip"))
    assert_same_chunks(chunks, uninterrupted)
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    assert [entry["row"] for entry in entries] == [99, 100, 101, 500, NUM_ROWS - 1]
    assert {entry["column"] for entry in entries} == {"a"}
    assert set(entries[0]) == {"source", "row", "column", "reason", "values"}
    assert (first.num_bad_rows, second.num_bad_rows) == (3, 2)


def test_bad_rows_behind_a_chunk_wait_for_the_next(open_stream):
    rows = open_stream(with_value("a", CHUNK, np.nan), on_error="skip")
    next(rows)
    assert (rows.position, rows.num_bad_rows) == (CHUNK, 0)
    next(rows)
    assert (rows.position, rows.num_bad_rows) == (2 * CHUNK + 1, 1)


def test_a_missing_column_is_named_with_those_that_there_are(open_stream):
    with pytest.raises(
        DataError, match=r"must have the column 'tt', got the columns .*'a', 'b', 't'. Did you mean 't'\?"
    ):
        next(open_stream(mapping={"y": "tt"}))


def test_labels_of_a_field_are_checked(open_stream):
    labels = {**DATA, "t": np.arange(NUM_ROWS) % 3.0}
    fields = {"x": sgais.Field((2,)), "y": sgais.Field(is_integer=True, num_classes=3)}
    chunk = next(open_stream(labels, fields=fields))
    assert chunk["y"].dtype == np.int32
    np.testing.assert_array_equal(chunk["y"], np.arange(CHUNK) % 3)
    for wrong in (3.0, 0.5, -1.0):
        labels["t"][50] = wrong
        with pytest.raises(DataError, match=f"row 50.* column 't' must be a whole number from 0 to 2, got {wrong}"):
            next(open_stream(labels, fields=fields))


def test_no_thread_outlives_its_stream(open_stream):
    before = threading.active_count()
    rows = open_stream(chunk_size=10)
    next(rows)
    time.sleep(0.05)  # until the queue is full and the thread waits
    del rows
    wait_for_threads(before)
    rows = open_stream(chunk_size=10)
    next(rows)
    rows.close()
    wait_for_threads(before)
    list(open_stream())
    wait_for_threads(before)


def wait_for_threads(count):
    deadline = time.monotonic() + 10
    while threading.active_count() > count:
        assert time.monotonic() < deadline, threading.enumerate()
        time.sleep(0.01)
