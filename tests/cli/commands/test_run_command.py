import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sgais

COLUMNS = ("-c", "x=a,b", "-c", "y=target")


@pytest.fixture(scope="session")
def evidence(data):
    """What Python says."""
    found = sgais.OnlineEvidence(sgais.models.LinearRegression(dim=2), sgais.Config.paper(), seed=3)
    found.run(sgais.stream(data, chunk_size=200))
    return found


def test_the_table_says_what_was_found(command, table):
    result = command("run", "linear-regression", table, *COLUMNS, "--paper")
    assert "linear-regression" in result.stdout
    assert "600 rows." in result.stdout
    assert "log Z per row" in result.stderr  # progress, apart from the result


def test_json_from_a_file_is_what_python_says(command, table, evidence):
    options = ("--paper", "--seed", 3, "--chunk-size", 200, "--output", "json")
    found = json.loads(command("run", "linear-regression", table, *COLUMNS, *options).stdout)
    assert found["log_evidence"] == evidence.log_evidence
    assert found["num_rows"] == 600
    assert found["standard_error"] is None  # paper mode has none, and JSON has no NaN
    assert found["alarms"] == []


def test_a_pipe_gives_the_same_bits_and_csv_is_the_curve(command, frame, evidence):
    lines = "".join(json.dumps(row) + "\n" for row in frame.astype(float).to_dict("records"))
    options = ("--format", "ndjson", "--paper", "--seed", 3, "--chunk-size", 200, "--output", "csv")
    found = pd.read_csv(io.StringIO(command("run", "linear-regression", "-", *COLUMNS, *options, text=lines).stdout))
    assert list(found.num_rows) == [200, 400, 600]
    assert found.log_evidence.iloc[-1] == pytest.approx(evidence.log_evidence, rel=1e-12)


def test_settings_from_a_file_and_flags_that_win(command, table, tmp_path, evidence):
    (tmp_path / "run.toml").write_text(
        f'models = "linear-regression"\nsource = "{table}"\npaper = true\nseed = 17\nchunk_size = 200\n'
        '[columns]\nx = ["a", "b"]\ny = "target"\n[parameters]\nnum_particles = 5\n'
    )
    options = ("--seed", 3, "--set", "num_particles=10", "--output", "json")
    found = json.loads(command("run", "--config", "run.toml", *options).stdout)
    assert found["log_evidence"] == evidence.log_evidence


def test_a_model_of_ones_own_and_bad_rows(command, frame, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpyro, numpyro.distributions as dist\n"
        "def model(a, b, target):\n"
        "    slope = numpyro.sample('slope', dist.Normal(0, 1))\n"
        "    with numpyro.plate('data', a.shape[0]):\n"
        "        numpyro.sample('target', dist.Normal(slope * a, 1.0), obs=target)\n"
    )
    frame.loc[7, "b"] = np.nan
    frame.to_csv(tmp_path / "holes.csv", index=False)
    options = ("--on-error", "quarantine", "--quarantine", "bad.ndjson", "--paper", "--output", "json")
    found = json.loads(command("run", "mine.py:model", "holes.csv", *options).stdout)
    assert (found["num_rows"], found["num_bad_rows"]) == (599, 1)
    assert json.loads((tmp_path / "bad.ndjson").read_text())["row"] == 7


def test_a_series_and_a_past_on_disk(command, tmp_path):
    series = np.random.default_rng(0).normal(size=300)
    pd.DataFrame({"price": series}).to_csv(tmp_path / "series.csv", index=False)
    options = ("-c", "y=price", "--history", "disk", "--save", "out", "--paper", "--output", "json")
    found = json.loads(command("run", "auto-regression:order=2", "series.csv", *options).stdout)
    assert found["num_rows"] == 298
    assert (tmp_path / "out" / "rows.bin").exists()


@pytest.mark.parametrize("start", [(sys.executable, "-m", "sgais"), (Path(sys.executable).parent / "sgais",)])
def test_the_command_and_the_module_are_the_same(start):
    result = subprocess.run([*start, "run", "--help"], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0
    assert "Usage: sgais run" in result.stdout


def test_colours_only_where_they_are_wanted(command, table):
    result = command("run", "linear-regression", table, *COLUMNS, "--paper", environment={"NO_COLOR": "1"})
    assert "\x1b" not in result.stdout + result.stderr


BAD = [
    (("liner-regression", "table.csv"), 2, ["'linear-regression'"]),
    (("linear-regression:dims=2", "table.csv"), 2, ["'dim'"]),
    (("linear-regression", "table.csv"), 2, ["--columns x=a,b"]),
    (("linear-regression", "table.csv", "-c", "x=a,c", "-c", "y=target"), 1, ["'c'", "'a', 'b', 'target'"]),
    (("linear-regression", "missing.csv", *COLUMNS), 1, ["missing.csv"]),
    (("linear-regression", "table.csv", *COLUMNS, "--chunks", "3"), 2, ["--chunks", "sgais run --help"]),
    (("linear-regression", "table.csv", *COLUMNS, "--set", "particles=3"), 2, ["'num_particles'"]),
    (("linear-regression", "table.csv", *COLUMNS, "--history", "attic"), 2, ["reservoir:100000"]),
    (("linear-regression", "table.csv", *COLUMNS, "--save", "table.csv/run"), 1, ["table.csv/run", "Choose another"]),
    (("linear-regression", "-", *COLUMNS), 2, ["'csv' or 'ndjson'"]),
    (("linear-regression", "table.csv", *COLUMNS, "--config", "no.toml"), 2, ["no.toml"]),
    (("raises.py:model", "table.csv"), 1, ["raises.py", "ValueError: no luck today"]),
    (("raises.py", "table.csv"), 2, ["raises.py"]),
    (("missing.py:model", "table.csv"), 2, ["missing.py"]),
    (("linear-regression",), 2, ["`SOURCE`"]),
]


@pytest.mark.parametrize(("arguments", "code", "says"), BAD, ids=[" ".join(case[0]) for case in BAD])
def test_bad_input_is_one_line_that_says_what_to_do(refused, table, tmp_path, arguments, code, says):
    (tmp_path / "raises.py").write_text("raise ValueError('no luck today')\n")
    refused("run", *arguments, code=code, says=says)


def test_debug_shows_where(command, table):
    assert "Traceback" in command("run", "liner-regression", table, "--debug", code=2).stderr
