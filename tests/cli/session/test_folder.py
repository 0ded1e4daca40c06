"""The folder of a run: one process at a time, settings that survive a torn write, and what a full disk costs."""

import json
import subprocess
import sys

import pytest

COLUMNS = ("-c", "x=a,b", "-c", "y=target")
RUN = ("linear-regression", "table.csv", *COLUMNS, "--paper", "--chunk-size", 200)


def test_two_runs_in_one_folder(refused, table, tmp_path):
    """The second is refused while the first waits for more rows, and so is one that would continue with it."""
    first = subprocess.Popen(
        [sys.executable, "-m", "sgais", "run", *map(str, RUN), "--follow", "300", "--save", "out"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (tmp_path / "out" / "run.json").exists():
            assert first.poll() is None
        before = (tmp_path / "out" / "run.json").read_text()
        refused("resume", "out", code=2, says=["no other run or service uses"])
        (tmp_path / "out" / "run.json").rename(tmp_path / "elsewhere")
        refused("run", *RUN, "--save", "out", code=2, says=["no other run or service uses"])
        (tmp_path / "elsewhere").rename(tmp_path / "out" / "run.json")
        assert (tmp_path / "out" / "run.json").read_text() == before
    finally:
        first.kill()
        first.wait()


@pytest.mark.parametrize("torn", ["", '{"models": {"linear', "[]", "{}"])
def test_settings_that_were_torn_are_read_from_their_copy(command, table, tmp_path, torn):
    command("run", *RUN, "--save", "out")
    (tmp_path / "out" / "run.json").write_text(torn)
    result = command("resume", "out")
    assert "run.json is damaged. Using its copy" in result.stderr
    assert "600 rows." in result.stdout


@pytest.mark.parametrize("file", ["evidence.png", "report.html", "checkpoint.unfinished"])
def test_a_result_is_printed_though_not_all_can_be_written(command, table, tmp_path, file):
    """A folder in the place of a file cannot be written to, whoever tries."""
    (tmp_path / "out" / file / "in-the-way").mkdir(parents=True)
    result = command("run", *RUN, "--save", "out", "--output", "json", code=1)
    assert json.loads(result.stdout)["num_rows"] == 600
    assert "Not all of it could be saved" in result.stderr
    assert "Traceback" not in result.stderr
    (tmp_path / "out" / file / "in-the-way").rmdir()
    (tmp_path / "out" / file).rmdir()
    command("resume", "out")
    assert (tmp_path / "out" / "report.html").exists()


def test_a_full_disk(command, table, small_disk, ballast):
    filled = ballast()
    filled.write_bytes(b"")
    command("run", *RUN, "--save", small_disk / "small")
    ballast()
    result = command("resume", small_disk / "small", "--output", "json", code=1)
    assert json.loads(result.stdout)["num_rows"] == 600
    assert "No space left on device" in result.stderr
