import pickle

import numpy as np
import pytest

from sgais.results.curve import Curve
from sgais.results.record import EvidenceRecord


def record(number, warning=""):
    values = dict.fromkeys(EvidenceRecord._fields, number + 0.5)
    whole = ("num_rows", "annealing_steps", "num_moves", "num_modes", "num_non_finite", "num_bad_rows")
    return EvidenceRecord(**(values | dict.fromkeys(whole, number) | {"warning": warning}))


RECORDS = [record(number, "beware" if 70 <= number < 90 or number > 150 else "") for number in range(200)]


def filled():
    curve = Curve()
    for one in RECORDS:
        curve.append(one)
    return curve


@pytest.mark.parametrize("curve", [filled(), Curve.restored(pickle.loads(pickle.dumps(filled().state())))])
def test_it_reads_like_a_list_of_records(curve):
    assert list(curve) == RECORDS
    assert len(curve) == 200
    assert curve[-1] == RECORDS[-1]
    assert isinstance(curve[0].num_rows, int)
    assert isinstance(curve[0].log_evidence, float)
    with pytest.raises(IndexError):
        curve[200]
    curve.append(record(200))
    assert curve[200] == record(200)


def test_columns_are_those_of_the_records():
    columns = filled().columns()
    assert tuple(columns) == EvidenceRecord._fields
    np.testing.assert_array_equal(columns["num_rows"], np.arange(200))
    assert columns["warning"].tolist() == [one.warning for one in RECORDS]


def test_an_empty_curve_has_no_records():
    assert list(Curve()) == []
    assert list(Curve.restored(Curve().state())) == []


@pytest.mark.parametrize("count", [1, 30, 64, 115, 125, 300])
def test_what_is_old_is_forgotten(count):
    curve = filled()
    curve.keep_latest(count)
    assert list(curve) == RECORDS[-count:]
    curve.append(record(200, "other"))
    assert list(curve)[-1] == record(200, "other")
    assert list(Curve.restored(curve.state())) == list(curve)


def test_a_curve_of_before_there_was_a_column_is_still_read():
    state = filled().state()
    del state["numbers"]["mode_doubt"]
    assert list(Curve.restored(state)) == [one._replace(mode_doubt=0.0) for one in RECORDS]
