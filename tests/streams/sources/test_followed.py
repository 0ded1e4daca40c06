"""Files that another process writes while they are read."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from sgais import stream
from sgais.errors import ConfigError, DataError

WRITER = """
import sys, time
path, count = sys.argv[1], int(sys.argv[2])
with open(path, "a") as file:
    for number in range(count):
        text = f"{number},{number / 2}\\n"
        for part in (text[:2], text[2:]):  # a reader may find half a line
            file.write(part)
            file.flush()
            time.sleep(0.001)
"""


@pytest.mark.parametrize("prefetch", [0, 2])
def test_rows_are_delivered_as_they_are_written(tmp_path, prefetch):
    path = tmp_path / "d.csv"
    path.write_text("a,y\n")
    with subprocess.Popen([sys.executable, "-c", WRITER, path, "250"]) as writer:
        chunks = list(stream(path, 100, follow_seconds=2.0, prefetch=prefetch))
        assert writer.wait() == 0
    assert [len(chunk["y"]) for chunk in chunks] == [100, 100, 50]
    np.testing.assert_array_equal(np.concatenate([chunk["a"] for chunk in chunks]), np.arange(250))


def test_a_chunk_does_not_wait_for_the_end(tmp_path):
    path = tmp_path / "d.ndjson"
    path.write_text('{"y": 1}\n' * 10)
    rows = stream(path, 10, follow_seconds=600.0)
    assert len(next(rows)["y"]) == 10
    rows.close()


def test_a_line_counts_once_its_end_is_written(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y\n1\n2\n34")
    rows = stream(path, 10, follow_seconds=0.05)
    assert [chunk["y"].tolist() for chunk in rows] == [[1, 2]]
    with path.open("a") as file:
        file.write("5\n6\n")
    later = stream(path, 10, follow_seconds=0.05).seek(rows.position)
    assert [chunk["y"].tolist() for chunk in later] == [[345, 6]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda path: path.write_text("y\n1\n"),
            "d.csv` must only grow while it is followed, got truncated from 6 to 4",
        ),
        (lambda path: path.rename(path.with_suffix(".old")), "d.csv` must stay the same file .* got rotated"),
        (
            lambda path: (path.with_suffix(".new").write_text("y\n1\n"), path.with_suffix(".new").replace(path)),
            "rotated",
        ),
    ],
    ids=["truncated", "moved away", "replaced"],
)
@pytest.mark.parametrize("prefetch", [0, 1])
def test_a_file_that_is_no_longer_the_same_is_an_error(tmp_path, change, message, prefetch):
    path = tmp_path / "d.csv"
    path.write_text("y\n1\n2\n")
    rows = stream(path, 2, follow_seconds=30.0, prefetch=prefetch)
    assert next(rows)["y"].tolist() == [1, 2]
    change(path)
    with pytest.raises(DataError, match=message):
        next(rows)


def test_nobody_goes_on_waiting_for_a_stream_that_is_gone(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("y\n1\n2\n")
    before = threading.active_count()
    rows = stream(path, 2, follow_seconds=600.0)
    next(rows)
    del rows
    deadline = time.monotonic() + 10
    while threading.active_count() > before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_only_text_files_can_be_followed(tmp_path):
    (tmp_path / "d.csv").write_text("y\n")
    for source in ({"y": [1.0]}, "-", tmp_path / "d.parquet", tmp_path / "d.csv.gz"):
        with pytest.raises(ConfigError, match="`follow_seconds` must come with"):
            stream(source, follow_seconds=1.0, format=None if source != "-" else "csv")
    with pytest.raises(ConfigError, match="`follow_seconds` must be a number of seconds, at least 0, got -1"):
        stream(tmp_path / "d.csv", follow_seconds=-1)
    with pytest.raises(DataError, match="must have at least one row"):
        list(stream(tmp_path / "d.csv", follow_seconds=0))
    with pytest.raises(DataError, match="missing.csv"):
        stream(tmp_path / "missing.csv", follow_seconds=1)
