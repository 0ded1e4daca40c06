"""The one loop: where a stream stands, when it is saved, who is told. Python, command line and service use it."""

import shutil
from functools import partial

import pytest

import sgais
from sgais.checkpoint import Schedule
from sgais.cli.arguments.settings import Settings
from sgais.cli.output.console import console_for
from sgais.cli.output.live import LineView
from sgais.cli.session.folder import RunFolder
from sgais.cli.session.session import Session
from sgais.models import LinearRegression
from sgais.run_loop import Checkpoints, Place, RunLoop

MODEL = LinearRegression(dim=2)
DATA = sgais.simulate.linear_regression(600, dim=2).data
CONFIG = sgais.Config.paper(num_particles=4)


def test_rows_are_counted_where_the_stream_cannot_tell():
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    evidence.run(list(sgais.stream(DATA, 200))[:2])
    assert evidence.place == Place(400, 0)


def test_bad_rows_count_in_the_place_and_in_the_records():
    y = DATA["y"].copy()
    y[[7, 250]] = float("nan")
    evidence, noted = sgais.OnlineEvidence(MODEL, CONFIG), []
    stream = sgais.stream(DATA | {"y": y}, 200, on_error="skip")
    evidence.run(stream, after_chunk=lambda record: noted.append((record.num_rows, evidence.place)))
    assert noted == [(200, Place(201, 1)), (400, Place(402, 2)), (598, Place(600, 2))]
    assert [record.num_bad_rows for record in evidence.records] == [1, 2, 2]


def test_a_chunk_that_is_refused_moves_nothing():
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    evidence.update({name: values[:100] for name, values in DATA.items()})
    with pytest.raises(sgais.DataError):
        evidence.update({"x": DATA["x"][:10]})
    assert evidence.place == Place(100, 0)


def test_rows_that_nobody_can_take_in_are_passed_over():
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    loop = RunLoop(evidence)
    loop.take_in({name: values[:100] for name, values in DATA.items()})
    loop.pass_over(50)
    assert evidence.place == Place(150, 50)
    assert evidence.num_rows == 100


def test_callbacks_come_before_the_checkpoint_that_holds_what_they_note(tmp_path):
    evidence, order = sgais.OnlineEvidence(MODEL, CONFIG), []
    saved = Checkpoints(evidence, Schedule(every_chunks=1), lambda: order.append("saved"))
    RunLoop(evidence, saved, [lambda record: order.append(record.num_rows)]).run(list(sgais.stream(DATA, 300)))
    assert order == [300, "saved", 600, "saved", "saved"]


@pytest.mark.parametrize("schedule", [Schedule(every_seconds=0.0), Schedule(None, None, slow_chunk_seconds=0.0)])
def test_a_failed_save_is_a_warning_whatever_it_was_for(tmp_path, schedule):
    evidence = sgais.OnlineEvidence(MODEL, CONFIG)
    saved = Checkpoints(evidence, schedule, partial(evidence.save, tmp_path / "nowhere" / "checkpoint"))
    with pytest.warns(UserWarning, match=r"no checkpoint at \d+ rows: `path` must be a place") as warned:
        RunLoop(evidence, saved).run(sgais.stream(DATA, 200))
    assert [str(one.message)[:26] for one in warned] == [
        f"no checkpoint at {rows} rows:" for rows in (200, 400, 600, 600)
    ]
    assert evidence.num_rows == 600


def test_a_failed_save_is_a_warning_on_the_command_line(table_of_rows, tmp_path):
    columns = {"x": ["a", "b"], "y": "target"}
    settings = Settings(
        {"one": "linear-regression"}, table_of_rows, columns=columns, paper=True, checkpoint_seconds=0.0
    )
    folder = RunFolder(tmp_path / "out")
    folder.clear()
    session = Session(settings, folder)
    shutil.rmtree(folder.path)
    with pytest.warns(UserWarning, match=r"no checkpoint at [56]00 rows"):
        session.run(LineView(console_for(is_error=True), "a run", None))
    assert session.follower.num_rows == 600


@pytest.fixture
def table_of_rows(tmp_path):
    import pandas as pd

    path = tmp_path / "table.csv"
    pd.DataFrame({"a": DATA["x"][:, 0], "b": DATA["x"][:, 1], "target": DATA["y"]}).to_csv(path, index=False)
    return str(path)
