"""What is shown of a log Z always comes with its warning: while it runs, after a restart, in a replay."""

import numpy as np
import pandas as pd
import pytest

from sgais.comparison.records import ComparisonRecord, ModelStanding
from sgais.monitoring.snapshot import Snapshot, alone
from sgais.results.record import EvidenceRecord
from sgais.serve.board.board import COMMON, SERVICE, Board
from sgais.serve.board.records_table import EARLIER, records_table
from sgais.serve.board.replay import board_of
from sgais.serve.board.standing import BEFORE_MODES, COLUMNS, column_names
from sgais.serve.http.metrics import prometheus


def record(rows, warning="", mode_doubt=0.0):
    values = dict.fromkeys(EvidenceRecord._fields, 1.0)
    return EvidenceRecord(**(values | {"num_rows": rows, "warning": warning, "mode_doubt": mode_doubt}))


def snapshot(one):
    return Snapshot(one.num_rows, 0, {"m": alone(one)}, {}, [], False)


@pytest.fixture
def board():
    """A model that is warned of, then not, then again."""
    board = Board(SERVICE, "a run", ["m"], 100)
    for rows, warning in ((100, "first"), (200, ""), (300, "second")):
        board.note(snapshot(record(rows, warning, mode_doubt=2.0)))
    return board


def test_state_records_and_metrics_say_it(board):
    (model,) = board.state()["models"]
    assert (model["warning"], model["is_warned"], model["mode_doubt"]) == ("second", 1.0, 2.0)
    assert board.records(0, np.inf, 10)["models"]["m"]["is_warned"] == [1.0, 0.0, 1.0]
    assert 'sgais_is_warned{model="m"} 1.0' in prometheus(board.state())
    assert 'sgais_mode_doubt{model="m"} 2.0' in prometheus(board.state())


def test_what_is_saved_for_a_replay_has_the_warnings(board):
    table = records_table(board)
    assert table.warning.tolist() == [EARLIER, "", "second"]
    assert table.mode_doubt.tolist() == [2.0] * 3


def test_after_a_restart_the_warning_is_still_there(board):
    again = Board(SERVICE, "a run", ["m"], 100)
    again.restore(board.saved(), snapshot(record(300, "second")))
    (model,) = again.state()["models"]
    assert (model["warning"], model["is_warned"]) == ("second", 1.0)


def test_a_board_of_before_there_was_a_column_is_still_read(board):
    saved = board.saved()
    names = saved["timeline"].pop("columns")
    before = [names.index(name) for name in [*COMMON, *column_names(["m"], BEFORE_MODES)]]
    for part in ("points", "recent"):
        saved["timeline"][part] = saved["timeline"][part][:, before]
    again = Board(SERVICE, "a run", ["m"], 100)
    again.restore(saved, snapshot(record(300)))
    columns = again.records(0, np.inf, 10)["models"]["m"]
    assert columns["log_evidence"] == [1.0] * 3
    assert columns["mode_doubt"] == [None] * 3
    assert tuple(columns) == COLUMNS


@pytest.mark.parametrize(
    ("warnings", "said"),
    [(["", "bad"], "bad"), (["bad", ""], "at row 100, not at the end: bad"), (["", ""], "")],
)
def test_a_replay_says_it(warnings, said):
    records = [record(100 * number, warning) for number, warning in enumerate(warnings, start=1)]
    (model,) = board_of("a run", ["m"], records, [], 100).state()["models"]
    assert model["warning"] == said
    values = dict.fromkeys(ModelStanding._fields, 1.0)
    compared = [
        ComparisonRecord(one.num_rows, {"m": ModelStanding(**(values | {"warning": one.warning}))}, 0.0)
        for one in records
    ]
    (model,) = board_of("a run", ["m"], compared, [], 100).state()["models"]
    assert model["warning"] == said


def test_records_of_before_there_was_a_column_are_read_from_a_folder(tmp_path):
    from sgais.cli.session.folder import RunFolder

    frame = pd.DataFrame([record(100, "bad")])
    folder = RunFolder(tmp_path)
    folder.write_records(frame.drop(columns="mode_doubt"), [])
    assert folder.records() == [record(100, "bad")]
