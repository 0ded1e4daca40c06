import json

import pandas as pd
import pytest

import sgais

COLUMNS = ("-c", "x=a,b", "-c", "y=target")
OPTIONS = ("--hazard", "0.01", "--chunk-size", 60)


@pytest.fixture
def changed(frame, tmp_path):
    """The rows of the other commands, but with another sign from row 300 on."""
    frame = frame.copy()
    frame.loc[300:, "target"] *= -1
    frame.to_csv(tmp_path / "changed.csv", index=False)
    return {"x": frame[["a", "b"]].to_numpy(), "y": frame["target"].to_numpy()}


def test_it_says_what_python_says(command, changed):
    arguments = ("linear-regression", "-d", "changed.csv", *COLUMNS, *OPTIONS)
    found = json.loads(command("changepoints", *arguments, "--output", "json").stdout)
    points = sgais.ChangePoints({"linear-regression": sgais.models.LinearRegression(dim=2)}, hazard=0.01)
    points.run(sgais.stream(changed, 60))
    assert [segment["start"] for segment in found["segments"]] == [0, 300]
    assert found["log_evidence"] == points.log_evidence
    assert [change["probability"] for change in found["changes"]] == points.probability.tolist()
    out = command("changepoints", *arguments).stdout
    assert "300" in out
    assert "600 rows." in out


def test_a_folder_has_it_all_and_is_gone_on_with(command, changed, tmp_path):
    whole = (tmp_path / "changed.csv").read_text()
    lines = whole.splitlines(keepends=True)
    (tmp_path / "changed.csv").write_text("".join(lines[:241]))
    arguments = ("linear-regression", "-d", "changed.csv", *COLUMNS, *OPTIONS)
    command("changepoints", *arguments, "--save", "out")
    (tmp_path / "changed.csv").write_text(whole)
    resumed = json.loads(command("resume", "out", "--output", "json").stdout)
    assert resumed == json.loads(command("changepoints", *arguments, "--output", "json").stdout)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"run.json", "checkpoint", "records.csv", "changes.csv", "segments.csv", "change_points.png"} <= names
    assert pd.read_csv(tmp_path / "out" / "segments.csv")["start"].tolist() == [0, 300]
    figure = tmp_path / "out" / "change_points.png"
    before = figure.read_bytes()
    figure.unlink()
    assert command("plot", "out").stdout.split() == ["out/change_points.png"]
    assert figure.read_bytes() == before


def test_bad_input_is_one_line_that_says_what_to_do(refused, changed):
    arguments = ("linear-regression", "-d", "changed.csv", *COLUMNS)
    refused("changepoints", *arguments, "--hazard", "2", code=2, says=["`hazard`"])
    refused("changepoints", *arguments, "--history", "reservoir:10", code=2, says=["`history` must keep all rows"])
    refused("changepoints", *arguments, "--paper", code=2, says=["`config`"])
