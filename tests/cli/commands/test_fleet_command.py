import json

import numpy as np
import pandas as pd
import pytest

import sgais

COLUMNS = ("-c", "x=a,b", "-c", "y=target", "--chunk-size", "120")
MODELS = ("one=linear-regression:features=0", "both=linear-regression")


@pytest.fixture
def keyed(tmp_path):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(360, 2)), columns=["a", "b"])
    frame["sensor"] = generator.choice(["hall", "roof", "yard"], size=360)
    frame["target"] = frame["a"] + np.where(frame["sensor"] == "roof", frame["b"], 0.0) + generator.normal(size=360)
    frame.to_csv(tmp_path / "rooms.csv", index=False)
    return frame


def test_it_says_what_python_says(command, keyed):
    arguments = (*MODELS, "--by", "sensor", "-d", "rooms.csv", *COLUMNS)
    found = json.loads(command("fleet", *arguments, "--output", "json").stdout)
    both = sgais.models.LinearRegression
    fleet = sgais.Fleet({"one": both(dim=2, features=(0,)), "both": both(dim=2)}, key="sensor")
    for start in range(0, 360, 120):
        rows = keyed.iloc[start : start + 120]
        fleet.update({"sensor": rows["sensor"], "x": rows[["a", "b"]].to_numpy(), "y": rows["target"].to_numpy()})
    assert {key: line["log_evidence"] for key, line in found["keys"].items()} == fleet.table()["log_evidence"].to_dict()
    assert found["keys"]["roof"]["leader"] == "both"
    assert "3 keys, 360 rows" in command("fleet", *arguments).stdout


def test_a_folder_has_it_all_and_is_gone_on_with(command, keyed, tmp_path):
    whole = (tmp_path / "rooms.csv").read_text()
    (tmp_path / "rooms.csv").write_text("".join(whole.splitlines(keepends=True)[:121]))
    arguments = (*MODELS, "--by", "sensor", "-d", "rooms.csv", *COLUMNS)
    command("fleet", *arguments, "--save", "out")
    (tmp_path / "rooms.csv").write_text(whole)
    resumed = json.loads(command("resume", "out", "--output", "json").stdout)
    assert resumed == json.loads(command("fleet", *arguments, "--output", "json").stdout)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"run.json", "checkpoint", "keys.csv", "models.csv", "alarms.csv", "switches.csv", "report.html"} <= names
    assert pd.read_csv(tmp_path / "out" / "keys.csv")["rows"].sum() == 360
    assert "roof" in (tmp_path / "out" / "report.html").read_text()


def test_bad_input_is_one_line_that_says_what_to_do(refused, keyed):
    refused("fleet", *MODELS, "-d", "rooms.csv", *COLUMNS, code=2, says=["`--by`", "column of keys"])
    refused("fleet", *MODELS, "--by", "room", "-d", "rooms.csv", *COLUMNS, code=1, says=["room"])
