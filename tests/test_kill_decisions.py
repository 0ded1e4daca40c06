"""Decisions, weights and change points of processes that are killed again and again end with the bits of those that
were not."""

import json
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from test_kill import wait_for_a_write

ROWS, CHUNK = 3_000, 50
COLUMNS = ("-d", "rows.csv", "-c", "x=a,b", "-c", "y=target", "--chunk-size", CHUNK)
TWO = ("one=linear-regression:features=0", "both=linear-regression")
SAVED = ("--save", "out", "--checkpoint-seconds", 0, "--output", "json")

# There is no command for a lone e-process.
E_PROCESS = """
import json, pathlib, sgais
from sgais.models import LinearRegression
models, saved = (LinearRegression(dim=2), LinearRegression(dim=2, features=(0,))), pathlib.Path("out/checkpoint")
saved.parent.mkdir(exist_ok=True)
process = sgais.decisions.EProcess.load(saved, *models) if saved.exists() else sgais.decisions.EProcess(*models)
stream = sgais.stream("rows.csv", 50, x=["a", "b"], y="target")
process.run(stream, save_to=saved, every_seconds=0.0)
print(json.dumps([process.decide()._asdict(), [value._asdict() for value in process.records]]))
"""


class Kind(NamedTuple):
    """How a life begins, and how it is resumed."""

    begin: tuple
    resume: tuple


def sgais(*arguments):
    return "-m", "sgais", *map(str, arguments)


RESUME = sgais("resume", "out", "--output", "json")
KINDS = {
    "change points": Kind(sgais("changepoints", *TWO, *COLUMNS, *SAVED), RESUME),
    "null": Kind(sgais("compare", *TWO, *COLUMNS, "--null", "one", *SAVED), RESUME),
    "stacking": Kind(sgais("compare", *TWO, *COLUMNS, "--combine", "stacking", *SAVED), RESUME),
    "forgetting": Kind(sgais("compare", *TWO, *COLUMNS, "--combine", "forgetting", *SAVED), RESUME),
    "e-process": Kind(("-c", E_PROCESS), ("-c", E_PROCESS)),
}


def write_rows(folder):
    """Weights change twice; the second feature hardly matters in between."""
    folder.mkdir()
    generator = np.random.default_rng(0)
    x = generator.normal(size=(ROWS, 2))
    weights = np.array([[1.0, 0.3], [-0.5, 0.02], [1.0, 0.3]])[np.arange(ROWS) * 3 // ROWS]
    target = (x * weights).sum(axis=1) + generator.normal(size=ROWS)
    pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "target": target}).to_csv(folder / "rows.csv", index=False)
    return folder


def start(arguments, folder):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, *arguments], cwd=folder, text=True, **pipes)


def live_on(arguments, folder):
    """A life that is let be: its result, and the curve in its folder."""
    out, errors = (process := start(arguments, folder)).communicate()
    assert process.returncode == 0, errors
    table = folder / "out" / "records.csv"
    curve = pd.read_csv(table).drop(columns="seconds", errors="ignore").to_csv() if table.exists() else ""
    return json.loads(out), curve


def killed_life(arguments, folder, checkpoints, seconds):
    """Live for some checkpoints and a while."""
    process = start(arguments, folder)
    (folder / "out").mkdir(exist_ok=True)
    for _ in range(checkpoints):
        wait_for_a_write(folder / "out" / "checkpoint", process)
    time.sleep(seconds)
    assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()


def check(tmp_path, kind, kills):
    whole = live_on(kind.begin, write_rows(tmp_path / "whole"))
    folder, generator = write_rows(tmp_path / "killed"), np.random.default_rng(1)
    for number in range(kills):
        arguments = kind.resume if number else kind.begin
        killed_life(arguments, folder, int(generator.integers(1, 6)), generator.uniform(0.0, 0.1))
    assert live_on(kind.resume, folder) == whole


@pytest.mark.parametrize("name", ["change points"])
def test_two_kills(tmp_path, name):
    check(tmp_path, KINDS[name], kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_eight_kills(tmp_path, name):
    check(tmp_path, KINDS[name], kills=8)
