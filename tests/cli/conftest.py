"""The real command in a real process, and small files for it."""

import os
import subprocess
import sys
import time

import pandas as pd
import pytest

import sgais


@pytest.fixture
def command(tmp_path):
    """Runs `sgais` in a folder of its own; checks the exit code."""

    def run(*arguments, code=0, text=None, environment=None):
        result = subprocess.run(
            [sys.executable, "-m", "sgais", *map(str, arguments)],
            cwd=tmp_path,
            input=text,
            capture_output=True,
            text=True,
            timeout=300,
            env=os.environ | (environment or {}),
        )
        assert result.returncode == code, f"{result.returncode}: {result.stdout}\n{result.stderr}"
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
    """Starts `sgais`, sends a signal so many seconds after its run has begun, and returns what it said."""

    def run(*arguments, folder, number, seconds):
        process = subprocess.Popen(
            [sys.executable, "-m", "sgais", *map(str, arguments), "--save", folder],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not (tmp_path / folder / "run.json").exists():
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
