import pytest

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
