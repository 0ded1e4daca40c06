"""The records of a comparison, column by column."""

import numpy as np
import pytest

from sgais import checkpoint
from sgais.comparison.records import ComparisonRecord, ModelStanding, Standings


def standing(number, warning=""):
    values = dict.fromkeys(ModelStanding._fields, number + 0.25)
    return ModelStanding(**(values | {"annealing_steps": number, "warning": warning}))


def record(number, names):
    models = {name: standing(number + place, "beware" if number > 5 else "") for place, name in enumerate(names)}
    return ComparisonRecord(100 * (number + 1), models, -float(number))


# One model leaves, another joins, the first comes back in another place; at last one is alone.
NAMES = [["a", "b"]] * 3 + [["b"]] * 2 + [["b", "c"]] * 2 + [["b", "c", "a"]] * 2 + [["c"]]
RECORDS = [record(number, names) for number, names in enumerate(NAMES)]


def filled(records=RECORDS):
    standings = Standings()
    for one in records:
        standings.append(one)
    return standings


def test_they_read_like_a_list_of_records():
    standings = filled()
    assert list(standings) == RECORDS
    assert [list(one.models) for one in standings] == NAMES
    assert len(standings) == len(RECORDS)
    assert standings[-1] == RECORDS[-1]
    assert isinstance(standings[0].models["a"].annealing_steps, int)
    assert standings.ends() == [one.num_rows for one in RECORDS]
    with pytest.raises(IndexError):
        standings[len(RECORDS)]


def test_columns_have_a_row_for_each_model_of_each_chunk():
    columns = filled().columns()
    assert tuple(columns) == ("num_rows", "model", *ModelStanding._fields)
    assert columns["model"].tolist() == [name for names in NAMES for name in names]
    expected = [one.num_rows for one in RECORDS for _ in one.models]
    assert columns["num_rows"].tolist() == expected
    assert columns["warning"].tolist() == [each.warning for one in RECORDS for each in one.models.values()]
    np.testing.assert_array_equal(columns["low"], [each.low for one in RECORDS for each in one.models.values()])


def test_a_checkpoint_brings_them_back_and_is_small(tmp_path):
    many = [record(number, ["a", "b", "c"]) for number in range(3000)]
    checkpoint.write(tmp_path / "checkpoint", filled(many).state())
    again = Standings.restored(checkpoint.read(tmp_path / "checkpoint", {}))
    again.append(record(3000, ["a"]))
    assert list(again) == [*many, record(3000, ["a"])]
    numbers = 3000 * (3 + 3 * (len(ModelStanding._fields) + 1))
    assert (tmp_path / "checkpoint").stat().st_size < 8 * numbers + 10_000


def test_nothing_yet():
    assert list(Standings()) == []
    assert list(Standings.restored(Standings().state())) == []
    assert len(Standings().columns()["model"]) == 0


def test_standings_of_before_there_was_a_column_are_still_read():
    state = filled().state()
    del state["models"]["mode_doubt"]
    restored = Standings.restored(state)
    assert [record.models[record.leader].mode_doubt for record in restored] == [0.0] * len(RECORDS)
    assert [record.models.keys() for record in restored] == [record.models.keys() for record in RECORDS]
