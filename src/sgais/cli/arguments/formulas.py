"""Formulas on the command line: `"invest ~ value + capital"`, and what is said of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from sgais.cli.arguments.assignments import value_of
from sgais.errors import ConfigError
from sgais.models.formula.families import FAMILIES
from sgais.models.formula.glm import GLM, glm

TILDE = "~"
FAMILY_OPTIONS = ("trials", "exposure", "group_form", "on_new_level")


@dataclass(frozen=True)
class FormulaFlags:
    """What is said of models that are formulas."""

    family: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILY",
            help="Of formulas: " + ", ".join(FAMILIES) + "; with options, binomial:trials=n (default: gaussian).",
            autocompletion=lambda incomplete: [name for name in FAMILIES if name.startswith(incomplete)],
        ),
    ] = None
    prior: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PRIOR", help="Of formulas, e.g. coefficients=normal(0,1); or conjugate."),
    ] = None
    levels: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=A,B,...", help="Of formulas: all levels of a category, the one to compare with first."
        ),
    ] = None


def is_formula(spec: str) -> bool:
    """Whether a model is a formula; nothing else has a tilde."""
    return TILDE in spec


def priors_of(texts: Sequence[str]) -> dict[str, str]:
    """`capital=normal(0, 1)` by name; a term may have an equals sign of its own."""
    if list(texts) == ["conjugate"]:
        return {"conjugate": ""}
    found = {}
    for text in texts:
        name, sign, prior = text.rpartition("=")
        if not (name and sign and prior):
            raise ConfigError(f"`--prior` must read NAME=PRIOR, e.g. coefficients=normal(0,1), got {text!r}.")
        found[name.strip()] = prior.strip()
    return found


def formula_model(formula: str, family: str, priors: Mapping[str, str], levels: Mapping[str, Sequence[Any]]) -> GLM:
    """The model that a formula means; levels and priors of columns that it has not are those of other formulas."""
    name, _, rest = family.partition(":")
    options: dict[str, Any] = {}
    for part in rest.split(",") if rest else []:
        option, sign, value = part.partition("=")
        if option not in FAMILY_OPTIONS or not sign:
            there_are = ", ".join(FAMILY_OPTIONS)
            raise ConfigError(f"`--family` must have options as in binomial:trials=n ({there_are}), got {part!r}.")
        options[option] = str(value_of(value))
    bare = glm(formula, name, **options)
    known = {column: values for column, values in levels.items() if column in bare.columns}
    if "conjugate" in priors:
        return glm(formula, name, "conjugate", known, **options)
    own = {of: prior for of, prior in priors.items() if bare.may_have(of)}
    return glm(formula, name, own, known, **options)


def check_used(models: Sequence[GLM], priors: Mapping[str, str], levels: Mapping[str, Sequence[Any]]) -> None:
    """Refuse priors and levels that no formula has a use for."""
    for column in levels:
        if not any(column in model.columns for model in models):
            raise ConfigError(f"`--levels` must name a column of a formula, got {column!r}.")
    for of in priors:
        if of != "conjugate" and not any(model.may_have(of) for model in models):
            raise ConfigError(f"`--prior` must name a parameter of a formula, got {of!r}.")
