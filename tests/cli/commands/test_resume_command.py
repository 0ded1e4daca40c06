"""A run that was stopped and resumed is the run that was not."""

import random
import signal

import pandas as pd
import pytest

import sgais

COLUMNS = ("-c", "x=a,b", "-c", "y=target")
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}


@pytest.fixture
def long_table(tmp_path):
    data = sgais.simulate.linear_regression(4000, dim=2).data
    columns = {"a": data["x"][:, 0], "b": data["x"][:, 1], "target": data["y"]}
    pd.DataFrame(columns).to_csv(tmp_path / "long.csv", index=False)
    return "long.csv"


def curve(folder):
    return pd.read_csv(folder / "records.csv").drop(columns="seconds")


def stop_and_go_on(command, interrupted, tmp_path, arguments, number, seconds, folder):
    """Whatever the moment: the right exit code, and the same curve as without the signal in the end."""
    code, _, errors = interrupted(*arguments, folder=folder, number=number, seconds=seconds)
    assert code in (128 + number, -number, 0), errors  # the latter two: it was over before
    if code != 0:
        command("resume", folder)
    return code, curve(tmp_path / folder)


@pytest.fixture
def arguments(long_table):
    return ("run", "linear-regression", long_table, *COLUMNS, "--paper", "--chunk-size", 10)


@pytest.fixture
def whole(command, arguments, tmp_path):
    command(*arguments, "--save", "whole")
    return curve(tmp_path / "whole")


@pytest.mark.parametrize("name", list(SIGNALS))
def test_a_signal_ends_a_run_that_can_be_gone_on_with(command, interrupted, tmp_path, arguments, whole, name):
    seconds = random.Random(name).uniform(0.0, 1.0)
    slowly = (*arguments, "--checkpoint-seconds", 0)  # so that it is not over before
    code, resumed = stop_and_go_on(command, interrupted, tmp_path, slowly, SIGNALS[name], seconds, "out")
    assert code == 128 + SIGNALS[name]
    pd.testing.assert_frame_equal(resumed, whole, check_exact=True)


@pytest.mark.slow
def test_ten_signals_at_any_moment(command, interrupted, tmp_path, arguments, whole):
    generator = random.Random(0)
    for number in range(10):
        kind, seconds = generator.choice(list(SIGNALS.values())), generator.uniform(0.0, 6.0)
        _, resumed = stop_and_go_on(command, interrupted, tmp_path, arguments, kind, seconds, f"out{number}")
        pd.testing.assert_frame_equal(resumed, whole, check_exact=True)


def test_a_signal_while_nothing_comes(command, interrupted, table, tmp_path):
    """A followed file that does not grow: the rows that came are safe."""
    arguments = ("run", "linear-regression", table, *COLUMNS, "--paper", "--chunk-size", 600, "--follow", 300)
    options = {"folder": "out", "number": SIGNALS["SIGTERM"], "seconds": 0.5, "after": "checkpoint"}
    code, _, errors = interrupted(*arguments, "--checkpoint-seconds", 0, **options)
    assert code == 143
    assert "sgais resume" in errors
    assert curve(tmp_path / "out").num_rows.iloc[-1] == 600


def test_ctrl_c_while_figures_are_drawn(command, interrupted, table, tmp_path):
    """All rows are taken in: what is missing is drawn by the resumed run."""
    arguments = ("run", "linear-regression", table, *COLUMNS, "--paper")
    options = {"folder": "out", "number": signal.SIGINT, "seconds": 0.0, "after": "alarms.csv"}
    code, _, errors = interrupted(*arguments, **options)
    assert code in (-signal.SIGINT, 0), errors  # the latter: they were drawn before it came
    if code != 0:
        command("resume", "out")
    assert (tmp_path / "out" / "report.html").exists()


def test_a_file_that_has_grown_is_gone_on_with(command, frame, tmp_path):
    frame[:400].to_csv(tmp_path / "grows.csv", index=False)
    command("run", "linear-regression", "grows.csv", *COLUMNS, "--paper", "--chunk-size", 200, "--save", "out")
    frame.to_csv(tmp_path / "grows.csv", index=False)
    command("resume", "out")
    assert list(curve(tmp_path / "out").num_rows) == [200, 400, 600]


def test_a_run_is_not_written_over(refused, command, table):
    command("run", "linear-regression", table, *COLUMNS, "--paper", "--save", "out")
    refused("run", "linear-regression", table, *COLUMNS, "--save", "out", code=2, says=["sgais resume"])


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_without_a_run(refused, folder):
    refused("resume", folder, code=2, says=["run.json", "--save DIR"])


def test_no_folder(refused):
    refused("resume", code=2, says=["sgais resume --help"])


def test_an_option_that_is_none(refused):
    refused("resume", "out", "--colour", code=2, says=["--colour", "sgais resume --help"])


def test_what_a_run_needs_is_gone(refused, command, table, tmp_path):
    (tmp_path / "mine.py").write_text("import sgais\nmodel = sgais.models.LinearRegression(dim=2)\n")
    command("run", "mine.py:model", table, *COLUMNS, "--paper", "--save", "out")
    (tmp_path / "mine.py").write_text("raise ValueError('no luck today')\n")
    refused("resume", "out", "--trust", code=1, says=["mine.py", "ValueError: no luck today"])
    (tmp_path / "mine.py").unlink()
    refused("resume", "out", "--trust", code=2, says=["a file that exists, got mine.py"])


def test_a_source_that_is_gone(refused, command, table, tmp_path):
    command("run", "linear-regression", table, *COLUMNS, "--paper", "--save", "out")
    (tmp_path / table).rename(tmp_path / "elsewhere.csv")
    refused("resume", "out", code=1, says=["table.csv"])
    (tmp_path / "elsewhere.csv").rename(tmp_path / table)
    for name in ("run.json", ".run.json"):
        (tmp_path / "out" / name).write_text("{}")
    refused("resume", "out", code=1, says=["run.json", "settings of a run"])
