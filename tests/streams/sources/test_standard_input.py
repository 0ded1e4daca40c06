"""Real pipes into a real process."""

import subprocess
import sys

import pytest

from sgais import stream
from sgais.errors import ConfigError

READER = """
import sys
from sgais.streams import stream
rows = stream("-", 2, format=sys.argv[1]).seek(int(sys.argv[2]))
for chunk in rows:
    print(chunk["y"].tolist(), rows.position, flush=True)
    if sys.argv[3:] == ["once"]:
        break
"""


def run(text, *arguments):
    return subprocess.run([sys.executable, "-c", READER, *arguments], input=text, capture_output=True, text=True)


def test_rows_come_through_a_pipe():
    finished = run("y\n1\n2\n3\n", "csv", "0")
    assert finished.stdout.splitlines() == ["[1.0, 2.0] 2", "[3.0] 3"], finished.stderr
    finished = run('{"y": 1}\n{"y": 2}\n{"y": 3}', "ndjson", "2")
    assert finished.stdout.splitlines() == ["[3.0] 3"], finished.stderr


def test_a_bad_row_of_a_pipe_is_named():
    finished = run("y\n1\n2\nword\n", "csv", "0")
    assert finished.stdout.splitlines() == ["[1.0, 2.0] 2"]
    assert "`standard input` row 2 (line 4) column 'y' must be a number, got 'word'" in finished.stderr
    assert (
        "`position` must be at most the number of rows of `standard input`, got 5 of 1"
        in run("y\n1\n", "csv", "5").stderr
    )


def test_a_chunk_is_there_when_its_rows_are_and_leaving_early_is_clean():
    """The writer continues holding the pipe open: neither the chunk nor the end of the reader may wait for it."""
    command = [sys.executable, "-c", READER, "csv", "0", "once"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        reader.stdin.write(b"y\n1\n2\n3")
        reader.stdin.flush()
        assert reader.stdout.readline() == b"[1.0, 2.0] 2\n"
        assert reader.wait(timeout=60) == 0
        assert reader.stderr.read() == b""


def test_standard_input_needs_a_format():
    with pytest.raises(ConfigError, match="`format` must be 'csv' or 'ndjson' for standard input, got None"):
        stream("-")
