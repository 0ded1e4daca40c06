"""Which columns of the source make up which columns of a chunk."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sgais.errors import ConfigError, DataError, require
from sgais.fields import Fields

ColumnMapping: TypeAlias = dict[str, str | list[str]]


def column_mapping(columns: Mapping[str, Any], fields: Fields | None) -> ColumnMapping | None:
    """What the keywords ask for; a field that they leave out is the column of its name. None: every column as it is."""
    mapping = {name: _checked(name, value) for name, value in columns.items()}
    if fields is None:
        return mapping or None
    for name in mapping:
        require(name in fields, name, f"be one of the model's fields {sorted(fields)}", mapping[name], "Drop it.")
    return {name: mapping.get(name, name) for name in fields}


def wanted_columns(mapping: ColumnMapping | None) -> list[str] | None:
    """The source's columns that a mapping names."""
    if mapping is None:
        return None
    names = [name for value in mapping.values() for name in ([value] if isinstance(value, str) else value)]
    return list(dict.fromkeys(names))


def put_together(parts: Sequence[np.ndarray], is_list: bool) -> np.ndarray:
    """One column of a chunk from the columns that it is mapped to: a list of them becomes the features of a row."""
    return np.column_stack(parts) if is_list else parts[0]


def check_shape(source_name: str, name: str, values: np.ndarray, fields: Fields | None) -> np.ndarray:
    """Refuse rows whose shape is not the field's; one feature may come as a plain column."""
    if fields is None:
        return values
    shape = fields[name].shape
    if shape == (1,) and values.ndim == 1:
        return values[:, None]
    if values.shape[1:] != shape:
        raise DataError(
            f"column '{name}' of `{source_name}` must have rows of shape {shape}, got {values.shape[1:]}. "
            f"Map as many columns as the model has, e.g. {name}=['a', 'b']."
        )
    return values


def _checked(name: str, value: Any) -> str | list[str]:
    if isinstance(value, str):
        return value
    is_names = isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(entry, str) for entry in value)
    if not is_names:
        raise ConfigError(f"`{name}` must be the name of a column or a list of names, got {value!r}.")
    return list(value)
