"""What the tests of the service share."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from served import COLUMNS, COMPARE, MODELS, Served

import sgais

QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50")  # compiled in no time


@pytest.fixture(scope="session")
def data():
    """Rows whose evidence is known exactly."""
    return sgais.simulate.linear_regression(20_000, dim=2).data


@pytest.fixture
def start(tmp_path):
    """Starts services that are killed at the end, if they still run."""
    running = []

    def run(*arguments, folder=None, **options):
        service = Served(
            tmp_path / f"service{len(running)}", *arguments, "--save", folder or tmp_path / "kept", **options
        )
        running.append(service)
        return service

    yield run
    for service in running:
        service.kill()


@pytest.fixture
def refused_command(capsys):
    """Runs a command that must fail at once, in this process, and say why in one line."""
    from sgais.cli import app

    def run(words, *arguments):
        with pytest.raises(SystemExit) as end:
            app([str(argument) for argument in arguments], prog_name="sgais")
        said = capsys.readouterr().err
        assert end.value.code == 2, said
        assert words in said
        assert len(said.strip().splitlines()) == 1

    return run


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service that the tests of a file share."""
    folder = tmp_path_factory.mktemp("service") / "kept"
    running = Served(folder, *MODELS, *COLUMNS, *QUICK, "--save", folder, "--max-requests", 5000)
    yield running
    running.kill()
    assert "Traceback" not in running.said, running.said


@pytest.fixture(scope="session")
def changing_table(tmp_path_factory):
    """Rows that change once, in a CSV file."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=(2000, 2))
    weights = np.where(np.arange(2000)[:, None] < 1200, [1.0, 0.3], [-2.0, 3.0])
    target = (x * weights).sum(axis=1) + generator.normal(size=2000)
    path = tmp_path_factory.mktemp("table") / "table.csv"
    pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "target": target}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def saved_run(changing_table, tmp_path_factory):
    """What `sgais compare --save` writes."""
    folder = tmp_path_factory.mktemp("saved") / "run"
    command = ["compare", *MODELS, "--data", changing_table, *COLUMNS, *COMPARE, "--save", folder]
    subprocess.run([sys.executable, "-m", "sgais", *map(str, command)], check=True, capture_output=True, timeout=300)
    return folder


@pytest.fixture
def live_run(changing_table, tmp_path):
    """`sgais compare --live`, which continues to show the page when it is done."""
    arguments = [*MODELS, "--data", changing_table, *COLUMNS, *COMPARE, "--live"]
    running = Served(tmp_path / "live", *arguments, command="compare")
    yield running
    running.kill()
