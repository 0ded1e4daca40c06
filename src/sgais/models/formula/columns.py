"""Columns as they come - numbers, text, truth values, dates - and what the first rows say they are."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import ConfigError, DataError
from sgais.fields import named_columns
from sgais.models.formula.parsing import Formula
from sgais.models.formula.safety import DATE_PARTS
from sgais.streams.cleaning.numbers import is_missing

OTHER = "other"
ERROR = "error"
MOST_LEVELS = 1000


class Kind(NamedTuple):
    """What a column holds.

    Attributes:
        name: "number", "category" or "date".
        levels: Of a category, in order.
    """

    name: str
    levels: tuple[str, ...] = ()


def table_of(data: object, wanted: Iterable[str], formula: str) -> dict[str, np.ndarray]:
    """The columns that a formula needs, out of anything that has columns; others are left out."""
    columns = named_columns(data)
    for name in wanted:
        if name not in columns:
            near = difflib.get_close_matches(name, columns, n=2, cutoff=0.5)
            known = ", ".join(map(repr, columns))
            hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else "Correct the formula."
            raise DataError(f"the rows must have the column {name!r} of {formula!r}, got {known}. {hint}")
    table = {name: np.asarray(columns[name]) for name in wanted}
    lengths = {name: len(values) if values.ndim == 1 else values.shape for name, values in table.items()}
    if len(set(lengths.values())) > 1 or any(values.ndim != 1 for values in table.values()):
        raise DataError(f"the rows must have one entry per column, got columns of lengths {lengths}.")
    if 0 in lengths.values():
        raise DataError("`chunk` must have at least one row, got none. Skip empty chunks.")
    return table


def kinds_of(
    formula: Formula, table: Mapping[str, np.ndarray], levels: Mapping[str, Sequence[Any]], categories: set[str]
) -> dict[str, Kind]:
    """What each column is: as the formula uses it, as its levels were declared, or else as the rows look.

    Args:
        formula: It says of some columns that they are categories, or dates.
        table: The first rows.
        levels: Declared levels by column.
        categories: More columns that are categories: the response of some families.
    """
    unknown = [name for name in levels if name not in table]
    if unknown:
        raise ConfigError(f"`levels` must name columns of the formula, {sorted(table)}, got {unknown[0]!r}.")
    dates = {column for one in formula.expressions for name, column in one.calls if name in DATE_PARTS}
    chosen = formula.categories | categories | set(levels)
    found = {}
    for name, values in table.items():
        if name in dates:
            found[name] = Kind("date")
        elif name in chosen or not _are_numbers(values):
            found[name] = Kind("category", _levels(name, values, levels.get(name)))
        else:
            found[name] = Kind("number")
    return found


def as_numbers(name: str, values: np.ndarray) -> np.ndarray:
    """A column as finite float64, or which row is at fault."""
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.array([_number(cell) for cell in values])
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        cell = values[wrong[0]]
        what = "is missing" if is_missing(cell) else f"must be a finite number, got {cell!r}"
        raise DataError(f"column {name!r} {what} in row {wrong[0]}. Correct or drop the row.")
    return numbers


def as_codes(name: str, values: np.ndarray, levels: Sequence[str], on_new_level: str = ERROR) -> np.ndarray:
    """The place of each row's level; a new one is an error that names the cure, or counts as `other`."""
    names = as_labels(name, values)
    places = {level: place for place, level in enumerate(levels)}
    codes = np.array([places.get(label, -1) for label in names], np.int32)
    new = np.flatnonzero(codes < 0)
    if len(new) and on_new_level == OTHER:
        codes[new] = places[OTHER]
    elif len(new):
        raise DataError(
            f"column {name!r} must have levels that are known, {_shown(levels)}, got {names[new[0]]!r} in row "
            f"{new[0]}. Declare all of them, levels={{{name!r}: [...]}} (--levels {name}=A,B,C), or take new ones "
            "together: on_new_level='other'."
        )
    return codes


def as_labels(name: str, values: np.ndarray) -> list[str]:
    """A column as text; the same number is the same text whether it came as 7, 7.0 or "7"."""
    wrong = next((row for row, cell in enumerate(values) if is_missing(cell)), None)
    if wrong is not None:
        raise DataError(f"column {name!r} is missing in row {wrong}. Correct or drop the row.")
    distinct = {cell: label_of(cell) for cell in dict.fromkeys(values.tolist())}
    return [distinct[cell] for cell in values.tolist()]


def as_dates(name: str, values: np.ndarray) -> Any:
    """A column as pandas' dates."""
    import pandas as pd

    try:
        dates = pd.to_datetime(pd.Series(values), format="ISO8601")  # 03/04/2024 may mean two days
    except (ValueError, TypeError) as error:
        raise DataError(f"column {name!r} must hold dates such as 2024-12-31, got {values[0]!r}: {error}.") from error
    if dates.isna().any():
        raise DataError(f"column {name!r} is missing in row {int(np.flatnonzero(dates.isna())[0])}.")
    return dates


def label_of(cell: Any) -> str:
    """One level as text."""
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell)).lower()
    number = _number(cell)
    if np.isfinite(number):
        return str(int(number)) if number == int(number) else repr(float(number))
    text = str(cell).strip()
    return text.lower() if text.lower() in ("true", "false") else text


def sorted_levels(labels: Iterable[str]) -> tuple[str, ...]:
    """By size where all are numbers, else by name."""
    distinct = set(labels)
    numbers = {label: _number(label) for label in distinct}
    if np.isfinite(list(numbers.values())).all():
        return tuple(sorted(distinct, key=lambda label: numbers[label]))
    return tuple(sorted(distinct))


def _levels(name: str, values: np.ndarray, declared: Sequence[Any] | None) -> tuple[str, ...]:
    if declared is not None:
        is_list = isinstance(declared, list | tuple) and len(declared) > 0
        levels = tuple(label_of(level) for level in declared) if is_list else ()
        if len(set(levels)) != len(levels) or not levels:
            raise ConfigError(f"`levels` must list different levels of {name!r}, got {declared!r}.")
        return levels
    levels = sorted_levels(as_labels(name, values))
    if len(levels) > MOST_LEVELS:
        raise DataError(
            f"column {name!r} must have at most {MOST_LEVELS} levels, got {len(levels)} in the first rows. Is it a "
            "number that holds something else, such as 'n/a'?"
        )
    return levels


def _are_numbers(values: np.ndarray) -> bool:
    if values.dtype.kind in "fiub":
        return True
    present = [cell for cell in values.tolist() if not is_missing(cell)]
    return bool(present) and all(isinstance(cell, bool) or np.isfinite(_number(cell)) for cell in present)


def _number(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _shown(levels: Sequence[str]) -> str:
    return ", ".join(map(repr, levels[:8])) + (f" and {len(levels) - 8} more" if len(levels) > 8 else "")
