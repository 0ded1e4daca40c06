"""A service that is started again with other models than it was begun with."""

import json
import time

import pytest
from served import COLUMNS, as_rows

import sgais

ONE, BOTH = "one=linear-regression:features=0", "both=linear-regression"
QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50", "--checkpoint-seconds", "0.2")
MODELS = {"both": sgais.models.LinearRegression(dim=2), "one": sgais.models.LinearRegression(dim=2, features=(0,))}


def offline(data, count):
    comparison = sgais.Comparison(MODELS, sgais.Config.paper(num_particles=16))
    for chunk in sgais.stream({name: values[:count] for name, values in data.items()}, chunk_size=50):
        comparison.update(chunk)
    return {name: comparison[name].log_evidence for name in MODELS}


def saved(service, rows):
    """The state of a service once a checkpoint holds so many rows."""
    service.wait_for_rows(rows)
    while (state := service.get("/state").json)["rows_saved"] < rows:
        time.sleep(0.05)
    return state


def log_evidences(state):
    return {model["name"]: model["log_evidence"] for model in state["models"]}


def test_models_join_and_leave_at_a_restart(start, data, tmp_path):
    """While all rows are kept, a newcomer stands where it would if it had been there from the start, to the bit."""
    service = start(ONE, *COLUMNS, *QUICK)
    service.post(as_rows(data, 0, 310))  # ten of them wait in the log
    saved(service, 300)
    service.stop()
    service = start(ONE, BOTH, *COLUMNS, *QUICK, "--change-models")
    assert log_evidences(service.wait_for_rows(300)) == offline(data, 300)
    service.kill()
    service = start()
    service.post(as_rows(data, 310, 600))
    found = log_evidences(saved(service, 600))
    assert found == offline(data, 600)
    service.stop()
    service = start(BOTH, *COLUMNS, *QUICK, "--change-models")
    state = service.wait_for_rows(600)
    assert log_evidences(state) == {"both": found["both"]}
    assert state["models"][0]["probability"] == 1.0
    assert list(json.loads((tmp_path / "kept" / "run.json").read_text())["models"]) == ["both"]


def test_a_newcomer_says_from_where_on_it_counts(start, data):
    """Where only the latest rows are kept it learns from those, and begins level with the others."""
    service = start(ONE, *COLUMNS, *QUICK, "--history", "reservoir:100")
    service.post(as_rows(data, 0, 300))
    before = log_evidences(saved(service, 300))["one"]
    service.stop()
    service = start(ONE, BOTH, *COLUMNS, *QUICK, "--history", "reservoir:100", "--change-models")
    assert "BEWARE of both: " in service.said
    one, both = service.get("/state").json["models"]
    assert "joined at row 300, having learnt from the 100 rows before it" in both["warning"]
    assert not one["warning"]
    assert both["log_evidence"] == pytest.approx(before, abs=1e-9)
    assert both["probability"] == pytest.approx(0.5, abs=1e-9)
    service.post(as_rows(data, 300, 400))
    one, both = service.wait_for_rows(400)["models"]
    assert both["log_evidence"] != one["log_evidence"]
    assert "joined at row 300" in both["warning"]


def test_models_are_not_changed_by_mistake(start, data, refused_command, tmp_path):
    kept = tmp_path / "kept"
    service = start(ONE, *COLUMNS, *QUICK)
    service.post(as_rows(data, 0, 100))
    saved(service, 100)
    service.stop()
    refused_command("both would join. Say --change-models", "serve", ONE, BOTH, *COLUMNS, *QUICK, "--save", kept)
    refused_command("one would leave", "serve", BOTH, *COLUMNS, *QUICK, "--save", kept)
    other = "one=linear-regression:features=1"
    refused_command("another name", "serve", other, *COLUMNS, *QUICK, "--save", kept, "--change-models")
    refused_command("at least one", "serve", BOTH, *COLUMNS, *QUICK, "--save", kept, "--change-models")
    service = start()
    assert service.get("/state").json["num_rows"] == 100, "what is refused leaves the folder as it was"
