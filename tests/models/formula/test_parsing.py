import pytest

import sgais
from sgais.models.formula.parsing import Group, parse


def test_a_formula_is_taken_apart():
    formula = parse("log(invest) ~ value * capital + C(region) + offset(log(size)) + (value | firm)")
    assert formula.response.text == "log(invest)"
    assert formula.has_intercept
    assert list(formula.terms) == ["value", "capital", "C(region)", "value:capital"]
    assert formula.groups == (Group("firm", True, ("value",), True),)
    assert [offset.columns for offset in formula.offsets] == [("size",)]
    assert formula.columns == ("invest", "value", "capital", "region", "size", "firm")
    assert formula.categories == {"region", "firm"}


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("y ~ (1 | firm)", Group("firm", True, (), False)),
        ("y ~ x + (x || firm)", Group("firm", True, ("x",), False)),
        ("y ~ x + (0 + x | firm)", Group("firm", False, ("x",), False)),
        ("y ~ (1 | firm:year) + x - 1", Group("firm:year", True, (), False)),
    ],
)
def test_groups(text, group):
    assert parse(text).groups == (group,)


def test_names_that_are_no_identifiers_are_quoted():
    formula = parse("`net income` ~ log(`total assets`)")
    assert formula.columns == ("net income", "total assets")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("y", "must read RESPONSE ~ TERMS"),
        ("~ x", "must read RESPONSE ~ TERMS"),
        ("y ~ x ~ z", "must read RESPONSE ~ TERMS"),
        ("y ~ x | firm", r"groups in parentheses, as in \(1 \| firm\)"),
        ("y ~ z + (x | firm)", r"Add '\+ x'"),
        ("y ~ log(x", "must be one that can be read"),
        ("y ~ 2:x", "must multiply columns, got the number 2"),
        ("y ~ (a + b + c)**9", "to the power of 3 at most"),
        ("y ~ x:offset(z)", "offsets as terms of their own"),
        ("y ~ (1 | log(x))", "group by a column"),
    ],
)
def test_what_cannot_be_read_is_refused(text, message):
    with pytest.raises(sgais.ConfigError, match=message):
        parse(text)
