"""The model that a formula becomes once the first rows are known."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.lax import Precision

from sgais.models.base import Model, Parameters, PriorPart, Rows
from sgais.models.formula.design import Block
from sgais.models.formula.families.base import IDENTITY, Family
from sgais.models.formula.groups import GroupEffects
from sgais.models.formula.response import Response

INTERCEPT = "intercept"


class Parts(NamedTuple):
    """What a formula is made of, all of it fixed.

    Attributes:
        family: How the response is distributed.
        response: How it is read.
        has_intercept: Whether there is one.
        blocks: The terms.
        groups: Coefficients that differ from group to group.
        offset_key: The column that is added; empty if there is none.
        trials_key: The column with the trials; empty if there is none.
    """

    family: Family
    response: Response
    has_intercept: bool
    blocks: Sequence[Block]
    groups: Sequence[GroupEffects]
    offset_key: str
    trials_key: str


class FormulaModel(Model):
    """A regression.

    Args:
        parts: What it is made of.
        prior: Of every parameter by name.
    """

    def __init__(self, parts: Parts, prior: Mapping[str, PriorPart]) -> None:
        self.parts = parts
        super().__init__(prior, self._log_likelihood, predictive=self._predictive)

    def in_units(self, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """Draws in the units of the data, by column of the design; leading axis draws.

        Args:
            parameters: Draws by the names of the parameters, as `particles` has them.
        """
        units, family = self.parts.response.units, self.parts.family
        size = units.scale if family.link == IDENTITY else 1.0
        found: dict[str, np.ndarray] = {}
        shift: Any = 0.0
        for block in self.parts.blocks:
            values = np.asarray(parameters[block.term], np.float64)
            scale = block.scale if values.ndim == 2 else block.scale[:, None]
            centre = block.centre if values.ndim == 2 else block.centre[:, None]
            slopes = size * values / scale
            shift = shift + (slopes * centre).sum(axis=1)
            found |= {name: slopes[:, place] for place, name in enumerate(block.columns)}
        if INTERCEPT in self.prior:
            start = units.location + size * np.asarray(parameters[INTERCEPT], np.float64)
            found = {INTERCEPT: start - shift} | found
        own = family.priors(units)
        found |= {name: np.asarray(parameters[name]) * (size if name == "scale" else 1.0) for name in own}
        for group in self.parts.groups:
            found[group.scale_name] = size * np.asarray(parameters[group.scale_name])
        return found

    def observed(self, rows: Rows) -> tuple[str, np.ndarray | None]:
        """The response, in its own units."""
        return self.parts.response.name, self.parts.response.unread(rows)

    def _log_likelihood(self, parameters: Parameters, rows: Rows) -> jax.Array:
        family, response = self.parts.family, self.parts.response
        predictor = self._predictor(parameters, rows)
        density = family.log_density(predictor, self._with_trials(parameters, rows), rows[response.key], response.units)
        return density + rows[response.slope_key] if response.slope_key else density

    def _predictive(self, parameters: Parameters, rows: Rows) -> dist.Distribution:
        """The distribution of the response, also where the formula has a transformation of it."""
        predictor, response = self._predictor(parameters, rows), self.parts.response
        found = self.parts.family.distribution(predictor, self._with_trials(parameters, rows), response.units)
        return response.untransformed(found)

    def _predictor(self, parameters: Parameters, rows: Rows) -> jax.Array:
        """The linear predictor, shape (rows,), or (classes - 1, rows)."""
        parts = self.parts
        several = parts.family.num_predictors(parts.response.units) > 1
        predictor = parameters.get(INTERCEPT, jnp.zeros(()))
        if several:
            predictor = jnp.broadcast_to(predictor, (parts.family.num_predictors(parts.response.units),))[:, None]
        if parts.blocks:
            design = jnp.concatenate([rows[block.key] for block in parts.blocks], axis=1)
            coefficients = jnp.concatenate([parameters[block.term] for block in parts.blocks])
            product = jnp.dot(design, coefficients, precision=Precision.HIGHEST)
            predictor = predictor + (product.T if several else product)
        if parts.offset_key:
            scale = parts.response.units.scale if parts.family.link == IDENTITY else 1.0
            predictor = predictor + rows[parts.offset_key] / scale
        for group in parts.groups:
            predictor = group.add_to(predictor, parameters, rows)
        return predictor

    def _with_trials(self, parameters: Parameters, rows: Rows) -> Parameters:
        return parameters | {"trials": rows[self.parts.trials_key]} if self.parts.trials_key else parameters
