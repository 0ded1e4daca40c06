"""Columns that stand in the names of folders: `days/year=2024/country=DE/part-0.parquet`."""

from typing import Any
from urllib.parse import unquote

import numpy as np

from sgais.streams.source import Column, Labels

MISSING = "__HIVE_DEFAULT_PARTITION__"


def hive_values(path: str) -> dict[str, str]:
    """The columns of a path and their one value."""
    parts = (part.partition("=") for part in path.split("/")[:-1])
    return {unquote(name): unquote(value) for name, equals, value in parts if name and equals}


def hive_column(value: str, num_rows: int) -> Column:
    """A value for every row: a number if it is one, else a category."""
    if value == MISSING:
        return [None] * num_rows
    number = _number(value)
    return Labels(np.zeros(num_rows, np.int32), [value]) if number is None else np.full(num_rows, number)


def _number(value: str) -> Any:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return None
