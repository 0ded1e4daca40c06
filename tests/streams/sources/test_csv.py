import gzip
import json

import numpy as np
import pytest

from sgais import stream
from sgais.errors import ConfigError, DataError


def write(tmp_path, content, name="d.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,y\n1,2\n3,word\n", r"d.csv` row 1 \(line 3\) column 'y' must be a number, got 'word'"),
        ("a,y\n1,2\n\n3,word\n", r"row 1 \(line 4\) column 'y'"),
        ("a,y\n1,2\n3,\n", r"row 1 \(line 3\) column 'y' is missing"),
        ("a,y\n1,2\n3,nan\n", r"row 1 \(line 3\) column 'y' is missing"),
        ("a,y\n1,2\n3,-inf\n", r"row 1 \(line 3\) column 'y' is infinite, got -inf"),
        ("a,y\n1,2\n3,true\n", r"row 1 \(line 3\) column 'y' must be a number, got 'true'"),
        ("a,y\n1,2\n3,4,5\n", r"row 1 \(line 3\) must have 2 cells as the first line has, got 3"),
        ("a,y\n1,2\n3", r"row 1 \(line 3\) must have 2 cells as the first line has, got 1"),
        ('a,y\n1,2\n3,"4\n5', r"row 1 \(line 3\) ends inside a quoted cell"),
        (b"a,y\n1,2\n3,\xff4\n", r"row 1 \(line 3\) column 'y' holds bytes that are not UTF-8"),
        ('a,y\n"1\n",2\nx,4\n', r"row 1 \(line 4\) column 'a' must be a number, got 'x'"),
    ],
)
def test_a_bad_row_is_named_by_source_row_line_and_column(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=message):
        list(stream(path))
    rows = stream(path, on_error="skip")
    assert [len(chunk["y"]) for chunk in rows] == [1]
    assert (rows.num_bad_rows, rows.position) == (1, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "`.*d.csv` must start with a line of column names, got an empty file"),
        ("a,y\n", "`.*d.csv` must have at least one row, got none"),
        ("0.5,1.5\n1,2\n", "must start with a line of column names, got numbers"),
        ("a,a\n1,2\n", "must name each column once, got 'a' more than once"),
        (b"a,h\xf6he\n1,2\n", "`.*d.csv` must name its columns in UTF-8, got other bytes: .* Convert the file"),
        ("a,y\n1,2\n".encode("utf-16"), "must name its columns in UTF-8"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        list(stream(write(tmp_path, content), on_error="skip"))


@pytest.mark.parametrize("name", ["missing.csv", "missing.ndjson", "missing.csv.gz", "missing.parquet", "missing"])
def test_a_path_that_cannot_be_read_is_refused_at_the_call(tmp_path, name):
    with pytest.raises(DataError, match=f"got .*{name}"):
        stream(tmp_path / name)


def test_a_directory_is_no_csv_file(tmp_path):
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(DataError, match="`source` must be a file, got .*d.csv"):
        stream(tmp_path / "d.csv")


def test_a_compressed_file_that_ends_too_early(tmp_path):
    whole = gzip.compress(b"y\n" + b"".join(b"%r\n" % value for value in np.random.default_rng(0).normal(size=9_000)))
    with pytest.raises(DataError, match="must be a whole gzip file, got one that ends too early"):
        list(stream(write(tmp_path, whole[:-1000], "d.csv.gz")))
    with pytest.raises(DataError, match="must be a gzip file, got something else"):
        stream(write(tmp_path, b"y\n1\n", "e.csv.gz"))


def test_quotes_byte_order_marks_blank_lines_and_spaces(tmp_path):
    path = write(tmp_path, '\ufeff"a b",y\r\n"1", 2\r\n\r\n3,"4"\r\n')
    chunk = next(stream(path, x=["a b"]))
    np.testing.assert_array_equal(chunk["x"], [[1], [3]])
    np.testing.assert_array_equal(next(stream(path))["y"], [2, 4])


def test_a_quoted_cell_may_run_over_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("sgais.streams.sources.files.BLOCK_BYTES", 7)
    path = write(tmp_path, 'note,y\n"one\ntwo\nthree four five",1\n"",2\n"a ""b""\n",bad\n')
    rows = stream(path, 2, y="y")
    np.testing.assert_array_equal(next(rows)["y"], [1, 2])
    with pytest.raises(DataError, match=r"row 2 \(line 7\) column 'y'"):
        next(rows)


def test_an_open_quote_does_not_swallow_a_long_file(tmp_path):
    path = write(tmp_path, 'y\n1\n"2\n' + "3\n" * 200_000)
    with pytest.raises(DataError, match="must be CSV, got field larger than field limit .* Is a quote left open"):
        list(stream(path))


def test_the_format_may_be_said_where_the_name_does_not(tmp_path):
    path = write(tmp_path, "y\n1\n2\n", "numbers.txt")
    assert list(next(stream(path, format="csv"))["y"]) == [1, 2]
    with pytest.raises(ConfigError, match="`format` must be given where the name of a file does not end on .csv"):
        stream(path)
    with pytest.raises(ConfigError, match="`format` must be one of csv, ndjson, parquet, got 'excel'"):
        stream(path, format="excel")


HARD = [
    "1.5,2\n",
    " 3 ,+4e-3\n",
    "5,nan\n",
    "-inf,6\n",
    "7,\n",
    "8,1_0\n",
    "9,true\n",
    "10,11,12\n",
    "13\n",
    "\n",
    '"14","15"\n',
    '"16\n",17\n',
    "18,19\r\n",
    ".5,1e400\n",
    "0x1,2\n",
    "20,\u0661\n",
    "0.1,123456789.123456789\n",
]


@pytest.mark.parametrize("seed", range(5))
def test_blocks_of_plain_numbers_are_read_as_all_others(tmp_path, monkeypatch, seed):
    """Arrow reads the blocks that it can; turned off, every row, fault and line number must be the same."""
    lines = np.random.default_rng(seed).choice(["1.25,2.5\n"] * 60 + HARD, size=500)
    path = write(tmp_path, "a,y\n" + "".join(lines))
    monkeypatch.setattr("sgais.streams.sources.files.BLOCK_BYTES", 60)
    results = []
    for name in ("with", "without"):
        quarantine = tmp_path / f"{name}.ndjson"
        rows = stream(path, 7, on_error="quarantine", quarantine=quarantine)
        chunks = list(rows)
        bad = [(entry["row"], entry["column"]) for entry in map(json.loads, quarantine.read_text().splitlines())]
        results.append(([chunk["y"].tolist() for chunk in chunks], [chunk["a"].tolist() for chunk in chunks], bad))
        monkeypatch.setattr("sgais.streams.sources.csv_text.read_numbers", lambda *_: None)
    assert results[0] == results[1]
    assert len(results[0][2]) > 10


def test_line_numbers_behind_blocks_of_plain_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr("sgais.streams.sources.files.BLOCK_BYTES", 20)
    for text, place in [
        ("1.5\n" * 50 + "\n" + "2.5\n" * 50 + "nan\n", r"row 100 \(line 103\)"),
        ("1.5\n" * 5 + "\nnan\n", r"row 5 \(line 8\)"),  # the blank line and the bad row are in one block
    ]:
        with pytest.raises(DataError, match=place + " column 'y' is missing"):
            list(stream(write(tmp_path, "y\n" + text)))


def test_a_row_cut_off_at_the_end_can_be_skipped_over(tmp_path):
    path = write(tmp_path, 'y\n1\n"2\n')
    assert list(stream(path, on_error="skip").seek(2)) == []
