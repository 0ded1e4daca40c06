"""Runs that are shown on the page: while they continue (`--live`), and again when they are over (`--replay`)."""

import json
import signal
import subprocess
import sys

import pandas as pd
import pytest
from served import COLUMNS, MODELS, Served


def test_a_local_run_is_followed_over_http(live_run):
    state = live_run.wait_for_rows(2000)
    assert state["mode"] == "local"
    assert live_run.post([{"a": 1, "b": 2, "target": 3}]).status == 404, "its rows come from elsewhere"
    records = live_run.get("/records").json
    assert records["num_rows"][-1] == 2000
    assert records["models"]["both"]["standard_error"][-1] > 0
    assert live_run.stop(signal.SIGINT) == 0


def test_a_saved_run_is_shown_as_it_was(saved_run, tmp_path):
    service = Served(tmp_path / "replay", "--replay", saved_run)
    try:
        state, records = service.get("/state").json, service.get("/records?points=2000").json
        table = pd.read_csv(saved_run / "records.csv")
        both = table[table.model == "both"]
        assert state["mode"] == "replay"
        assert len(state["alarms"]) == len(pd.read_csv(saved_run / "alarms.csv"))
        assert records["num_rows"] == both.num_rows.to_list()
        assert records["models"]["both"]["log_evidence"] == both.log_evidence.to_list()
        assert service.post([{"a": 1}]).status == 404
        assert "/observations" not in service.get("/openapi.json").json["paths"]
    finally:
        assert service.stop() == 143


def test_a_service_that_was_stopped_can_be_replayed(start, data, tmp_path):
    from served import as_rows

    service = start(*MODELS, *COLUMNS, "--paper", "--set", "num_particles=16", "--chunk-size", 50)
    service.post(as_rows(data, 0, 300))
    before = service.wait_for_rows(300)
    assert service.stop() == 143
    again = Served(tmp_path / "replay", "--replay", tmp_path / "kept")
    try:
        after = again.get("/state").json
        assert after["num_rows"] == 300
        for one, other in zip(before["models"], after["models"], strict=True):
            assert one["log_evidence"] == pytest.approx(other["log_evidence"], rel=1e-12)
        assert json.loads((tmp_path / "kept" / "run.json").read_text())["chunk_size"] == 50
    finally:
        again.kill()


def test_folders_are_not_mixed_up(saved_run, start, refused_command, tmp_path):
    """A run is no service, and a service is no run."""
    refused_command("--replay", "serve", "--save", saved_run)
    start(*MODELS, *COLUMNS, "--paper").stop()
    refused_command("sgais serve --save", "resume", tmp_path / "kept")
    (tmp_path / "kept" / "run.json").unlink()
    (tmp_path / "kept" / "log" / "rows-00000000000000000000.log").touch()
    refused_command("another service", "serve", *MODELS, *COLUMNS, "--save", tmp_path / "kept")


def test_the_library_does_without_the_extra():
    """Only `serve` and `--live` import what comes with it."""
    script = "import sys, sgais.cli; print([name for name in ('starlette', 'uvicorn') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
