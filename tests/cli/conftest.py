"""The real command in a real process, and small files for it."""

import multiprocessing
import subprocess
import sys
import time
from typing import NamedTuple

import pandas as pd
import pytest
from process import run_command

import sgais


class Said(NamedTuple):
    """What a command wrote."""

    stdout: str
    stderr: str


@pytest.fixture
def command(tmp_path):
    """Runs `sgais` in a process and a folder of its own; checks the exit code."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sgais.cli"])  # importing it for each command would take most of the time

    def run(*arguments, code=0, text="", environment=None, seconds=300):
        files = {name: tmp_path / f".{name}" for name in ("stdin", "stdout", "stderr")}
        files["stdin"].write_text(text)
        process = context.Process(target=run_command, args=(list(map(str, arguments)), tmp_path, files, environment))
        process.start()
        process.join(timeout=seconds)
        result = Said(files["stdout"].read_text(), files["stderr"].read_text())
        assert process.exitcode == code, f"{process.exitcode}: {result}"
        return result

    return run


@pytest.fixture
def refused(command):
    """Runs a command that must fail with one line on standard error."""

    def run(*arguments, code, says=(), **options):
        result = command(*arguments, code=code, **options)
        lines = result.stderr.strip().splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("sgais: ")
        for words in says:
            assert words in lines[0], lines[0]
        assert "Traceback" not in result.stderr

    return run


@pytest.fixture
def interrupted(tmp_path):
    """Starts `sgais`, sends a signal so many seconds after a file of its run is there, and returns what it said."""

    def run(*arguments, folder, number, seconds, after="run.json"):
        process = subprocess.Popen(
            [sys.executable, "-m", "sgais", *map(str, arguments), "--save", folder],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not (tmp_path / folder / after).exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        time.sleep(seconds)
        process.send_signal(number)
        out, errors = process.communicate(timeout=120)
        assert "Traceback" not in errors, errors
        return process.returncode, out, errors

    return run


@pytest.fixture(scope="session")
def data():
    """Rows whose evidence is known exactly."""
    return sgais.simulate.linear_regression(600, dim=2).data


@pytest.fixture
def frame(data):
    return pd.DataFrame({"a": data["x"][:, 0], "b": data["x"][:, 1], "target": data["y"]})


@pytest.fixture
def table(frame, tmp_path):
    """The same rows in a CSV file."""
    frame.to_csv(tmp_path / "table.csv", index=False)
    return "table.csv"
