"""A formula is no way to run code."""

import pytest

import sgais
from sgais.models.formula.parsing import parse

ATTEMPTS = [
    "y ~ open('here')",
    "y ~ __import__('os').system('touch here')",
    "y ~ {open('here', 'w')}",
    "y ~ I(x.__class__.__mro__)",
    "y ~ I(().__class__)",
    "y ~ I(x)(y)",
    "y ~ I([y for y in x])",
    "y ~ I(lambda: x)",
    "y ~ I(x if x else z)",
    "y ~ I(x := 2)",
    "y ~ I(f'{x}')",
    "y ~ I(x @ z)",
    "y ~ I(x[0])",
    "y ~ np.load(x)",
    "y ~ Q('x')",
    "y ~ C(x, contr.sum)",
    "y ~ poly(x, degree=y)",
    "y ~ poly(x, _state=y)",
    "y ~ I(10**10**10)",
    "eval('1') ~ x",
    "y ~ offset(eval('1'))",
    "y ~ x + (exec('1') | firm)",
]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_code_is_refused_before_anything_is_evaluated(attempt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sgais.ConfigError, match="`formula` must"):
        parse(attempt)
    assert list(tmp_path.iterdir()) == []


def test_a_name_in_backticks_is_a_column_whatever_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "__import__('os').system('touch here')"
    model = sgais.glm(f"y ~ log(`{name}`)")
    rows = {"y": [1.0, 2.0, 4.0, 3.0], name: [1.0, 2.0, 3.0, 5.0]}
    assert model.reader(rows).read(rows)[f"log(`{name}`)"].shape == (4, 1)
    assert list(tmp_path.iterdir()) == []


def test_an_attribute_is_but_the_name_of_a_column():
    with pytest.raises(sgais.DataError, match="must have the column 'x.__class__'"):
        sgais.glm("y ~ x.__class__").reader({"y": [1.0, 2.0], "x": [1.0, 3.0]})
    rows = {"y": [1.0, 2.0, 4.0], "x.__class__": [1.0, 3.0, 5.0], "x": [0.0, 0.0, 0.0]}
    assert sgais.glm("y ~ x.__class__").reader(rows).read(rows)["x.__class__"].shape == (3, 1)


def test_an_unknown_function_is_named_with_the_nearest():
    with pytest.raises(sgais.ConfigError, match="got 'logg' in 'logg\\(x\\)'. Did you mean 'log'"):
        parse("y ~ logg(x)")
