"""A run is watched from outside: its end, its memory, its time."""

import sys
import time
from pathlib import Path

import pytest

from benchmarks.peers import process

CHILD = "import pathlib, subprocess, sys, time; begun = pathlib.Path(sys.argv[1]);"


def run(folder, code, limit=60.0, preparation=60.0):
    begun = folder / "begun"
    return process.run([sys.executable, "-c", CHILD + code, str(begun)], {}, begun, limit, preparation)


def test_a_process_that_ends_in_time(tmp_path):
    ended = run(tmp_path, "block = bytearray(200 * 2**20); begun.touch(); time.sleep(0.5); print('said')")
    assert (ended.code, ended.in_time, ended.errors) == (0, True, "said\n")
    assert 200 < ended.peak_megabytes < 300


def test_a_process_that_fails(tmp_path):
    ended = run(tmp_path, "raise SystemExit('no such luck')")
    assert (ended.code, ended.in_time) == (1, True)
    assert "no such luck" in ended.errors


@pytest.mark.parametrize(("code", "limits"), [("begun.touch();", (0.5, 60.0)), ("", (60.0, 0.5))])
def test_a_process_that_takes_too_long_is_killed_with_all_that_it_started(tmp_path, code, limits):
    grandchild = (
        "child = subprocess.Popen(['sleep', '60']); pathlib.Path(sys.argv[1] + '.pid').write_text(str(child.pid));"
    )
    ended = run(tmp_path, grandchild + code + "time.sleep(60)", *limits)
    assert (ended.code, ended.in_time) == (-9, False)
    assert 0.5 <= ended.seconds < 30.0
    pid = int((tmp_path / "begun.pid").read_text())
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and is_running(pid):
        time.sleep(0.05)
    assert not is_running(pid)


def is_running(pid):
    """Not gone, nor dead and waiting to be noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_has_one_core(tmp_path):
    ended = run(tmp_path, "import os; print(len(os.sched_getaffinity(0)), os.environ['OMP_NUM_THREADS'])")
    assert ended.errors == "1 1\n"
