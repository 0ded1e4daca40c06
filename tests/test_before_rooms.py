"""Checkpoints and folders of the version before modules were put in rooms still load and resume."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import sgais

KEPT = Path(__file__).parent / "fixtures" / "before_rooms"
sys.path[:0] = [str(KEPT), str(Path(__file__).parent / "serve")]

import make  # noqa: E402
from served import Served, as_rows  # noqa: E402

SAVED_WITH = json.loads((KEPT / "log_evidences.json").read_text())
TOLERANCE = 1.0  # nats of log Z after many more rows: these few particles are good for a tenth


def truth(data, dim=2, features=None):
    return sgais.models.LinearRegression(dim=dim, features=features).log_evidence(data)


@pytest.mark.parametrize("name", list(make.CHECKPOINTS))
def test_an_evidence_loads_and_goes_on(name):
    num_rows, dim, _ = make.CHECKPOINTS[name]
    evidence = sgais.OnlineEvidence.load(KEPT / name, make.model(dim))
    assert (evidence.num_rows, evidence.log_evidence) == (num_rows, SAVED_WITH[name])
    assert len(evidence.records) == num_rows // make.CHUNK_SIZE
    rows = {column: values[: num_rows + 300] for column, values in make.data(dim).items()}
    evidence.run(sgais.stream(rows, make.CHUNK_SIZE))
    assert evidence.num_rows == num_rows + 300
    known = truth(make.data(dim) | rows, dim) - truth({c: v[:num_rows] for c, v in rows.items()}, dim)
    assert evidence.log_evidence - SAVED_WITH[name] == pytest.approx(known, abs=TOLERANCE)


def test_a_comparison_loads_and_goes_on():
    models = {"both": make.model(), "one": sgais.models.LinearRegression(dim=2, features=(0,))}
    comparison = sgais.Comparison.load(KEPT / "comparison", models)
    assert comparison["both"].log_evidence == SAVED_WITH["comparison"]
    assert sorted(comparison.detectors) == ["both", "one"]
    rows = {column: values[:600] for column, values in make.data().items()}
    comparison.run(sgais.stream(rows, make.CHUNK_SIZE))
    assert comparison["both"].log_evidence == pytest.approx(truth(rows), abs=TOLERANCE)


@pytest.mark.parametrize(("name", "first"), [("interrupted-run", 100), ("finished-run", make.TABLE_ROWS)])
def test_a_run_resumes(name, first, tmp_path):
    folder = copied(name, tmp_path)
    assert pd.read_csv(folder / "records.csv").num_rows.max() == first
    make.write_table(tmp_path / "table.csv")
    sgais_command("resume", folder)
    records = pd.read_csv(folder / "records.csv")
    assert records.num_rows.max() == make.TABLE_ROWS
    rows = {column: values[: make.TABLE_ROWS] for column, values in make.data().items()}
    log_evidence = records[records.model == "both"].log_evidence.iloc[-1]
    assert log_evidence == pytest.approx(truth(rows), abs=TOLERANCE)
    assert (folder / "report.html").exists()


def test_a_run_is_drawn_again(tmp_path):
    folder = copied("finished-run", tmp_path)
    sgais_command("plot", folder)
    assert (folder / "evidence.png").exists()


def test_a_service_goes_on(tmp_path):
    folder = copied("service-folder", tmp_path)
    service = Served(tmp_path / "service", "--save", folder)
    try:
        state = service.get("/state").json
        assert (state["num_rows"], state["rows_waiting"]) == (250, 20)
        first = as_rows(make.data(), 0, 270)
        assert service.post(first, key="the-first-batch").status == 200, "its key is known: nothing is counted twice"
        service.post(as_rows(make.data(), 270, 300))
        assert service.wait_for_rows(300)["rows_accepted"] == 300
        assert service.stop(signal.SIGTERM) == 143
    finally:
        service.kill()


def copied(name, target):
    """The folder of a run, as if it had been made where it is now."""
    folder = target / name
    shutil.copytree(KEPT / name, folder)
    settings = json.loads((folder / "run.json").read_text()) | {"working_directory": str(target)}
    (folder / "run.json").write_text(json.dumps(settings))
    return folder


def sgais_command(*arguments):
    command = [sys.executable, "-m", "sgais", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True, timeout=300, env=os.environ)
