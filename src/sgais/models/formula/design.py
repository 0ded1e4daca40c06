"""From columns to the design: each term a block of numbers, centred and scaled as the first rows say."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import ConfigError, DataError, is_number, require
from sgais.models.formula.columns import Kind, as_codes, as_dates, as_numbers
from sgais.models.formula.functions import functions
from sgais.models.formula.parsing import Formula

SCALE_OF_0_AND_1 = 0.5  # the largest standard deviation that such a column can have
COLLINEAR = 1e-6  # the relative size of a singular value that stands for nothing
UNCENTRED = " (as it is)"  # without an intercept nothing could make up for a shift
CONSTANT = 1e-9  # the relative spread of a column that is a constant, but for rounding


class Block(NamedTuple):
    """The columns of one term.

    Attributes:
        term: As the formula has it.
        key: What the block is called among the columns of a chunk; other formulas have the same for the same numbers.
        columns: Their names.
        centre: Taken off each.
        scale: What each is divided by after that.
    """

    term: str
    key: str
    columns: tuple[str, ...]
    centre: np.ndarray
    scale: np.ndarray


class Design:
    """What the first rows have fixed, and how further rows are read.

    Args:
        formula: Whose terms these are.
        kinds: What each column holds.
        table: The first rows.
        scales: Centre and scale by column of the design, or by term, where they are declared.
        on_new_level: What is done with levels that were not there.
    """

    def __init__(
        self,
        formula: Formula,
        kinds: Mapping[str, Kind],
        table: Mapping[str, np.ndarray],
        scales: Mapping[str, tuple[float, float]],
        on_new_level: str,
    ) -> None:
        self._kinds, self._on_new_level = kinds, on_new_level
        self._text = formula.text
        self._specs: dict[str, Any] = {}
        right = " + ".join(["1" if formula.has_intercept else "0", *formula.terms])
        self.blocks: tuple[Block, ...] = ()
        if formula.terms:
            matrix = self._evaluated("terms", right, table)
            values = np.asarray(matrix, np.float64)
            self._check_finite(values, list(matrix.columns))
            self.blocks = tuple(_blocks(matrix, values, scales, formula.has_intercept))
            _check_rank(self._standardised(values, formula.has_intercept), self.blocks, formula.has_intercept)
        self._offset = " + ".join(one.text for one in formula.offsets)
        self.offset_key = f"{self._offset} (added)" if self._offset else ""
        self._has_intercept = formula.has_intercept

    def read(self, table: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The blocks of some rows by key, shape (rows, columns), and the offset."""
        found: dict[str, np.ndarray] = {}
        if self.blocks:
            values = np.asarray(self._evaluated("terms", "", table), np.float64)
            self._check_finite(values, [name for block in self.blocks for name in block.columns])
            found = self._standardised(values, self._has_intercept)
        if self._offset:
            offset = np.asarray(self._evaluated("offset", f"0 + {self._offset}", table), np.float64).sum(axis=1)
            self._check_finite(offset[:, None], [self._offset])
            found[self.offset_key] = offset
        return found

    def _standardised(self, values: np.ndarray, has_intercept: bool) -> dict[str, np.ndarray]:
        found, start = {}, int(has_intercept)
        for block in self.blocks:
            end = start + len(block.columns)
            found[block.key] = (values[:, start:end] - block.centre) / block.scale
            start = end
        return found

    def _evaluated(self, part: str, text: str, table: Mapping[str, np.ndarray]) -> Any:
        """What Formulaic makes of some rows; the first time, its state is fixed by them."""
        import pandas as pd
        from formulaic import Formula as Formulaic
        from formulaic.errors import FormulaicError

        frame = pd.DataFrame({name: self._typed(name, values) for name, values in table.items() if name in self._kinds})
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                made = self._specs.get(part) or Formulaic(text)
                matrix = made.get_model_matrix(frame, context=dict(functions()), na_action="ignore")
        except (FormulaicError, ValueError, TypeError, AttributeError, KeyError, ArithmeticError) as error:
            line = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
            raise DataError(f"{self._text!r} must be a formula that the rows allow: {line}.") from error
        if part not in self._specs:
            self._specs[part] = matrix.model_spec
        return matrix

    def _typed(self, name: str, values: np.ndarray) -> Any:
        import pandas as pd

        kind = self._kinds[name]
        if kind.name == "category":
            codes = as_codes(name, values, kind.levels, self._on_new_level)
            return pd.Categorical(np.array(kind.levels, object)[codes], categories=list(kind.levels))
        return as_dates(name, values) if kind.name == "date" else as_numbers(name, values)

    def _check_finite(self, values: np.ndarray, columns: Sequence[str]) -> None:
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            row, column = wrong[0]
            raise DataError(
                f"{columns[column]!r} of {self._text!r} must be finite, got {values[row, column]} in row {row}. Take "
                "logarithms and roots of positive numbers only."
            )


def _blocks(
    matrix: Any, values: np.ndarray, scales: Mapping[str, tuple[float, float]], has_intercept: bool
) -> list[Block]:
    blocks, start = [], int(has_intercept)
    for structure in matrix.model_spec.structure[start:]:
        names = tuple(structure.columns)
        end = start + len(names)
        key = " + ".join(map(repr, structure.scoped_terms)) + ("" if has_intercept else UNCENTRED)
        term = str(structure.term)
        each = [_scale(term, name, values[:, start + place], scales, has_intercept) for place, name in enumerate(names)]
        centre, scale = np.array(each).T if each else np.empty((2, 0))
        blocks.append(Block(term, key, names, centre, scale))
        start = end
    known = {name for block in blocks for name in (block.term, *block.columns)}
    for name in scales:
        require(name in known, "scales", f"name terms or columns of the design, {sorted(known)}", name)
    return blocks


def _scale(
    term: str, name: str, values: np.ndarray, scales: Mapping[str, tuple[float, float]], has_intercept: bool
) -> tuple[float, float]:
    """Centre and scale of one column: declared, or as the first rows have it."""
    declared = scales.get(name, scales.get(term))
    if declared is not None:
        is_pair = isinstance(declared, list | tuple) and len(declared) == 2 and all(map(is_number, declared))
        require(is_pair and declared[1] > 0, "scales", "be pairs of centre and positive scale", {name: declared})
        return float(declared[0]), float(declared[1])
    centre = float(values.mean()) if has_intercept else 0.0
    if set(np.unique(values)) <= {0.0, 1.0}:
        return centre, SCALE_OF_0_AND_1
    spread = float(values.std())
    if spread <= CONSTANT * max(abs(centre), 1e-300):
        raise DataError(
            f"{name!r} must vary, got {values[0]:g} in all of the first {len(values)} rows. Drop it, or declare its "
            f"centre and scale if it varies later: scales={{{name!r}: (0, 1)}}."
        )
    return centre, spread


def _check_rank(blocks: Mapping[str, np.ndarray], described: Sequence[Block], has_intercept: bool) -> None:
    """Refuse columns that say the same: their coefficients would be a matter of the prior alone."""
    matrix = np.concatenate(list(blocks.values()), axis=1)
    names = [name for block in described for name in block.columns]
    constant = np.flatnonzero(matrix.std(axis=0) == 0)
    varying = np.delete(matrix, constant, axis=1)  # levels that are yet to come
    kept = [name for place, name in enumerate(names) if place not in set(constant.tolist())]
    full = np.column_stack([np.ones(len(matrix)), varying]) if has_intercept else varying
    if full.shape[0] <= full.shape[1]:
        return
    lengths = np.linalg.norm(full, axis=0)
    _, sizes, directions = np.linalg.svd(full / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    if sizes[-1] > COLLINEAR * sizes[0]:
        return
    shares = np.abs(directions[-1][int(has_intercept) :])
    guilty = [name for name, share in zip(kept, shares, strict=True) if share > 0.1 * shares.max()]
    raise ConfigError(
        f"`formula` must have columns that are not collinear, got {', '.join(map(repr, guilty))}, one of which the "
        "others give. Drop one."
    )
