import numpy as np
import pytest

from sgais import Field, stream
from sgais.errors import DataError


def write(tmp_path, content):
    path = tmp_path / "d.ndjson"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1, "y": 2}\n{"a": 1, "y": "word"}\n', r"d.ndjson` row 1 \(line 2\) column 'y' must be a number"),
        ('{"a": 1, "y": 2}\n\n{"a": 1}\n', r"row 1 \(line 3\) column 'y' is missing"),
        ('{"a": 1, "y": 2}\n{"a": 1, "y": null}\n', r"row 1 \(line 2\) column 'y' is missing"),
        ('{"a": 1, "y": 2}\n{"a": 1, "y": NaN}\n', r"row 1 \(line 2\) column 'y' is missing"),
        ('{"a": 1, "y": 2}\n{"a": 1, "y": Infinity}\n', r"row 1 \(line 2\) column 'y' is infinite"),
        ('{"a": 1, "y": 2}\n{"a": 1, "y": true}\n', r"row 1 \(line 2\) column 'y' must be a number, got True"),
        ('{"a": 1, "y": 2}\n{"a": 1, "y": [2]}\n', r"column 'y' must be a number, got \[2\]"),
        ('{"a": 1, "y": 2}\n{"a": 1, "y"', r"row 1 \(line 2\) must be JSON, got "),
        ('{"a": 1, "y": 2}\n[1, 2]\n', r"row 1 \(line 2\) must be a JSON object"),
        (b'{"a": 1, "y": 2}\n{"a": 1, "y": "\xff"}\n', r"row 1 \(line 2\) column 'y' holds bytes that are not UTF-8"),
    ],
)
def test_a_bad_row_is_named_by_source_row_line_and_column(tmp_path, content, message):
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=message):
        list(stream(path))
    rows = stream(path, on_error="skip")
    assert [len(chunk["y"]) for chunk in rows] == [1]
    assert (rows.num_bad_rows, rows.position) == (1, 2)


def test_lists_of_numbers_are_vectors_of_one_length(tmp_path):
    lines = '{"x": [1, 2], "y": 0}\n{"x": [3, 4], "y": 1}\n{"x": [5], "y": 1}\n{"x": [6, null], "y": 1}\n{"y": 1}\n'
    rows = stream(write(tmp_path, lines), on_error="skip")
    np.testing.assert_array_equal(next(rows)["x"], [[1, 2], [3, 4]])
    assert rows.num_bad_rows == 3
    with pytest.raises(DataError, match=r"row 0 .*column 'x' must be 3 numbers, got \[1, 2\]"):
        next(stream(write(tmp_path, lines), fields={"x": Field((3,)), "y": Field()}))


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(DataError, match="d.ndjson` must have at least one row, got none"):
        list(stream(write(tmp_path, "")))


def test_the_first_row_names_the_columns_also_for_a_stream_that_starts_later(tmp_path):
    path = write(tmp_path, '{"y": 1}\n{"y": 2, "more": 3}\n{"y": 4, "more": 5}\n')
    assert [list(chunk) for chunk in stream(path, 1).seek(1)] == [["y"], ["y"]]
