import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sgais import stream
from sgais.errors import DataError


def test_files_of_different_schemas_are_refused_by_name_and_column(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "y": [1.0]}), tmp_path / "one.parquet")
    pq.write_table(pa.table({"a": [1.0], "y": [1]}), tmp_path / "two.parquet")
    with pytest.raises(DataError, match="column 'y' as double in .*one.parquet and as int64 in .*two.parquet"):
        stream(tmp_path)
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "two.parquet")
    with pytest.raises(DataError, match="column 'y' as double in .*one.parquet and as no such column in .*two.parquet"):
        stream(tmp_path, on_error="skip")


def test_what_is_not_parquet_is_refused(tmp_path):
    with pytest.raises(DataError, match="none there"):
        stream(tmp_path)
    (tmp_path / "text.parquet").write_text("a,y\n1,2\n")
    with pytest.raises(DataError, match="must be a Parquet file that can be read, got .*text.parquet"):
        stream(tmp_path)
    pq.write_table(pa.table({"y": pa.array([], pa.float64())}), tmp_path / "text.parquet")
    with pytest.raises(DataError, match="must have at least one row, got none"):
        stream(tmp_path / "text.parquet")


def test_only_the_rows_and_columns_asked_for_are_read(tmp_path):
    """The pages before the start, and those of another column, are overwritten: nobody may look at them."""
    path = tmp_path / "d.parquet"
    data = {"y": np.arange(1000.0), "other": np.arange(1000.0)}
    pq.write_table(pa.table(data), path, row_group_size=100, compression="none", use_dictionary=False)
    metadata = pq.read_metadata(path)
    damaged = bytearray(path.read_bytes())
    for group, column in [*((group, 0) for group in range(5)), *((group, 1) for group in range(10))]:
        pages = metadata.row_group(group).column(column)
        damaged[pages.data_page_offset : pages.data_page_offset + pages.total_compressed_size] = bytes(
            pages.total_compressed_size
        )
    path.write_bytes(damaged)
    chunks = list(stream(path, 150, y="y").seek(550))
    np.testing.assert_array_equal(np.concatenate([chunk["y"] for chunk in chunks]), np.arange(550.0, 1000.0))
    with pytest.raises(DataError, match="can be read, got .*d.parquet"):
        next(stream(path, y="y"))


def test_missing_values_leave_integers_what_they_are(tmp_path):
    pq.write_table(pa.table({"y": pa.array([1, None, 3], pa.int64())}), tmp_path / "d.parquet")
    rows = stream(tmp_path / "d.parquet", on_error="skip")
    chunk = next(rows)
    assert chunk["y"].dtype == np.int64
    np.testing.assert_array_equal(chunk["y"], [1, 3])


def test_categories_keep_their_declared_order(tmp_path):
    species = pd.Categorical(["b", "c", "b", "a"] * 50, categories=["c", "b", "a"])
    pd.DataFrame({"y": species}).to_parquet(tmp_path / "d.parquet", row_group_size=30)
    labels = np.concatenate([chunk["y"] for chunk in stream(tmp_path / "d.parquet", 7)])
    np.testing.assert_array_equal(labels, [1, 0, 1, 2] * 50)


def test_files_that_declare_other_categories_need_one_order_for_all(tmp_path):
    for name, categories in {"one": ["a", "b"], "two": ["b", "a"]}.items():
        frame = pd.DataFrame({"y": pd.Categorical(["a", "b"], categories=categories)})
        frame.to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match=r"'y' .* must keep its categories, got \['a', 'b'\] and later \['b', 'a'\]"):
        list(stream(tmp_path, 2))
    chunks = list(stream(tmp_path, 2, categories={"y": ["b", "a"]}))
    np.testing.assert_array_equal(np.concatenate([chunk["y"] for chunk in chunks]), [1, 0, 1, 0])
