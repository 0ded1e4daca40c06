"""Formulas among the words of a command."""

import pytest

from sgais.cli.arguments.formulas import priors_of
from sgais.cli.arguments.model_specs import models_of, named_specs
from sgais.cli.arguments.settings import Settings
from sgais.errors import ConfigError


def test_a_formula_is_its_own_name_unless_it_has_one():
    texts = ["y ~ bs(x, df=4)", "smooth=y ~ bs(x, df=5)", "five=gaussian-mixture:components=5"]
    assert named_specs(texts) == {
        "y ~ bs(x, df=4)": "y ~ bs(x, df=4)",
        "smooth": "y ~ bs(x, df=5)",
        "five": "gaussian-mixture:components=5",
    }


def test_each_formula_gets_the_priors_and_levels_that_it_has_a_use_for():
    settings = Settings(
        {"a": "y ~ x", "b": "y ~ x + bs(z, df=4) + C(g)"},
        "rows.csv",
        family="negative-binomial:exposure=days",
        prior=priors_of(["x=normal(0, 2)", "bs(z, df=4)=normal(0, 1)", "overdispersion=half_normal(2)"]),
        levels={"g": ["1", "2"]},
    )
    models = models_of(settings)
    assert set(models["a"].priors) == {"x", "overdispersion"}
    assert set(models["b"].priors) == {"x", "bs(z, df=4)", "overdispersion"}
    assert models["b"].options.levels == {"g": ["1", "2"]}
    assert models["a"].columns == ("y", "x", "days")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": {"q": "normal(0, 1)"}}, "`--prior` must name a parameter of a formula, got 'q'"),
        ({"levels": {"q": ["a"]}}, "`--levels` must name a column of a formula, got 'q'"),
        ({"family": "poisson:exposre=days"}, "`--family` must have options"),
        ({"family": "poison"}, "Did you mean 'poisson'"),
    ],
)
def test_what_no_formula_has_a_use_for_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        models_of(Settings({"a": "y ~ x"}, "rows.csv", **settings))


def test_a_prior_without_a_name_is_refused():
    with pytest.raises(ConfigError, match="`--prior` must read NAME=PRIOR"):
        priors_of(["normal(0, 1)"])
