import numpy as np
import pandas as pd
import pytest

from sgais.errors import ConfigError, DataError
from sgais.fields import Field, check_chunk, infer_fields

FIELDS = {"x": Field(shape=(2,)), "y": Field(is_integer=True, num_classes=3)}
FLOAT32 = np.dtype(np.float32)


def good_chunk():
    return {"x": np.arange(8.0).reshape(4, 2), "y": np.array([0, 1, 2, 0])}


def test_a_good_chunk_comes_back_in_the_models_dtypes():
    checked = check_chunk(good_chunk(), FIELDS, FLOAT32)
    assert checked["x"].dtype == np.float32
    assert checked["y"].dtype == np.int32
    assert checked["x"].flags.c_contiguous


def test_a_bare_array_is_the_column_y():
    checked = check_chunk([1.0, 2.0], {"y": Field()}, FLOAT32)
    np.testing.assert_array_equal(checked["y"], [1.0, 2.0])


def test_one_feature_may_come_as_a_vector():
    assert check_chunk([1.0, 2.0], {"y": Field(shape=(1,))}, FLOAT32)["y"].shape == (2, 1)


def test_fields_are_read_off_a_chunk():
    assert infer_fields(good_chunk()) == {"x": Field(shape=(2,)), "y": Field(is_integer=True)}


def test_whole_floats_are_labels():
    chunk = good_chunk() | {"y": np.array([0.0, 1.0, 2.0, 0.0])}
    np.testing.assert_array_equal(check_chunk(chunk, FIELDS, FLOAT32)["y"], [0, 1, 2, 0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"x": np.array([[0, 1], [np.nan, 1], [0, 0], [1, 1]])},
            r"'x'.*nan in row 1.*missing or infinite.*Clean or drop",
        ),
        ({"x": np.array([[0, 1], [0, 1], [0, np.inf], [1, 1]])}, r"'x'.*inf in row 2"),
        ({"x": np.full((4, 2), 1e300)}, r"'x'.*1e\+300 in row 0.*too large for float32"),
        ({"x": np.zeros((4, 3))}, r"'x' must have rows of shape \(2,\), got \(3,\).*transpose"),
        ({"x": np.zeros((3, 2))}, r"equal length, got \{'x': 3, 'y': 4\}"),
        ({"y": np.array([0, 1, 3, 0])}, r"'y'.*from 0 to 2, got 3 in row 2.*subtract 1"),
        ({"y": np.array([0, -1, 2, 0])}, r"got -1 in row 1"),
        ({"y": np.array([0, 0.5, 2, 0])}, r"got 0.5 in row 1"),
        ({"y": np.array(["a", "b", "c", "a"])}, r"'y' must hold numbers, got dtype.*labels"),
        ({"y": np.array([0, None, 1, 2], dtype=object)}, r"'y' must hold numbers, got dtype object"),
        ({"y": 3}, r"'y' must have one entry per row"),
        ({"y": np.array([True, False, True, True])}, r"'y' must hold numbers, got bool.*astype"),
        ({"x": np.ma.masked_less(np.arange(8.0).reshape(4, 2), 3)}, r"'x' has masked values.*Drop their rows"),
        ({"x": [[1, 2], [3]]}, r"'x' is ragged"),
        ({"x": np.zeros((0, 2)), "y": np.zeros(0, int)}, r"at least one row"),
        ({"z": np.zeros(4)}, r"knows no 'z'. Drop it"),
    ],
)
def test_bad_columns_are_refused_by_name(change, message):
    with pytest.raises(DataError, match=message):
        check_chunk(good_chunk() | change, FIELDS, FLOAT32)


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match=r"\['x', 'y'\], got \['X', 'y'\]: 'x' is missing"):
        check_chunk({"X": np.zeros((1, 2)), "y": np.zeros(1, int)}, FIELDS, FLOAT32)


def test_an_empty_dictionary_is_refused():
    with pytest.raises(DataError, match="at least one column"):
        check_chunk({}, FIELDS, FLOAT32)


def test_tables_and_rows_may_have_more_columns_than_a_model_wants():
    rows = [{"y": 1.0, "z": 2.0, "note": "nothing"}, {"y": 3.0, "z": 4.0, "note": "to no purpose"}]
    for form in (pd.DataFrame(rows), rows):
        found = check_chunk(form, {"y": Field(), "z": Field()}, FLOAT32)
        assert {name: values.tolist() for name, values in found.items()} == {"y": [1.0, 3.0], "z": [2.0, 4.0]}
    assert check_chunk(rows[1], {"y": Field(), "z": Field()}, FLOAT32)["z"].tolist() == [4.0]


def test_a_column_that_a_table_has_not_is_missing():
    with pytest.raises(DataError, match="'y' is missing"):
        check_chunk(pd.DataFrame({"a": [1.0]}), {"y": Field()}, FLOAT32)


def test_integers_beyond_int32_are_refused():
    with pytest.raises(DataError, match="whole numbers"):
        check_chunk({"y": np.array([2**40])}, {"y": Field(is_integer=True)}, FLOAT32)


@pytest.mark.parametrize("arguments", [{"shape": 5}, {"shape": [2]}, {"shape": (0,)}, {"num_classes": 3}])
def test_impossible_fields_are_refused(arguments):
    with pytest.raises(ConfigError, match="must"):
        Field(**arguments)
