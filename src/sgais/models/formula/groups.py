"""Coefficients that differ from group to group: `(1 | firm)` and `(x | firm)`."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from sgais.models.base import Parameters, PriorPart, Rows
from sgais.models.formula.columns import Kind, as_codes
from sgais.models.formula.design import Block
from sgais.models.formula.parsing import Group

MANY_ROWS = 20  # per group, in the first rows: then each group's effect is known well by itself
MOST_BY_MASK = 256  # groups; a mask is a matrix product, whose gradient is quick, but as wide as there are groups
SHAPE_OF_CORRELATIONS = 2.0  # of the LKJ prior: strong correlations are a little less probable


class GroupEffects:
    """The coefficients of one `(... | by)`: normal around zero with scales to be found, and perhaps correlated.

    Args:
        group: As the formula has it.
        kinds: Of the columns, with their levels.
        blocks: The design's blocks by term.
        table: The first rows; many rows per group ask for the centred form.
        is_centred: Whether effects are parameters themselves, or multiples of their scale; None: as the rows ask.
    """

    def __init__(
        self,
        group: Group,
        kinds: Mapping[str, Kind],
        blocks: Mapping[str, Block],
        table: Mapping[str, np.ndarray],
        is_centred: bool | None,
    ) -> None:
        self.group = group
        self._columns = {name: kinds[name].levels for name in group.columns}
        self.key = f"group {group.by}"
        self.num_groups = int(np.prod([len(levels) for levels in self._columns.values()]))
        slopes = [blocks[term] for term in group.slopes]
        self._blocks = [block.key for block in slopes]
        intercept = ["1"] if group.has_intercept else []
        self.coefficients = [*intercept, *(name for block in slopes for name in block.columns)]
        rows = len(next(iter(table.values())))
        self.is_centred = rows >= MANY_ROWS * self.num_groups if is_centred is None else is_centred
        self.scale_name, self.effects_name = f"{group.by}_scale", f"{group.by}_effects"
        self._raw_name = self.effects_name if self.is_centred else f"{group.by}_standard_effects"
        self._correlations_name = f"{group.by}_correlations"

    @property
    def levels(self) -> list[str]:
        """The names of the groups, in the order of their codes."""
        names = [""]
        for levels in self._columns.values():
            names = [f"{before}:{level}" if before else level for before in names for level in levels]
        return names

    def read(self, table: Mapping[str, np.ndarray], on_new_level: str) -> dict[str, np.ndarray]:
        """The number of each row's group."""
        codes = np.zeros(len(next(iter(table.values()))), np.int32)
        for name, levels in self._columns.items():
            codes = codes * len(levels) + as_codes(name, table[name], levels, on_new_level)
        return {self.key: codes}

    def priors(self, scale_prior: dist.Distribution) -> dict[str, PriorPart]:
        """The priors of its parameters."""
        count = len(self.coefficients)
        found: dict[str, PriorPart] = {self.scale_name: scale_prior.expand([count]).to_event(1)}
        if self.group.is_correlated:
            found[self._correlations_name] = dist.LKJCholesky(count, SHAPE_OF_CORRELATIONS)
        shape = (self.num_groups, count)
        if not self.is_centred:
            found[self._raw_name] = dist.Normal(0.0, 1.0).expand(shape).to_event(2)
        elif self.group.is_correlated:
            found[self._raw_name] = self._correlated_prior
        else:
            scale_name = self.scale_name
            found[self._raw_name] = lambda above: dist.Normal(0.0, above[scale_name]).expand(shape).to_event(2)
        return found

    def effects(self, parameters: Parameters) -> jax.Array:
        """The coefficients of each group, shape (groups, coefficients)."""
        raw = parameters[self._raw_name]
        if self.is_centred:
            return raw
        if self.group.is_correlated:
            raw = raw @ parameters[self._correlations_name].T
        return raw * parameters[self.scale_name]

    def add_to(self, predictor: jax.Array, parameters: Parameters, rows: Rows) -> jax.Array:
        """The predictor with each row's own coefficients."""
        effects, codes = self.effects(parameters), rows[self.key]
        if self.num_groups <= MOST_BY_MASK:
            mask = (codes[:, None] == jnp.arange(self.num_groups)).astype(effects.dtype)
            own = jnp.dot(mask, effects, precision=jax.lax.Precision.HIGHEST)
        else:
            own = effects[codes]
        return predictor + jnp.sum(own * self._multipliers(rows, effects.dtype), axis=1)

    def _multipliers(self, rows: Rows, dtype: Any) -> jax.Array:
        """What each coefficient is multiplied with, shape (rows, coefficients)."""
        ones = [jnp.ones((len(rows[self.key]), 1), dtype)] if self.group.has_intercept else []
        return jnp.concatenate([*ones, *(rows[key] for key in self._blocks)], axis=1)

    def _correlated_prior(self, above: Parameters) -> dist.Distribution:
        factor = above[self.scale_name][:, None] * above[self._correlations_name]
        return (
            dist.MultivariateNormal(jnp.zeros(len(self.coefficients)), scale_tril=factor)
            .expand([self.num_groups])
            .to_event(1)
        )
