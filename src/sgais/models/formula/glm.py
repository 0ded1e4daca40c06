"""`sgais.glm`: a regression from a formula."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpyro.distributions as dist

from sgais.errors import CheckpointError, ConfigError, DataError, require
from sgais.fields import Field, Fields
from sgais.models.base import PriorPart
from sgais.models.formula import description
from sgais.models.formula.columns import ERROR, OTHER, Kind, kinds_of, table_of
from sgais.models.formula.conjugate import conjugate_priors
from sgais.models.formula.families import FAMILIES
from sgais.models.formula.families.base import Family, Units
from sgais.models.formula.model import INTERCEPT, FormulaModel, Parts
from sgais.models.formula.parsing import Formula, parse
from sgais.models.formula.priors import Prior, as_prior, widened
from sgais.models.formula.reader import GROUP_FORMS, FormulaReader

COEFFICIENTS, GROUPS = "coefficients", "groups"
CONJUGATE = "conjugate"


def glm(
    formula: str,
    family: str = "gaussian",
    priors: Mapping[str, Prior] | str | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    scales: Mapping[str, tuple[float, float]] | None = None,
    on_new_level: str = ERROR,
    trials: str | None = None,
    exposure: str | None = None,
    group_form: str = "auto",
) -> "GLM":
    """A regression from a formula, for data frames, streams, dictionaries of columns: whatever has the columns.

    Args:
        formula: As in R: `"invest ~ value * capital + C(region) + poly(age, 2) + (1 | firm)"`. Text is coded by
            treatment contrasts; no formula ever runs code.
        family: "gaussian" and "student-t" (with a scale to be found), "bernoulli", "binomial", "categorical",
            "ordinal", "poisson", "negative-binomial" or "gamma".
        priors: NumPyro distributions, or text such as `"normal(0, 2)"`, by what they are of: `"intercept"`,
            `"coefficients"`, a term of the formula, a parameter of the family (`"scale"`), `"groups"` or
            `"firm_scale"`. All count in the units that the model prints. `"conjugate"` is the normal-inverse-gamma
            prior of the Gaussian family, under which log Z is known exactly.
        levels: All levels of columns of categories, in order; the first is what others are compared with. If omitted,
            those of the first rows.
        scales: Centre and scale of columns of the design, or of the response; if omitted, mean and standard deviation
            of the first 500 rows at most.
        on_new_level: What a level that was not there means: "error", or "other", a level of its own for all of them.
        trials: The column with the number of trials, for the binomial family.
        exposure: The column that a mean count is proportional to: short for `offset(log(...))`.
        group_form: How coefficients of groups are parameters: "auto", "centred" (themselves) or "non-centred" (as
            multiples of their scale). Log Z is the same; how easy it is to find is not.

    Example:
        >>> model = sgais.glm("y ~ a + b", family="poisson")
        >>> generator = np.random.default_rng(0)
        >>> rows = {"a": generator.normal(size=200), "b": generator.normal(size=200), "y": generator.poisson(2.0, 200)}
        >>> evidence = sgais.OnlineEvidence(model)
        >>> evidence.update(rows).num_rows
        200
    """
    return GLM(formula, Options(family, priors, levels or {}, scales or {}, on_new_level, trials, exposure, group_form))


class Options(NamedTuple):
    """What `glm` was told beside the formula, and how much wider than that the priors of coefficients are to be."""

    family: str = "gaussian"
    priors: Mapping[str, Prior] | str | None = None
    levels: Mapping[str, Sequence[Any]] = {}
    scales: Mapping[str, tuple[float, float]] = {}
    on_new_level: str = ERROR
    trials: str | None = None
    exposure: str | None = None
    group_form: str = "auto"
    prior_scale: float = 1.0


class GLM:
    """A regression that waits for its first rows. Made by `sgais.glm`.

    Attributes:
        formula: Taken apart.
        family: Of the response.
        options: What it was told.
    """

    def __init__(self, formula: str, options: Options) -> None:
        self.options = options
        self.text = formula
        if options.family not in FAMILIES:
            near = difflib.get_close_matches(str(options.family), FAMILIES, n=1)
            cure = f"Did you mean {near[0]!r}?" if near else ""
            require(False, "family", f"be one of {', '.join(FAMILIES)}", options.family, cure)
        self.family: Family = FAMILIES[options.family]
        self.formula: Formula = parse(
            formula if options.exposure is None else f"{formula} + offset(log(`{options.exposure}`))"
        )
        self._check_options()
        self.is_conjugate = options.priors == CONJUGATE
        given = {} if self.is_conjugate or options.priors is None else options.priors
        require(isinstance(given, Mapping), "priors", "be a dictionary by name, or 'conjugate'", options.priors)
        assert isinstance(given, Mapping)
        self.priors = {name: as_prior(name, prior) for name, prior in given.items()}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that it needs."""
        more = (self.options.trials,) if self.options.trials else ()
        return (*self.formula.columns, *more)

    @property
    def fields(self) -> None:
        """Nobody has said yet what rows hold, once they are read."""

    @property
    def bound(self) -> None:
        """There is no model before the first rows."""

    @property
    def source_fields(self) -> Fields:
        """The columns that rows must have before they are read, for `sgais.stream(source, fields=...)`."""
        return {name: Field(is_as_it_comes=True) for name in self.columns}

    def bind(self, rows: object) -> FormulaModel:
        """The model that these first rows fix."""
        return self.reader(rows).model

    def reader(self, rows: object) -> FormulaReader:
        """How rows are read, as these first ones fix it."""
        table = table_of(rows, self.columns, self.text)
        return FormulaReader(self, table, self._kinds(table), None)

    def restored_reader(self, state: dict[str, Any]) -> FormulaReader:
        """The reader of a checkpoint."""
        kinds = {name: Kind(kind, tuple(levels)) for name, (kind, levels) in state["kinds"].items()}
        table = {name: np.array(values, object) for name, values in state["first_rows"].items()}
        if set(kinds) != set(self.columns):
            raise CheckpointError(
                f"`model` must be the one that was saved, with the columns {sorted(kinds)}, got {sorted(self.columns)}"
                ". Pass the same formula."
            )
        location, scale, levels = state["units"]
        return FormulaReader(self, table, kinds, Units(location, scale, tuple(levels)))

    def may_have(self, name: str) -> bool:
        """Whether there may be a parameter, or a group of them, with this name."""
        groups = [f"{group.by}_{part}" for group in self.formula.groups for part in ("scale", "effects")]
        own = self.family.priors(Units(0.0, 1.0, ("0", "1", "2")))
        return name in (INTERCEPT, COEFFICIENTS, GROUPS, *self.formula.terms, *groups, *own)

    def with_prior_scale(self, factor: float) -> "GLM":
        """The same with priors of the coefficients that are so many times as wide."""
        return GLM(self.text, self.options._replace(prior_scale=self.options.prior_scale * factor))

    def prior(self, parts: Parts) -> dict[str, PriorPart]:
        """The prior of every parameter by name."""
        if self.is_conjugate:
            return conjugate_priors(parts, self.options.prior_scale)
        units, family = parts.response.units, parts.family
        factor = self.options.prior_scale
        base = self.priors.get(COEFFICIENTS, dist.Normal(0.0, family.coefficient_scale))
        several = family.num_predictors(units)
        found: dict[str, PriorPart] = {}
        if parts.has_intercept:
            found[INTERCEPT] = _of_shape(
                self.priors.get(INTERCEPT, dist.Normal(0.0, family.coefficient_scale)), [several] if several > 1 else []
            )
        for block in parts.blocks:
            chosen = widened(block.term, self.priors.get(block.term, base), factor)
            found[block.term] = _of_shape(chosen, [len(block.columns), *([several] if several > 1 else [])])
        for name, default in family.priors(units).items():
            found[name] = self.priors.get(name, default)
        for group in parts.groups:
            scale_prior = self.priors.get(group.scale_name, self.priors.get(GROUPS, dist.HalfNormal(1.0)))
            found |= group.priors(scale_prior)
        unknown = [name for name in self.priors if name not in (*found, COEFFICIENTS, GROUPS)]
        if unknown:
            near = difflib.get_close_matches(unknown[0], found, n=1, cutoff=0.5)
            cure = f"Did you mean {near[0]!r}?" if near else ""
            require(False, "priors", f"name parameters, {[*found, COEFFICIENTS, GROUPS]}", unknown[0], cure)
        return found

    def __str__(self) -> str:
        return description.unbound(self.text, self.family, self.options)

    def __repr__(self) -> str:
        family = "" if self.options.family == "gaussian" else f", family={self.options.family!r}"
        return f"glm({self.text!r}{family})"

    def _kinds(self, table: Mapping[str, np.ndarray]) -> dict[str, Kind]:
        response = self.formula.response.columns[0] if self.formula.response.columns else ""
        has_classes = self.family.has_classes
        kinds = kinds_of(self.formula, table, self.options.levels, {response} if has_classes else set())
        if self.options.on_new_level == OTHER:
            for name, kind in kinds.items():
                if kind.name == "category" and not (has_classes and name == response) and OTHER not in kind.levels:
                    kinds[name] = Kind("category", (*kind.levels, OTHER))
        if not has_classes and kinds[response].name != "number":
            found = kinds[response].levels[0] if kinds[response].levels else "dates"
            raise DataError(
                f"the response {response!r} must hold numbers for family={self.family.name!r}, got {found!r}. Choose "
                "bernoulli, categorical or ordinal for text."
            )
        is_text = not all(level.lstrip("-").replace(".", "").isdigit() for level in kinds[response].levels)
        if self.family.name == "ordinal" and is_text and response not in self.options.levels:
            raise DataError(
                f"the response {response!r} must have an order for family='ordinal', got "
                f"{list(kinds[response].levels)}. Declare it: levels={{{response!r}: [lowest, ..., highest]}}."
            )
        return kinds

    def _check_options(self) -> None:
        options = self.options
        require(options.on_new_level in (ERROR, OTHER), "on_new_level", "be 'error' or 'other'", options.on_new_level)
        require(options.group_form in GROUP_FORMS, "group_form", f"be one of {list(GROUP_FORMS)}", options.group_form)
        for name, value in (("levels", options.levels), ("scales", options.scales)):
            require(isinstance(value, Mapping), name, "be a dictionary by column", value)
        has_trials = options.trials is not None
        require(
            has_trials == self.family.needs_trials,
            "trials",
            "name a column for the binomial family alone",
            options.trials,
        )
        is_for_counts = options.exposure is None or self.family.link == "log"
        require(is_for_counts, "exposure", "come with a family of counts or gamma", options.exposure)
        several = self.family.name == "categorical"
        require(not (several and self.formula.groups), "formula", "have no groups with family='categorical'", self.text)
        can_be_conjugate = options.priors != CONJUGATE or (self.family.name == "gaussian" and not self.formula.groups)
        require(
            can_be_conjugate, "priors", "be 'conjugate' only for the Gaussian family without groups", options.priors
        )
        is_taken = [
            name for name in self.formula.terms if name in (INTERCEPT, *self.family.priors(Units(0.0, 1.0, ("0", "1"))))
        ]
        if is_taken:
            raise ConfigError(
                f"`formula` must have terms with names unlike those of parameters, got {is_taken[0]!r}. "
                "Rename the column."
            )


def _of_shape(prior: dist.Distribution, shape: list[int]) -> dist.Distribution:
    return prior.expand(shape).to_event(len(shape)) if shape else prior
