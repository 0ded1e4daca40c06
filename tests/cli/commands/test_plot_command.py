import pytest

from sgais.cli.session.folder import _first_rows
from sgais.monitoring.alarms import ModelAlarm

COLUMNS = ("-c", "x=a,b", "-c", "y=target")


def test_figures_are_drawn_again_from_the_records(command, table, tmp_path):
    command("run", "linear-regression", table, *COLUMNS, "--paper", "--save", "out")
    before = (tmp_path / "out" / "evidence.png").read_bytes()
    (tmp_path / "out" / "evidence.png").unlink()
    assert command("plot", "out").stdout.split() == ["out/evidence.png", "out/annealing.png"]
    assert (tmp_path / "out" / "evidence.png").read_bytes() == before


@pytest.mark.parametrize("arguments", [("nowhere",), (".",)])
def test_a_folder_without_a_run(refused, arguments):
    refused("plot", *arguments, code=2, says=["run.json", "--save DIR"])


def test_an_option_that_is_none(refused):
    refused("plot", "nowhere", "--colour", code=2, says=["--colour", "sgais plot --help"])


def test_a_run_without_records_and_a_figure_that_cannot_be_written(refused, command, table, tmp_path):
    command("run", "linear-regression", table, *COLUMNS, "--paper", "--save", "out")
    (tmp_path / "out" / "evidence.png").unlink()
    (tmp_path / "out" / "evidence.png").mkdir()
    refused("plot", "out", code=1, says=["can be written to", "Is a directory"])
    (tmp_path / "out" / "records.csv").unlink()
    refused("plot", "out", code=1, says=["no records.csv", "Run it to an end first"])


def test_a_change_is_marked_once_however_many_models_noticed_it():
    alarms = [ModelAlarm(name, row, 1000, "surprise", -1.0) for name, row in (("a", 1300), ("b", 1200), ("c", 1200))]
    assert _first_rows([*alarms, ModelAlarm("a", 2400, 2200, "surprise", -1.0)]) == [1200, 2400]
