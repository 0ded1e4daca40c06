"""The same bits from one process, from two, and where one is killed; against the exact evidence."""

import os
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sgais
from sgais.errors import ConfigError, DataError
from sgais.models import LinearRegression

MODEL = LinearRegression(dim=2)
COLUMNS = {"x": ["a", "b"], "y": "target"}
ROWS = 30_000


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(ROWS, 2)).astype(np.float32)
    y = (x @ [0.5, -1.0] + 0.3 + generator.normal(size=ROWS)).astype(np.float32)
    return {"x": x, "y": y}


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    """Three files of row groups of different sizes."""
    folder = tmp_path_factory.mktemp("rows")
    table = pa.table({"a": data["x"][:, 0], "b": data["x"][:, 1], "target": data["y"]})
    for number, (start, end) in enumerate([(0, 12_000), (12_000, 13_000), (13_000, ROWS)]):
        pq.write_table(table.slice(start, end - start), folder / f"{number}.parquet", row_group_size=5000)
    return folder


@pytest.fixture(scope="module")
def alone(folder):
    return run(folder, sgais.cluster.Local())


def run(folder, workers):
    shards = sgais.cluster.shards(str(folder / "*.parquet"), **COLUMNS)
    return sgais.estimate(MODEL, shards, method="laplace", seed=2, workers=workers)


def bits(result):
    particles = [values.tobytes() for values in result.particles.values()]
    return result.log_evidence, result.standard_error, result.log_weights.tobytes(), particles


def test_it_is_the_exact_evidence(alone, data):
    assert alone.num_rows == ROWS
    assert alone.status == "complete"
    assert alone.standard_error < 0.05
    # float32 costs about 1.5e-7 of log Z where rows are many.
    assert abs(alone.log_evidence - MODEL.log_evidence(data)) < 4 * alone.standard_error + 0.02


def test_shards_are_row_groups(folder):
    shards = sgais.cluster.shards(str(folder), **COLUMNS)
    assert [part.num_rows for part in shards.parts] == [5000, 5000, 2000, 1000, 5000, 5000, 5000, 2000]
    assert shards.num_rows == ROWS


def test_two_processes_give_the_same_bits_also_where_one_is_killed(folder, alone):
    pytest.importorskip("cloudpickle")
    workers = sgais.cluster.Local(processes=2)
    killed = []

    def kill():
        while not killed:
            time.sleep(0.05)
            processes = [p for pool in list(workers._pools.values()) for p in list(pool._processes or {})]
            if len(processes) == 2:
                time.sleep(2.0)
                os.kill(processes[1], signal.SIGKILL)
                killed.append(processes[1])

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        assert bits(run(folder, workers)) == bits(alone)
        killer.join()
        assert killed
        assert bits(run(folder, workers)) == bits(alone)
    finally:
        workers.close()


def test_a_shard_that_cannot_be_read_is_named(folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    shards = sgais.cluster.shards(str(tmp_path), **COLUMNS)
    content = bytearray((tmp_path / "1.parquet").read_bytes())
    content[4:400] = bytes(396)
    (tmp_path / "1.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"1\.parquet"):
        sgais.estimate(MODEL, shards, method="laplace", workers=sgais.cluster.Local())


def test_what_workers_cannot_do_is_said(folder):
    workers = sgais.cluster.Local()
    with pytest.raises(ConfigError, match="`method` must be 'laplace'"):
        sgais.estimate(MODEL, str(folder), workers=workers)
    with pytest.raises(ConfigError, match="path of Parquet files"):
        sgais.estimate(MODEL, {"x": np.zeros((3, 2)), "y": np.zeros(3)}, method="laplace", workers=workers)
    with pytest.raises(ConfigError, match="processes"):
        sgais.cluster.Local(0)
