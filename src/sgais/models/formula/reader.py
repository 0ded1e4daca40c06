"""How rows are read for a formula, as the first rows have fixed it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sgais.errors import DataError
from sgais.fields import Chunk
from sgais.models.formula import description
from sgais.models.formula.columns import Kind, as_dates, as_labels, as_numbers, table_of
from sgais.models.formula.design import Design
from sgais.models.formula.families.base import Units
from sgais.models.formula.groups import GroupEffects
from sgais.models.formula.model import FormulaModel, Parts
from sgais.models.formula.response import Response

if TYPE_CHECKING:
    from sgais.models.formula.glm import GLM

FIRST_ROWS = 500  # those that fix centres and scales: of a whole data set as many as of a stream's first chunk
GROUP_FORMS = {"auto": None, "centred": True, "non-centred": False}


class FormulaReader:
    """What the first rows have fixed: levels, centres and scales, and the model that goes with them.

    Attributes:
        model: The model.
    """

    def __init__(
        self, glm: "GLM", table: Mapping[str, np.ndarray], kinds: Mapping[str, Kind], units: Units | None
    ) -> None:
        self._glm, self._kinds = glm, kinds
        self._first_rows = {name: values[:FIRST_ROWS] for name, values in table.items()}
        formula, options = glm.formula, glm.options
        self._inputs = [name for name in glm.columns if name != formula.response.columns[0]]
        scales = {name: pair for name, pair in options.scales.items() if name != formula.response.text}
        self._design = Design(formula, kinds, self._first_rows, scales, options.on_new_level)
        blocks = {block.term: block for block in self._design.blocks}
        form = GROUP_FORMS[options.group_form]
        self._groups = [GroupEffects(group, kinds, blocks, self._first_rows, form) for group in formula.groups]
        self._response = self._made_response(units)
        self._trials_key = f"{options.trials} (trials)" if options.trials else ""
        has_intercept = formula.has_intercept and glm.family.has_intercept
        parts = Parts(
            glm.family,
            self._response,
            has_intercept,
            self._design.blocks,
            self._groups,
            self._design.offset_key,
            self._trials_key,
        )
        self.model = FormulaModel(parts, glm.prior(parts))

    def read(self, rows: object) -> Chunk:
        """Rows as the model takes them."""
        table = table_of(rows, self._glm.columns, self._glm.text)
        return self._response.read(table) | self._read_inputs(table, table)

    def read_inputs(self, rows: object) -> Chunk:
        """Rows without the response, for a prediction."""
        return self._read_inputs(table_of(rows, self._inputs, self._glm.text), None) if self._inputs else {}

    def state(self) -> dict[str, Any]:
        """The first rows, from which all else follows, and the levels, for there may have been more of these."""
        rows = {name: self._as_plain(name, values) for name, values in self._first_rows.items()}
        kinds = {name: [kind.name, list(kind.levels)] for name, kind in self._kinds.items()}
        units = self._response.units
        return {"first_rows": rows, "kinds": kinds, "units": [units.location, units.scale, list(units.levels)]}

    def __str__(self) -> str:
        return description.bound(self._glm.text, self.model, self._kinds)

    def _read_inputs(self, table: Mapping[str, np.ndarray], whole: Mapping[str, np.ndarray] | None) -> Chunk:
        found: Chunk = dict(self._design.read(table))
        for group in self._groups:
            found |= group.read(table, self._glm.options.on_new_level)
        if self._trials_key:
            found[self._trials_key] = as_numbers(str(self._glm.options.trials), table[str(self._glm.options.trials)])
            if whole is not None:
                self._check_trials(found[self._trials_key], as_numbers(self._response.name, whole[self._response.name]))
        return found

    def _check_trials(self, trials: np.ndarray, successes: np.ndarray) -> None:
        wrong = np.flatnonzero((successes > trials) | (trials != np.floor(trials)))
        if len(wrong):
            raise DataError(
                f"{self._response.name!r} must be at most the whole number of trials {self._glm.options.trials!r}, got "
                f"{successes[wrong[0]]:g} of {trials[wrong[0]]:g} in row {wrong[0]}. Correct the row."
            )

    def _made_response(self, units: Units | None) -> Response:
        formula, family = self._glm.formula, self._glm.family
        offset = self._design.read(self._first_rows).get(self._design.offset_key, np.zeros(1))
        kind = self._kinds[formula.response.columns[0]]
        declared = self._glm.options.scales.get(formula.response.text)
        if units is None and declared is not None:
            units = Units(float(declared[0]), float(declared[1]), kind.levels)
        count = len(next(iter(self._first_rows.values())))
        response = Response(formula, family, kind, self._first_rows, np.broadcast_to(offset, count), units)
        if not formula.has_intercept:  # then nothing makes up for a location
            response.units = response.units._replace(location=0.0)
        return response

    def _as_plain(self, name: str, values: np.ndarray) -> Any:
        kind = self._kinds[name].name
        if kind == "number":
            return as_numbers(name, values)
        return as_labels(name, values) if kind == "category" else [str(date) for date in as_dates(name, values)]
