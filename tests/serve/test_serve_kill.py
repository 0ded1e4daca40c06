"""SIGKILL at any moment: every acknowledged row is there afterwards, and none twice."""

import random
import time

import numpy as np
import pytest
from load import Load
from served import COLUMNS, MODELS

import sgais
from sgais.serve.log.reader import LogReader
from sgais.serve.log.row_log import RowLog

QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50", "--checkpoint-seconds", "0.3")


def offline(data, count):
    models = {"both": sgais.models.LinearRegression(dim=2), "one": sgais.models.LinearRegression(dim=2, features=(0,))}
    config = sgais.Config.paper(num_particles=16)
    comparison = sgais.Comparison(models, config, history=sgais.history.Reservoir(100_000))
    for chunk in sgais.stream({name: values[:count] for name, values in data.items()}, chunk_size=50):
        comparison.update(chunk)
    return {name: comparison[name].log_evidence for name in models}


def wait_for_a_moment(folder, kind, patience=2.0):
    """Until a checkpoint is being written, or a file of the log has just been dropped; or for a while."""
    before, end = set((folder / "log").glob("*.log")), time.monotonic() + patience
    while time.monotonic() < end:
        if kind == "checkpoint" and (folder / "checkpoint.unfinished").exists():
            return True
        if kind == "compaction" and before - set((folder / "log").glob("*.log")):
            return True
        time.sleep(0)
    return False


def kill_under_load(start, data, folder, kills, num_batches, seconds, pause):
    service = start(*MODELS, *COLUMNS, *QUICK)
    load = Load(data, 20, num_batches, pause).start(service.port)
    generator, met = random.Random(0), []
    for number in range(kills):
        time.sleep(generator.uniform(0.0, seconds))
        kind = ("any", "checkpoint", "compaction")[number % 3]
        if kind != "any" and wait_for_a_moment(folder, kind):
            met.append(kind)
        acknowledged = load.acknowledged
        service.kill()
        service = start()
        assert service.get("/state").json["rows_accepted"] >= acknowledged
        load.port = service.port
    load.join()
    total = 20 * num_batches
    state = service.wait_for_rows(total)
    assert (state["num_rows"], state["rows_accepted"]) == (total, total)
    assert {model["name"]: model["log_evidence"] for model in state["models"]} == offline(data, total)
    return met


@pytest.mark.slow
def test_two_kills(start, data, tmp_path):
    kill_under_load(start, data, tmp_path / "kept", kills=2, num_batches=100, seconds=2.0, pause=0.01)


@pytest.mark.slow
def test_twenty_kills_also_inside_checkpoints_and_compactions(start, data, tmp_path):
    met = kill_under_load(start, data, tmp_path / "kept", kills=20, num_batches=1000, seconds=3.0, pause=0.05)
    assert {"checkpoint", "compaction"} <= set(met)


def test_the_log_holds_what_the_checkpoint_does_not(start, data, tmp_path):
    """Rows of less than a chunk wait in the log, in order, through a stop and a kill."""
    service = start(*MODELS, *COLUMNS, *QUICK)
    load = Load(data, 7, 30).start(service.port)
    load.join()
    service.wait_for_rows(200)
    assert service.stop() == 143
    service = start()
    state = service.get("/state").json
    assert (state["num_rows"], state["rows_waiting"]) == (200, 10)
    service.kill()
    log = RowLog(tmp_path / "kept" / "log", 200)
    reader = LogReader(log, 200)
    waiting = reader.take(10)
    reader.close()
    np.testing.assert_array_equal(waiting["y"], data["y"][200:210].astype(np.float32))
