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
    for _ in range(4):  # the thread continues without being asked
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


@pytest.mark.parametrize("text", ["1_000", "١٢", "\uff11\uff12", "1\u00a0000", "²"])
@pytest.mark.parametrize("kind", ["csv", "ndjson"])
def test_what_only_python_reads_as_a_number_is_none(tmp_path, text, kind):
    rows = {"csv": f"y\n1\n{text}\n2\n", "ndjson": "".join(json.dumps({"y": y}) + "\n" for y in ("1", text, "2"))}
    path = tmp_path / f"rows.{kind}"
    path.write_text(rows[kind], encoding="utf-8")
    stream = sgais.stream(path, on_error="skip")
    assert next(stream)["y"].tolist() == [1.0, 2.0]
    assert stream.num_bad_rows == 1


@pytest.mark.parametrize("depth", [150, 950, 1010, 200_000])
def test_a_deeply_nested_line_is_a_bad_row(tmp_path, depth):
    path = tmp_path / "rows.ndjson"
    nested = "[" * depth + "]" * depth
    path.write_text(
        f'{{"y": 1}}\n{{"y": {nested}}}\n{{"y": 2, "other": {nested}}}\n{{"y": 3, "text": "{"[" * 200}"}}\n'
    )
    stream = sgais.stream(path, on_error="quarantine", quarantine=tmp_path / "bad", y="y")
    assert next(stream)["y"].tolist() == [1.0, 3.0]
    assert stream.num_bad_rows == 2
    with pytest.raises(DataError, match=r"row 1 \(line 2\) must be JSON that is at most 100 deep"):
        list(sgais.stream(path, chunk_size=1, y="y"))


def test_a_message_advises_only_what_is_taken(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("colour,y\nred,1\nblue,x1\n")
    with pytest.raises(DataError, match=r"got 'red'. If the column holds names, .*--categories colour=red,\.\.\.\)"):
        next(sgais.stream(path))
    chunk = next(sgais.stream(path, colour="colour", categories={"colour": ["red", "blue"]}))
    assert chunk["colour"].tolist() == [0, 1]
    path.write_text('y\n1\n""\n3\n')
    with pytest.raises(DataError, match="is missing. Correct the row, or pass over") as skippable:
        next(sgais.stream(path))
    with pytest.raises(DataError, match="Correct the row: a series has no rows that can be left out.") as series:
        next(sgais.streams.lagged(sgais.stream(path), 1))
    assert "skip" in str(skippable.value)
    assert "skip" not in str(series.value)


def test_a_hundred_thousand_columns(tmp_path):
    """In linear time: less than a minute on the slowest of machines, where comparing all with all takes hours."""
    names = [f"c{number}" for number in range(100_000)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *[",".join("1" * len(names))] * 3]) + "\n")
    assert next(sgais.stream(path, y="c99999"))["y"].tolist() == [1.0, 1.0, 1.0]
    assert next(sgais.stream(path, x=names))["x"].shape == (3, 100_000)
    with pytest.raises(DataError, match=r"must have the column 'target'.*\(100,000 in all\)") as error:
        sgais.stream(path, y="target")
    assert len(str(error.value)) < 3000
