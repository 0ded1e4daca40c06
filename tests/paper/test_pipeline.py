"""From cached runs to the report: nothing is run when nothing is missing, and every run finds its place in a table."""

import pytest

from experiments.paper import report, runner, tables
from experiments.paper.__main__ import EXPERIMENTS, RESULTS, main, tasks
from experiments.paper.cache import Cache, Run
from experiments.paper.execution import Outcome, Point
from experiments.paper.settings import DEFAULT, FULL, PAPER, TINY


def outcome(task):
    """As if log Z were -3 N."""
    points = []
    if task.method in (PAPER, DEFAULT):
        chunk = int(task.parameters.get("batch_size", 500))
        points = [
            Point(rows, -3.01 * rows, 0.1, 1e-4 * rows, 1, 2.0, 2, 2.0, 1.5)
            for rows in range(chunk, task.rows + 1, chunk)
        ]
    return Outcome(-3.0 * task.rows, 0.05, 0.01 * task.rows, "complete", "complete", 10, points)


@pytest.fixture
def folders(tmp_path):
    cache = Cache(tmp_path / "runs")
    for task in tasks(TINY, list(EXPERIMENTS)):
        cache.keep(task, Run(outcome(task), True, TINY.limit, {"sgais": "0.1.0"}))
    return {name: tmp_path / name for name in ("runs", "results", "report")}


def command(folders, *more):
    return main(["--version", "tiny", *more, *(f"--{name}={folder}" for name, folder in folders.items())])


def test_cached_runs_become_tables_and_a_report(folders, monkeypatch):
    monkeypatch.setattr(runner, "workers", None)  # whoever tried to run something would fail
    assert command(folders) == 0
    found = {name: tables.read(folders["results"], name) for name in EXPERIMENTS}
    accuracy = found["accuracy_and_speed"]
    assert set(accuracy["problem"]) == {"linear", "logistic", "mixture"}
    assert set(accuracy["method"]) == {PAPER, DEFAULT, "nested", "ais", "reference"}
    assert found["data_sets"].groupby("data_set").size().tolist() == [2, 2], "a run and a reference each"
    assert found["shift"].groupby(["components", "order"]).ngroups == 6
    assert found["sensitivity"]["parameter"].nunique() == 7
    assert len(found["appendix_a"]) == 2 * 2 * TINY.appendix_runs
    origin = tables.read_origin(folders["results"])
    assert (origin["settings"], origin["versions"]) == ("tiny", {"sgais": ["0.1.0"]})
    text = (folders["report"] / "README.md").read_text()
    assert "This is not the version of the paper" in text
    assert "sgais 0.1.0" in text
    assert not (folders["report"] / "appendix-a-default.png").exists()


def test_committed_runs_are_those_that_the_full_version_looks_for():
    cache, made = Cache(RESULTS / "runs"), set((RESULTS / "runs").rglob("*.json"))
    asked = {cache.path(task): task for task in tasks(FULL, list(EXPERIMENTS))}
    assert made
    assert made <= set(asked)
    assert all(cache.read(asked[path]) is not None for path in made)
    assert sum(path.stat().st_size for path in made) < 5e6


def test_only_runs_that_were_alone_have_times_in_the_tables(folders, monkeypatch):
    monkeypatch.setattr(report, "write", lambda *_: None)
    cache = Cache(folders["runs"])
    for task in tasks(TINY, ["accuracy_and_speed"]):
        cache.keep(task, Run(outcome(task), task.timed, TINY.limit, {}))
    assert command(folders) == 0
    table = tables.read(folders["results"], "accuracy_and_speed")
    is_reference = table["method"] == "reference"
    assert table[is_reference]["seconds"].isna().all()
    assert table[~is_reference]["seconds"].notna().all()


def test_a_busy_machine_is_asked_only_for_runs_whose_time_does_not_matter(folders, monkeypatch):
    asked = []
    monkeypatch.setattr(runner, "run", lambda found, *_: asked.extend(found))
    monkeypatch.setattr(report, "write", lambda *_: None)
    assert command(folders, "--untimed") == 0
    assert asked
    assert not any(task.timed for task in asked)


def test_ctrl_c_ends_with_a_word_and_without_tables(folders, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    assert command(folders) == 130
    assert "continues from here" in capsys.readouterr().err
    assert not folders["results"].exists()


def test_one_experiment_leaves_the_tables_of_the_others_alone(folders, monkeypatch):
    monkeypatch.setattr(report, "write", lambda *_: None)
    assert command(folders) == 0
    before = {path.name: path.stat().st_mtime_ns for path in folders["results"].glob("*.csv")}
    assert command(folders, "--only", "shift") == 0
    after = {path.name: path.stat().st_mtime_ns for path in folders["results"].glob("*.csv")}
    assert {name for name in after if after[name] != before[name]} == {"shift.csv"}
