"""A warning is seen wherever a log Z is, and with `--strict` in the exit code."""

import io
import json

import pandas as pd
import pytest

from sgais.cli.arguments.strict import code_of
from sgais.monitoring.snapshot import Snapshot, alone

COLUMNS = ("-c", "x=a,b", "-c", "y=target", "--paper")
WARNING = "three islands went astray"
# A model that warns of itself: whatever the estimator finds, its records carry a warning.
MODULE = f"""
import sgais

original = sgais.OnlineEvidence.weigh


def weigh(self, *arguments, **options):
    step = original(self, *arguments, **options)
    return step._replace(record=step.record._replace(warning={WARNING!r}, mode_doubt=2.5))


sgais.OnlineEvidence.weigh = weigh
model = sgais.models.LinearRegression(dim=2)
other = sgais.models.LinearRegression(dim=2, features=(0,))
"""


@pytest.fixture
def suspect(tmp_path):
    (tmp_path / "suspect.py").write_text(MODULE)
    return "suspect.py:model"


def test_a_run_prints_and_saves_everything_first(command, table, suspect, tmp_path):
    found = command("run", suspect, table, *COLUMNS, "--save", "here", "--strict", code=3)
    (line,) = [line for line in found.stdout.splitlines() if line.strip().startswith(suspect)]
    assert " ! " in line, line
    assert f"BEWARE of {suspect}: {WARNING}." in found.stdout
    assert f"! BEWARE: {WARNING}" in " ".join(found.stderr.split())
    for name in ("report.md", "report.html"):
        assert WARNING in (tmp_path / "here" / name).read_text()
    assert pd.read_csv(tmp_path / "here" / "records.csv").warning.eq(WARNING).all()
    assert "strict" not in (tmp_path / "here" / "run.json").read_text(), "it is not part of the run"
    command("resume", "here", "--trust")
    assert WARNING in command("resume", "here", "--trust", "--strict", code=3).stdout


def test_without_strict_the_exit_code_is_0_and_without_a_warning_too(command, table, suspect):
    command("run", suspect, table, *COLUMNS)
    command("run", "linear-regression", table, *COLUMNS, "--strict")


def test_json_and_csv_have_warning_and_budget(command, table, suspect):
    options = ("run", suspect, table, *COLUMNS, "--output")
    found = json.loads(command(*options, "json").stdout)
    assert found["warning"] == WARNING
    assert found["error_budget"]["modes"] == 2.5
    frame = pd.read_csv(io.StringIO(command(*options, "csv").stdout))
    assert set(frame.warning) == {WARNING}
    assert set(frame.mode_doubt) == {2.5}


def test_a_comparison(command, table, suspect):
    arguments = ("compare", f"one={suspect}", "two=suspect.py:other", "--data", table, *COLUMNS, "--strict")
    found = json.loads(command(*arguments, "--output", "json", code=3).stdout)
    assert found["models"]["two"]["warning"] == WARNING
    assert found["models"]["two"]["error_budget"]["modes"] == 2.5
    out = command(*arguments, code=3).stdout
    assert out.count(" ! ") == 2
    assert f"BEWARE of two: {WARNING}." in out


def test_an_estimate(command, table, suspect):
    out = command("estimate", suspect, table, *COLUMNS, "--strict", code=3).stdout
    assert "± 2.50 modes, 600 rows, sgais, " in out
    assert f"BEWARE: not to be trusted: {WARNING}." in out
    frame = pd.read_csv(io.StringIO(command("estimate", suspect, table, *COLUMNS, "--output", "csv").stdout))
    assert set(frame.status) == {f"not to be trusted: {WARNING}"}


def test_every_command_with_a_number_has_it(command):
    for name in ("run", "compare", "resume", "estimate", "demo"):
        assert "--strict" in command(name, "--help").stdout


def test_a_model_that_failed_counts_as_well():
    for failures, code in (({"bad": "no luck"}, 3), ({}, 0)):
        snapshot = Snapshot(100, 0, {"good": alone(None)}, failures, [], is_comparison=True)
        assert code_of(snapshot, is_strict=True) == code
        assert code_of(snapshot, is_strict=False) == 0
