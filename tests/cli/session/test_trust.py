"""A folder from elsewhere runs no code, and writes nowhere else, before somebody says that it may."""

import json

import pytest

COLUMNS = ("-c", "x=a,b", "-c", "y=target")
CODE = "import pathlib, sgais\npathlib.Path('it-ran').touch()\nmodel = sgais.models.LinearRegression(dim=2)\n"


@pytest.fixture
def with_code(command, table, tmp_path):
    (tmp_path / "mine.py").write_text(CODE)
    command("run", "mine.py:model", table, *COLUMNS, "--paper", "--save", "out")
    (tmp_path / "it-ran").unlink()
    return "out"


def test_code_that_a_folder_names_is_not_run(refused, command, with_code, tmp_path):
    refused("resume", with_code, code=2, says=["runs mine.py:model of", "--trust"])
    assert not (tmp_path / "it-ran").exists()
    command("resume", with_code, "--trust")
    assert (tmp_path / "it-ran").exists()


def test_a_service_asks_as_well(refused, with_code, tmp_path):
    settings = tmp_path / with_code / "run.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"source": "observations that are posted"}))
    refused("serve", "--save", with_code, code=2, says=["runs mine.py:model of", "--trust"])
    assert not (tmp_path / "it-ran").exists()


def test_files_elsewhere_are_not_written(refused, command, table, tmp_path):
    bad = ("--on-error", "quarantine", "--quarantine", "bad.ndjson")
    command("run", "linear-regression", table, *COLUMNS, *bad, "--paper", "--save", "out")
    refused("resume", "out", code=2, says=["writes to bad.ndjson", "--trust"])
    command("resume", "out", "--trust")


def test_ready_models_need_no_trust(command, table):
    command("run", "linear-regression", table, *COLUMNS, "--paper", "--save", "out")
    command("resume", "out")
