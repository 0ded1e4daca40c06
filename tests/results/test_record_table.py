import numpy as np
import pytest

from sgais.results.record_table import BLOCK_ROWS, GrowingTable

COUNT = 2 * BLOCK_ROWS + 1  # rows: two full blocks and a begun one


def filled():
    table = GrowingTable({"number": int, "half": float})
    for number in range(COUNT):
        table.append((number, number / 2))
    return table


def test_rows_come_back_as_they_were():
    table = filled()
    assert len(table) == COUNT
    assert table[BLOCK_ROWS] == {"number": BLOCK_ROWS, "half": BLOCK_ROWS / 2}
    assert table[-1] == {"number": COUNT - 1, "half": (COUNT - 1) / 2}
    assert isinstance(table[0]["number"], int)
    with pytest.raises(IndexError):
        table[COUNT]


def test_columns_make_the_same_table():
    columns = filled().columns()
    np.testing.assert_array_equal(columns["number"], np.arange(COUNT))
    again = GrowingTable({"number": int, "half": float})
    again.extend(columns)
    again.append((COUNT, 0.0))
    assert again[COUNT - 1] == filled()[COUNT - 1]
    assert len(again) == COUNT + 1


def test_an_empty_table():
    table = GrowingTable({"number": int})
    assert len(table) == 0
    assert table.columns()["number"].shape == (0,)
