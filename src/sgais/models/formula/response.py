"""The left side of a formula: the response, its transformation, and what that does to its density."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpyro.distributions as dist
from numpyro.distributions.transforms import AffineTransform, ExpTransform, PowerTransform

from sgais.errors import ConfigError, DataError
from sgais.models.formula.columns import Kind, as_codes, as_numbers
from sgais.models.formula.families.base import Family, Units
from sgais.models.formula.parsing import Formula


class Transformation(NamedTuple):
    """A function of the response.

    Attributes:
        function: It.
        log_slope: The logarithm of its derivative, which turns a density of the transformed into one of the response.
        inverse: The way back, as NumPyro has it.
        smallest: The response must be larger.
    """

    function: Callable[[np.ndarray], np.ndarray]
    log_slope: Callable[[np.ndarray], np.ndarray]
    inverse: tuple[Any, ...]
    smallest: float


LOG_2, LOG_10 = float(np.log(2)), float(np.log(10))
TRANSFORMATIONS: Mapping[str, Transformation] = {
    "log": Transformation(np.log, lambda y: -np.log(y), (ExpTransform(),), 0.0),
    "log2": Transformation(np.log2, lambda y: -np.log(y * LOG_2), (AffineTransform(0.0, LOG_2), ExpTransform()), 0.0),
    "log10": Transformation(
        np.log10, lambda y: -np.log(y * LOG_10), (AffineTransform(0.0, LOG_10), ExpTransform()), 0.0
    ),
    "log1p": Transformation(np.log1p, lambda y: -np.log1p(y), (ExpTransform(), AffineTransform(-1.0, 1.0)), -1.0),
    "sqrt": Transformation(np.sqrt, lambda y: -np.log(2 * np.sqrt(y)), (PowerTransform(2.0),), 0.0),
}


class Response:
    """How the response of a formula is read.

    Log Z is always that of the column itself: `log(y) ~ x` and `y ~ x` can be compared, for the density of `log(y)` is
    multiplied by the slope of the logarithm.

    Attributes:
        name: The column.
        key: What it is called among the columns of a chunk.
        slope_key: What the log slope is called there; empty where there is no transformation.
        units: What the first rows have fixed.
    """

    def __init__(
        self,
        formula: Formula,
        family: Family,
        kind: Kind,
        first_rows: Mapping[str, np.ndarray],
        offset: np.ndarray,
        units: Units | None,
    ) -> None:
        self.text = formula.response.text
        self.name, self._transformation = _taken_apart(formula, family)
        self._family, self._levels = family, kind.levels
        self.key = f"{self.text} ({family.reading})"
        self.slope_key = f"{self.text} (log slope)" if self._transformation else ""
        numbers = self._numbers(first_rows[self.name])
        self.units = family.units(numbers, kind.levels, offset) if units is None else units

    def read(self, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The response of some rows."""
        found = {self.key: self._family.read(self._numbers(table[self.name]), self.units)}
        if self._transformation is not None:
            found[self.slope_key] = self._transformation.log_slope(as_numbers(self.name, table[self.name]))
        return found

    def unread(self, rows: Mapping[str, Any]) -> np.ndarray:
        """The response of rows that have been read, as it was in the data."""
        values = self.units.location + self.units.scale * np.asarray(rows[self.key], np.float64)
        for step in () if self._transformation is None else self._transformation.inverse:
            values = np.asarray(step(values), np.float64)
        return values

    def untransformed(self, distribution: dist.Distribution) -> dist.Distribution:
        """The distribution of the response, from that of its transformation."""
        if self._transformation is None:
            return distribution
        return dist.TransformedDistribution(distribution, list(self._transformation.inverse))

    def _numbers(self, values: np.ndarray) -> np.ndarray:
        if self._family.has_classes:
            return as_codes(self.name, values, self._levels)
        numbers = as_numbers(self.name, values)
        if self._transformation is not None:
            wrong = np.flatnonzero(numbers <= self._transformation.smallest)
            if len(wrong):
                raise DataError(
                    f"column {self.name!r} must be above {self._transformation.smallest:g} for {self.text!r}, got "
                    f"{numbers[wrong[0]]:g} in row {wrong[0]}. Leave it as it is, or take log1p."
                )
            numbers = self._transformation.function(numbers)
        self._family.check(numbers, self.text)
        return numbers


def _taken_apart(formula: Formula, family: Family) -> tuple[str, Transformation | None]:
    """The column, and its transformation."""
    expression = formula.response
    if expression.columns == (expression.text.strip("`"),):
        return expression.columns[0], None
    function, column = expression.calls[0] if len(expression.calls) == 1 else ("", "")
    is_call = expression.text.replace(" ", "") in (f"{function}({column})", f"{function}(`{column}`)")
    if not (is_call and function in TRANSFORMATIONS and family.is_continuous):
        known = ", ".join(f"{name}(y)" for name in TRANSFORMATIONS) if family.is_continuous else "no function of it"
        raise ConfigError(
            f"`formula` must have a column as its response, or with family={family.name!r} {known}, got "
            f"{expression.text!r}. Compute it beforehand."
        )
    return column, TRANSFORMATIONS[function]
