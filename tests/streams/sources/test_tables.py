import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sgais import stream
from sgais.errors import DataError

SPECIES = ["b", "a", "b", None]
CATEGORICAL = {
    "pandas": lambda: pd.DataFrame({"y": pd.Categorical(SPECIES, categories=["b", "a"])}),
    "polars": lambda: pl.DataFrame({"y": pl.Series(SPECIES, dtype=pl.Enum(["b", "a"]))}),
    "arrow": lambda: pa.table({"y": pa.DictionaryArray.from_arrays([0, 1, 0, None], ["b", "a"])}),
}
TEXT = {
    "arrays": lambda: {"y": np.array(SPECIES, dtype=object)},
    "pandas": lambda: pd.DataFrame({"y": SPECIES}),
    "polars": lambda: pl.DataFrame({"y": SPECIES}),
    "arrow": lambda: pa.table({"y": SPECIES}),
    "rows": lambda: [{"y": name} for name in SPECIES],
}


@pytest.mark.parametrize("make", CATEGORICAL.values(), ids=CATEGORICAL)
def test_declared_categories_are_the_labels(make):
    rows = stream(make(), on_error="skip")
    np.testing.assert_array_equal(next(rows)["y"], [0, 1, 0])
    assert rows.num_bad_rows == 1
    np.testing.assert_array_equal(next(stream(make(), 3, categories={"y": ["a", "b"]}))["y"], [1, 0, 1])
    with pytest.raises(DataError, match="row 1 column 'y' must be one of the categories, got 'a'"):
        list(stream(make(), categories={"y": ["b"]}))
    with pytest.raises(DataError, match="row 3 column 'y' is missing"):
        list(stream(make(), 3))


@pytest.mark.parametrize("make", TEXT.values(), ids=TEXT)
def test_text_needs_categories(make):
    with pytest.raises(DataError, match="row 0 column 'y' must be a number, got 'b'"):
        list(stream(make()))
    rows = stream(make(), on_error="skip", categories={"y": ["a"]})
    np.testing.assert_array_equal(next(rows)["y"], [0])
    assert rows.num_bad_rows == 3


def test_categories_of_numbers_are_found_as_text_too(tmp_path):
    (tmp_path / "d.csv").write_text("y\n3\n1\n2\n")
    for source in (tmp_path / "d.csv", {"y": [3, 1, 2]}, [{"y": 3}, {"y": 1}, {"y": 2}]):
        np.testing.assert_array_equal(next(stream(source, categories={"y": [1, 2, 3]}))["y"], [2, 0, 1])


@pytest.mark.parametrize("values", [[True, False], [datetime.date(2020, 1, 1)] * 2], ids=["bool", "date"])
@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame], ids=["arrow", "polars", "pandas"])
def test_other_types_are_refused_by_column(make, values):
    with pytest.raises(DataError, match="column 'y'.* must "):
        list(stream(make({"y": values})))


def test_lists_of_one_length_are_vectors():
    vectors = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0, 4.0]), 2)
    for table in (pa.table({"x": vectors}), pl.DataFrame({"x": [[1.0, 2.0], [3.0, 4.0]]})):
        np.testing.assert_array_equal(next(stream(table))["x"], [[1, 2], [3, 4]])


def test_pandas_types_of_missing_values():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, np.nan]})
    rows = stream(frame, on_error="skip")
    assert {name: values.tolist() for name, values in next(rows).items()} == {"a": [1.0], "b": [1.0]}
    assert rows.num_bad_rows == 2


def test_a_lazy_frame_and_two_columns_of_one_name_are_refused():
    with pytest.raises(DataError, match=r"got a LazyFrame. Call .collect\(\)"):
        stream(pl.LazyFrame({"y": [1.0]}))
    with pytest.raises(DataError, match="must name each column once, got 'a'"):
        stream(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_an_empty_table_is_refused():
    for table in (pa.table({"y": pa.array([], pa.float64())}), pd.DataFrame({"y": []}), pl.DataFrame({"y": []})):
        with pytest.raises(DataError, match="table` must have at least one row, got none"):
            stream(table)


def test_a_record_batch_and_a_masked_array_are_sources():
    batch = pa.record_batch({"y": [1.0, 2.0]})
    np.testing.assert_array_equal(next(stream(batch))["y"], [1, 2])
    rows = stream({"y": np.ma.MaskedArray([1, 2, 3], [False, True, False])}, on_error="skip")
    np.testing.assert_array_equal(next(rows)["y"], [1, 3])
