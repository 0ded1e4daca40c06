"""Numbers out of a column, and why a row has none."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.fields import Field
from sgais.streams.source import Labels
from sgais.streams.sources.files import is_utf8

MISSING = "is missing"
SAYS_MISSING = ("", "na", "nan", "none", "null", "nat")
PLAIN_TYPES = ({float}, {int}, {int, float}, {str})  # all that needs no look at each cell: no None, no booleans


class Checked(NamedTuple):
    """A column as numbers, and what is wrong in which row; a bad row may hold any number."""

    values: np.ndarray
    faults: dict[int, str]


def check_numbers(column: np.ndarray | list[Any], width: int | None) -> Checked:
    """Read a column as finite numbers, one per row (width 0) or a vector of `width` of them.

    If the width is not known, the first cell says it.
    """
    if isinstance(column, np.ndarray):
        return _check_finite(column)
    if width is None:
        width = next((len(cell) if _is_vector(cell) else 0 for cell in column if cell is not None), 0)
    if width > 0:
        return _check_vectors(column, width)
    kinds = set(map(type, column))
    if kinds in PLAIN_TYPES and (kinds != {str} or _is_plain("".join(column))):
        try:
            return _check_finite(np.array(list(map(float, column))), column)
        except (ValueError, OverflowError):
            pass  # one of the cells is at fault: look at each
    return _check_cells(column)


def check_present(column: np.ndarray | Labels | list[Any]) -> Checked:
    """A column as it comes, whatever it holds; only nothing is at fault."""
    if isinstance(column, Labels):
        names = np.array([*column.names, None], object)
        return Checked(names[column.codes], {int(row): MISSING for row in np.flatnonzero(column.codes < 0)})
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiu":
        return _check_finite(column)
    cells = np.empty(len(column), object)
    cells[:] = list(column)
    return Checked(cells, {row: MISSING for row, cell in enumerate(cells) if is_missing(cell)})


def is_missing(cell: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, or text that says so."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(cell, float | np.floating):
        return math.isnan(cell)
    return isinstance(cell, str) and cell.strip().lower() in SAYS_MISSING


def check_whole(checked: Checked, field: Field) -> Checked:
    """Refuse what is not a whole number, or not a label of the field; the rest become integers."""
    values = checked.values
    limits = np.iinfo(np.int32)
    low, high = (limits.min, limits.max) if field.num_classes is None else (0, field.num_classes - 1)
    good = (values == np.floor(values)) & (values >= low) & (values <= high)
    faults = {
        row: f"must be a whole number from {low} to {high}, got {values[row]}" for row in _bad_rows(good).tolist()
    }
    faults.update(checked.faults)  # what was wrong before says more
    whole = np.where(good, values, 0).astype(np.int32)
    return Checked(whole, faults)


def _check_finite(values: np.ndarray, cells: Sequence[Any] | None = None) -> Checked:
    """Find the missing and the infinite."""
    good = np.isfinite(np.ma.getdata(values))
    if isinstance(values, np.ma.MaskedArray):
        good &= ~np.ma.getmaskarray(values)
    numbers = np.ma.getdata(values)
    if good.all():
        return Checked(numbers, {})
    shown = numbers if cells is None else cells
    return Checked(numbers, {row: _not_finite(shown[row]) for row in _bad_rows(good).tolist()})


def _not_finite(value: Any) -> str:
    return f"is infinite, got {value}" if np.isinf(np.asarray(value, dtype=np.float64)).any() else MISSING


def _bad_rows(good: np.ndarray) -> np.ndarray:
    return np.flatnonzero(~good.reshape(len(good), -1).all(axis=1))


def _check_cells(cells: Sequence[Any]) -> Checked:
    """Cell by cell, for columns with something in them that is not a number."""
    values = np.zeros(len(cells))
    faults = {}
    for row, cell in enumerate(cells):
        fault = _attempt(cell, values[row : row + 1])
        if fault:
            faults[row] = fault
    return Checked(values, faults)


def _attempt(cell: Any, place: np.ndarray) -> str:
    """Write the number of a cell to its place, or say why there is none."""
    if isinstance(cell, bool | np.bool_):
        return f"must be a number, got {cell}"
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return MISSING
    if isinstance(cell, str) and not _is_plain(cell):
        return not_this(cell, "a number")
    try:
        number = float(cell)
    except OverflowError:
        return "must be a number of ordinary size"
    except (TypeError, ValueError):
        return not_this(cell, "a number")
    place[:] = number
    return "" if math.isfinite(number) else _not_finite(number)


def _is_plain(text: str) -> bool:
    """Whether Python's own liberties are not taken: 1_000, and digits of other scripts, are no numbers in data."""
    return text.isascii() and "_" not in text


def not_this(cell: Any, what: str) -> str:
    """Say what a cell should have been, and if its text was not even text."""
    if isinstance(cell, str) and not is_utf8(cell):
        return f"holds bytes that are not UTF-8: {cell!r}"
    if type(cell).__name__ == "NAType":  # pandas says missing with an object of its own
        return MISSING
    return f"must be {what}, got {cell!r}"


def _is_vector(cell: Any) -> bool:
    return isinstance(cell, list | tuple) or (isinstance(cell, np.ndarray) and cell.ndim > 0)


def _check_vectors(cells: Sequence[Any], width: int) -> Checked:
    """One vector per row, all of one length."""
    values = np.zeros((len(cells), width))
    faults = {}
    for row, cell in enumerate(cells):
        if not _is_vector(cell) or len(cell) != width:
            faults[row] = MISSING if cell is None else f"must be {width} numbers, got {cell!r}"
            continue
        checked = check_numbers(list(cell), 0)
        values[row] = checked.values
        if checked.faults:
            place, fault = min(checked.faults.items())
            faults[row] = f"at place {place} {fault}"
    return Checked(values, faults)
