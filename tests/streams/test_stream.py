"""What `sgais.stream` promises beyond the contract of its sources."""

import json
import subprocess
import sys
import threading

import numpy as np
import pytest

import sgais
from sgais.errors import ConfigError, DataError

DATA = {"a": [1.0, 2.0], "b": [3.0, 4.0], "t": [5.0, 6.0]}
FIELDS = {"x": sgais.Field((2,)), "y": sgais.Field()}


def test_columns_keep_their_names_without_a_mapping():
    assert {name: list(values) for name, values in next(sgais.stream(DATA)).items()} == DATA


def test_a_list_of_columns_becomes_the_features_of_a_row():
    chunk = next(sgais.stream(DATA, x=["b", "a"], y="t"))
    np.testing.assert_array_equal(chunk["x"], [[3, 1], [4, 2]])
    assert list(chunk) == ["x", "y"]
    assert next(sgais.stream(DATA, x=["a"]))["x"].shape == (2, 1)


def test_fields_choose_the_columns_that_the_mapping_leaves_out():
    chunk = next(sgais.stream({**DATA, "y": [7.0, 8.0]}, fields=FIELDS, x=["a", "b"]))
    assert list(chunk) == ["x", "y"]
    one_feature = {"a": sgais.Field((1,))}
    assert next(sgais.stream(DATA, fields=one_feature))["a"].shape == (2, 1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"fields": FIELDS, "x": ["a", "b", "t"], "y": "t"},
            DataError,
            r"'x' of `source` must have rows of shape \(2,\)",
        ),
        ({"fields": FIELDS, "z": "a"}, ConfigError, r"`z` must be one of the model's fields \['x', 'y'\], got 'a'"),
        ({"fields": FIELDS}, DataError, "must have the column 'x', got the columns 'a', 'b', 't'"),
        ({"x": 3}, ConfigError, "`x` must be the name of a column or a list of names, got 3"),
        ({"categories": {"c": ["d"]}}, DataError, "must have the column 'c'"),
        ({"on_error": "ignore"}, ConfigError, "`on_error` must be one of raise, skip, quarantine, got 'ignore'"),
        ({"on_error": "quarantine"}, ConfigError, "`quarantine` must be a path where on_error='quarantine', got None"),
        ({"quarantine": "bad.ndjson"}, ConfigError, "`quarantine` must come with on_error='quarantine'"),
        (
            {"on_error": "quarantine", "quarantine": "no/such/file"},
            DataError,
            "`quarantine` must be a file that can be",
        ),
        ({"prefetch": -1}, ConfigError, "`prefetch` must be a whole number of at least 0, got -1"),
        ({"format": "csv"}, ConfigError, "`format` must come with a path or standard input, got 'csv'"),
    ],
)
def test_wrong_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        next(sgais.stream(DATA, **options))


def test_seek_takes_whole_numbers():
    with pytest.raises(ConfigError, match="`position` must be a whole number of at least 0, got -1"):
        sgais.stream(DATA).seek(-1)


def test_a_stream_can_go_back_and_take_any_number_of_rows():
    rows = sgais.stream(DATA, 2)
    assert rows.take(1)["a"].tolist() == [1]
    assert rows.take(5)["a"].tolist() == [2]
    assert rows.take(5) is None
    assert rows.seek(0).take(2)["a"].tolist() == [1, 2]


def test_after_an_error_the_stream_reads_again_from_its_position(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y\n1\n2\nword\n4\n")
    rows = sgais.stream(path, 2)
    next(rows)
    for _ in range(2):
        with pytest.raises(DataError, match="row 2"):
            next(rows)
    path.write_text("y\n1\n2\n3\n4\n")
    assert next(rows)["y"].tolist() == [3, 4]


def test_quarantine_is_json_whatever_the_row_holds(tmp_path):
    file = tmp_path / "bad.ndjson"
    source = [{"x": [1.0, 2.0], "y": 1.0}, {"x": np.array([np.inf, 2.0]), "y": object()}, {"x": [1.0, 2.0], "y": 2.0}]
    rows = sgais.stream(source, on_error="quarantine", quarantine=file)
    assert len(next(rows)["y"]) == 2
    entry = json.loads(file.read_text(), parse_constant=pytest.fail)
    assert (entry["row"], entry["column"]) == (1, "x")
    assert entry["values"]["x"] == ["inf", 2.0]


def test_where_pieces_end_does_not_show(monkeypatch):
    data = np.random.default_rng(0).normal(size=1_000)
    data[::7] = np.nan
    whole = list(sgais.stream(data, 64, on_error="skip"))
    monkeypatch.setattr("sgais.streams.sources.arrays.ROWS_PER_PIECE", 13)
    for chunk, other in zip(whole, sgais.stream(data, 64, on_error="skip"), strict=True):
        np.testing.assert_array_equal(chunk["y"], other["y"])


def test_reading_ahead_is_bounded_and_overlaps():
    produced = threading.Semaphore(0)
    count = [0]

    def live():
        while True:
            count[0] += 1
            produced.release()
            yield {"y": [float(count[0])]}

    rows = sgais.stream(live(), 1, prefetch=3)
    next(rows)
    for _ in range(4):  # the thread goes on without being asked
        assert produced.acquire(timeout=10)
    assert not produced.acquire(timeout=0.5) or count[0] <= 6
    rows.close()


def test_importing_the_library_loads_no_reader_of_files():
    readers = ["polars", "pyarrow.parquet", "pyarrow.csv"]
    code = f"import sys, sgais; print([name for name in {readers} if name in sys.modules])"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert finished.stdout == "[]\n", finished.stderr


READING_AT_THE_END = """
import sys, time
import numpy as np
import sgais

def slow():
    try:
        while True:
            time.sleep(0.01)
            yield {"y": np.zeros(1)}
    finally:
        print("closed", flush=True)

rows = iter(sgais.stream(slow(), 1))
next(rows)
sys.stdout.flush()
"""


def test_a_thread_that_reads_ahead_has_ended_when_python_does():
    """Cut off in the midst of compiled code, it would end the process with an abort."""
    ended = subprocess.run([sys.executable, "-c", READING_AT_THE_END], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "closed\n", "")
