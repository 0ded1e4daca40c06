import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sgais
from sgais.models.formula.columns import label_of, sorted_levels

ROWS = {
    "y": [1.0, 3.0, 2.0, 5.0],
    "firm": ["b", "a", "b", "c"],
    "flag": [True, False, True, True],
    "more": list("wxyz"),
}
MODEL = sgais.glm("y ~ firm + flag")


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows,
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda rows: pd.DataFrame(rows).astype({"firm": "category"}),
        lambda rows: pd.DataFrame(rows).to_dict("records"),
        lambda rows: {name: np.array(values) for name, values in rows.items()},
        lambda rows: rows | {"flag": ["1", "0", "1", "1"], "y": ["1", "3.0", "2", "5e0"]},
    ],
    ids=["lists", "pandas", "polars", "arrow", "categories", "rows", "arrays", "text"],
)
def test_the_same_rows_in_any_form_are_read_alike(make):
    expected = MODEL.reader(ROWS).read(ROWS)
    rows = make(ROWS)
    found = MODEL.reader(rows).read(rows)
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values)


def test_one_row_is_a_row():
    reader = MODEL.reader(ROWS)
    found = reader.read({"y": 3.0, "firm": "a", "flag": False, "anything": "else"})
    np.testing.assert_array_equal(found["firm-"], reader.read(ROWS)["firm-"][1:2])


def test_a_number_is_the_same_level_however_it_is_written():
    assert {label_of(cell) for cell in (7, 7.0, "7", "7.0", np.float32(7))} == {"7"}
    assert {label_of(cell) for cell in (True, "True", "true", np.True_)} == {"true"}
    assert sorted_levels(["10", "9", "2.5"]) == ("2.5", "9", "10")


@pytest.mark.parametrize(
    ("formula", "rows", "message"),
    [
        (
            "y ~ valu",
            {"y": [1.0], "value": [2.0]},
            "must have the column 'valu' of 'y ~ valu', .* Did you mean 'value'",
        ),
        ("y ~ x", {"y": [1.0, 2.0], "x": [1.0]}, "one entry per column"),
        ("y ~ x", {"y": [1.0, np.nan, 3.0], "x": [1.0, 2.0, 4.0]}, "column 'y' is missing in row 1"),
        ("y ~ x", {"y": [1.0, 2.0, 3.0], "x": ["a", "", "b"]}, "column 'x' is missing in row 1"),
        ("y ~ year(x)", {"y": [1.0, 2.0], "x": ["soon", "later"]}, "column 'x' must hold dates"),
        ("y ~ x", {"y": ["much", "little", "much"], "x": [1.0, 2.0, 4.0]}, "must hold numbers for family='gaussian'"),
    ],
)
def test_what_is_wrong_with_rows_is_said(formula, rows, message):
    with pytest.raises(sgais.DataError, match=message):
        sgais.glm(formula).reader(rows)


def test_a_new_level_is_an_error_that_names_the_cure():
    reader = MODEL.reader(ROWS)
    new = {"y": [1.0], "firm": ["d"], "flag": [True]}
    with pytest.raises(sgais.DataError, match=r"'a', 'b', 'c', got 'd' in row 0. .* levels=\{'firm': .*on_new_level"):
        reader.read(new)
    declared = sgais.glm("y ~ firm + flag", levels={"firm": ["a", "b", "c", "d"]})
    assert declared.reader(ROWS).read(new)["firm-"].shape == (1, 3)


def test_new_levels_can_be_one_level_of_their_own():
    reader = sgais.glm("y ~ firm + flag", on_new_level="other").reader(ROWS)
    new = reader.read({"y": [1.0, 2.0], "firm": ["d", "e"], "flag": [True, True]})["firm-"]
    assert new.shape == (2, 3)
    np.testing.assert_array_equal(new[0], new[1])


def test_parts_of_dates():
    dates = ["2024-02-29", "2025-01-01", "2023-12-31", "2024-06-15 18:30", "2022-03-04", "2021-07-09"]
    rows = {"y": [1.0, 2.0, 4.0, 3.0, 1.0, 0.0], "when": dates}
    formula = "y ~ year(when) + weekday(when)"
    reader = sgais.glm(formula, scales={"year(when)": (0.0, 1.0)}).reader(rows)
    assert reader.read(rows)["year(when)"][:, 0].tolist() == [2024.0, 2025.0, 2023.0, 2024.0, 2022.0, 2021.0]
    days = [name for block in reader.model.parts.blocks for name in block.columns][1:]
    assert days[0] == "weekday(when)[T.Tuesday]"
    assert len(days) == 6
