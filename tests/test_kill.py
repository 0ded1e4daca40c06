"""A process that is killed again and again, and resumed each time, ends with the bits of one that was not."""

import json
import subprocess
import sys
import time

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
print("started", flush=True)
last = evidence.run(stream, save_to=saved, every_chunks=3, every_seconds=None)
print(json.dumps({"rows": last.num_rows, "bad": last.num_bad_rows, "log_evidence": last.log_evidence,
                  "particles": evidence.particles["weights"].tolist()}), flush=True)
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
    process = start(folder, history)
    assert process.stdout.readline() == "started\n"
    result = process.stdout.read()
    assert process.wait() == 0
    process.stdout.close()
    return json.loads(result)


def wait_for_a_write(folder, process):
    while not (folder / "checkpoint.unfinished").exists() and process.poll() is None:
        pass


def killed_lives(folder, history, kills):
    """Kill at random moments, every other time in the middle of writing a checkpoint; the number of real kills."""
    generator, count = np.random.default_rng(0), 0
    for number in range(kills):
        process = start(folder, history)
        assert process.stdout.readline() == "started\n"
        if number % 2:
            time.sleep(generator.uniform(0, 0.1))
            wait_for_a_write(folder, process)
        else:
            time.sleep(generator.uniform(0, 0.3))
        count += process.poll() is None
        process.kill()
        process.wait()
        process.stdout.close()
    return count


def check(tmp_path, history, rows, kills):
    whole = live_on(write_rows(tmp_path / "whole", rows), history)
    folder = write_rows(tmp_path / "killed", rows)
    assert killed_lives(folder, history, kills) == kills, "the stream is too short for so many kills"
    resumed = live_on(folder, history)
    assert resumed == whole
    assert resumed["rows"] == rows - 1
    assert resumed["bad"] == len((folder / "bad.ndjson").read_text().splitlines()) == 1


def test_two_kills(tmp_path):
    check(tmp_path, "reservoir", rows=30_000, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("history", ["memory", "disk", "reservoir"])
def test_twenty_kills(tmp_path, history):
    check(tmp_path, history, rows=200_000, kills=20)
