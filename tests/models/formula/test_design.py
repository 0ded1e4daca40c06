import numpy as np
import pytest

import sgais

GENERATOR = np.random.default_rng(0)
ROWS = {
    "y": GENERATOR.normal(size=60),
    "x": 1e4 + 3 * GENERATOR.normal(size=60),
    "z": GENERATOR.gamma(2.0, size=60),
    "flag": GENERATOR.integers(0, 2, size=60),
    "firm": GENERATOR.choice(list("abc"), size=60),
}


def blocks(formula, rows=ROWS, **options):
    reader = sgais.glm(formula, **options).reader(rows)
    return reader, reader.read(rows)


def test_columns_are_centred_and_scaled_by_the_first_rows():
    reader, found = blocks("y ~ x + flag")
    np.testing.assert_allclose(found["x"].mean(), 0, atol=1e-9)
    np.testing.assert_allclose(found["x"].std(), 1)
    np.testing.assert_allclose(np.ptp(found["flag"]), 2)  # 0 and 1 are two scales of a half apart
    later = reader.read({name: values[:7] for name, values in ROWS.items()})
    np.testing.assert_array_equal(later["x"], found["x"][:7])


def test_without_an_intercept_nothing_is_centred():
    _, found = blocks("y ~ 0 + z")
    np.testing.assert_allclose(found["z (as it is)"][:, 0], ROWS["z"] / ROWS["z"].std())


def test_declared_scales_win():
    _, found = blocks("y ~ x + z", scales={"x": (1e4, 2.0)})
    np.testing.assert_allclose(found["x"][:, 0], (ROWS["x"] - 1e4) / 2)


def test_categories_are_coded_by_treatment_contrasts_also_in_interactions():
    reader, found = blocks("y ~ firm * z")
    assert [name for block in reader.model.parts.blocks for name in block.columns] == [
        "firm[T.b]",
        "firm[T.c]",
        "z",
        "firm[T.b]:z",
        "firm[T.c]:z",
    ]
    np.testing.assert_allclose(np.ptp(found["firm-"], axis=0), 2)
    _, full = blocks("y ~ 0 + firm")
    assert full["firm (as it is)"].shape == (60, 3)


def test_transformations_keep_the_state_of_the_first_rows():
    reader, found = blocks("y ~ poly(x, 2) + bs(z, df=4) + log(z)")
    assert [found[name].shape[1] for name in ("poly(x, 2)", "bs(z, df=4)", "log(z)")] == [2, 4, 1]
    beyond = {name: values[:3] for name, values in ROWS.items()} | {"z": np.array([50.0, 1e-3, 2.0])}
    assert np.isfinite(reader.read(beyond)["bs(z, df=4)"]).all()
    again = reader.read({name: values[:3] for name, values in ROWS.items()})
    np.testing.assert_allclose(again["poly(x, 2)"], found["poly(x, 2)"][:3])


def test_offsets_are_added_as_they_are():
    reader, found = blocks("y ~ z + offset(log(z)) + offset(flag)")
    np.testing.assert_allclose(found[reader.model.parts.offset_key], np.log(ROWS["z"]) + ROWS["flag"])


@pytest.mark.parametrize(
    ("formula", "rows", "error", "message"),
    [
        ("y ~ x + I(2 * x)", ROWS, sgais.ConfigError, r"not collinear, got 'x', 'I\(2 \* x\)'"),
        (
            "y ~ w",
            ROWS | {"w": np.full(60, 3.5)},
            sgais.DataError,
            r"'w' must vary, got 3.5 .* scales=\{'w': \(0, 1\)\}",
        ),
        ("y ~ log(w)", ROWS | {"w": np.linspace(-1, 1, 60)}, sgais.DataError, "logarithms and roots of positive"),
    ],
)
def test_columns_that_say_nothing_are_refused(formula, rows, error, message):
    with pytest.raises(error, match=message):
        blocks(formula, rows)


def test_scales_of_unknown_columns_are_refused():
    with pytest.raises(sgais.ConfigError, match="`scales` must name terms or columns of the design"):
        blocks("y ~ x", scales={"w": (0.0, 1.0)})
