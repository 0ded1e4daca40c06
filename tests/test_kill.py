"""A process that is killed again and again, and resumed each time, ends with the bits of one that was not."""

import json
import subprocess
import sys
import time
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from sgais import simulate

# Reads a file, with one bad row in it, from wherever the last life of the process came to.
LIFE = """
import json, pathlib, sys, sgais
folder, history = pathlib.Path(sys.argv[1]), sys.argv[2]
stream = sgais.stream(
    folder / "rows.parquet", 250, x=["a", "b"], y="y", on_error="quarantine", quarantine=folder / "bad.ndjson"
)
model, saved = sgais.models.LinearRegression(dim=2), folder / "checkpoint"
if saved.exists():
    evidence = sgais.OnlineEvidence.load(saved, model)
else:
    (folder / "history").unlink(missing_ok=True)
    kinds = {"memory": lambda: None, "disk": lambda: sgais.history.Disk(folder / "history"),
             "reservoir": lambda: sgais.history.Reservoir(5000)}
    evidence = sgais.OnlineEvidence(model, history=kinds[history]())
print(evidence.num_rows, flush=True)
last = evidence.run(stream, save_to=saved, every_chunks=3, every_seconds=None)
print(json.dumps({"rows": last.num_rows, "bad": last.num_bad_rows, "log_evidence": last.log_evidence,
                  "particles": {name: values.tolist() for name, values in evidence.particles.items()}}), flush=True)
"""


def write_rows(folder, count):
    folder.mkdir()
    data = simulate.linear_regression(count, dim=2).data
    y = data["y"].copy()
    y[count // 3] = np.nan
    pd.DataFrame({"a": data["x"][:, 0], "b": data["x"][:, 1], "y": y}).to_parquet(
        folder / "rows.parquet", row_group_size=10_000
    )
    return folder


def start(folder, history):
    return subprocess.Popen([sys.executable, "-c", LIFE, folder, history], stdout=subprocess.PIPE, text=True)


def live_on(folder, history):
    """The last life: it is let be. Rows that it started from, and what it found."""
    process = start(folder, history)
    rows_before = int(process.stdout.readline())
    result = process.stdout.read()
    assert process.wait() == 0
    process.stdout.close()
    return rows_before, json.loads(result)


def written_at(path):
    """When a file was last written to; a life that was killed may have left one behind."""
    return path.stat().st_mtime_ns if path.exists() else 0


def wait_for_a_write(path, process):
    """Until somebody begins to write, or has written, a file."""
    before = written_at(path)
    while written_at(path) in (before, 0) and process.poll() is None:
        time.sleep(0)


def killed_life(folder, history, moment):
    """Live for some checkpoints and a while, or until the next is being written. Rows at the start; was it written?"""
    process = start(folder, history)
    rows_before = int(process.stdout.readline())
    for _ in range(moment.checkpoints):
        wait_for_a_write(folder / "checkpoint", process)
    if moment.is_writing:
        wait_for_a_write(folder / "checkpoint.unfinished", process)
    else:
        time.sleep(moment.seconds)
    assert process.poll() is None, "the stream is too short for so many kills"
    process.kill()
    process.wait()
    process.stdout.close()
    return rows_before, (folder / "checkpoint.unfinished").exists()


class Moment(NamedTuple):
    """When a life ends."""

    checkpoints: int
    seconds: float
    is_writing: bool


def moments(kills):
    """At random, every other one while a checkpoint is written."""
    generator = np.random.default_rng(0)
    return [Moment(int(generator.integers(4)), generator.uniform(0, 0.3), number % 2 == 1) for number in range(kills)]


def check(tmp_path, history, rows, kills):
    _, whole = live_on(write_rows(tmp_path / "whole", rows), history)
    folder = write_rows(tmp_path / "killed", rows)
    lives = [killed_life(folder, history, moment) for moment in moments(kills)]
    rows_before, resumed = live_on(folder, history)
    starts = [start for start, _ in lives] + [rows_before]
    assert starts == sorted(starts), "no checkpoint was lost"
    assert len(set(starts)) > kills // 2, "most lives had come farther than the one before"
    assert resumed == whole
    assert resumed["rows"] == rows - 1
    assert resumed["bad"] == len((folder / "bad.ndjson").read_text().splitlines()) == 1
    return lives


def test_two_kills(tmp_path):
    check(tmp_path, "reservoir", rows=30_000, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("history", ["memory", "disk", "reservoir"])
def test_twenty_kills(tmp_path, history):
    lives = check(tmp_path, history, rows=200_000, kills=20)
    assert any(was_writing for _, was_writing in lives), "no kill came while a checkpoint was written"
