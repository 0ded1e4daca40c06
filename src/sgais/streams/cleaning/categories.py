"""Labels 0, 1, 2, ... out of a column of categories."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sgais.streams.cleaning.numbers import MISSING, Checked, not_this
from sgais.streams.source import Labels


def check_labels(column: np.ndarray | Labels | list[Any], categories: Sequence[Any]) -> Checked:
    """The place of each row's value among the categories."""
    if isinstance(column, Labels):
        return _relabelled(column, categories)
    cells = column.tolist() if isinstance(column, np.ndarray) else column
    places = _places(categories)
    codes = np.array([_place(places, cell) for cell in cells], dtype=np.int32)
    faults = {int(row): _fault(cells[row]) for row in np.flatnonzero(codes < 0)}
    return Checked(np.maximum(codes, 0), faults)


def _relabelled(column: Labels, categories: Sequence[Any]) -> Checked:
    """Translate the codes of the source, all at once, into places among the categories asked for."""
    places = _places(categories)
    table = np.array([_place(places, name) for name in column.names] + [-1], dtype=np.int32)
    codes = table[column.codes]  # code -1, missing, is the last entry
    names = [*column.names, None]
    faults = {int(row): _fault(names[column.codes[row]]) for row in np.flatnonzero(codes < 0)}
    return Checked(np.maximum(codes, 0), faults)


def _places(categories: Sequence[Any]) -> dict[Any, int]:
    """Where each category stands; a number may also be written as text, as text files have it."""
    places: dict[Any, int] = {str(name): place for place, name in enumerate(categories)}
    places.update({name: place for place, name in enumerate(categories)})
    return places


def _place(places: dict[Any, int], cell: Any) -> int:
    try:
        return places.get(cell, -1)
    except TypeError:  # a cell that cannot be looked up, e.g. a list
        return -1


def _fault(cell: Any) -> str:
    is_missing = cell is None or cell == "" or cell != cell  # NaN is not itself
    return MISSING if is_missing else not_this(cell, "one of the categories")
