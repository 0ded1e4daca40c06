"""What a chunk of data looks like: named columns of equal length, checked before anything is computed.

A chunk is a dictionary of arrays with the same leading axis; a bare array means `{"y": array}`. A model may
declare its fields; where it does not, the first chunk does, and every later chunk has to agree with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sgais.errors import DataError, require

Chunk: TypeAlias = dict[str, np.ndarray]


@dataclass(frozen=True)
class Field:
    """One column of a chunk.

    Attributes:
        shape: The shape of one row: `()` for a number, `(5,)` for five features.
        is_integer: Whether the column holds whole numbers (counts, class labels).
        num_classes: If given, the column holds class labels 0, ..., num_classes - 1.
        is_as_it_comes: Whether the cells are left as a source has them, text or numbers: a formula reads them itself.

    Example:
        >>> sgais.Field(shape=(5,))  # five features in each row
        Field(shape=(5,), is_integer=False, num_classes=None, is_as_it_comes=False)
        >>> sgais.models.LogisticRegression(dim=2, classes=3).fields["y"].num_classes
        3
    """

    shape: tuple[int, ...] = ()
    is_integer: bool = False
    num_classes: int | None = None
    is_as_it_comes: bool = False

    def __post_init__(self) -> None:
        is_shape = isinstance(self.shape, tuple) and all(isinstance(size, int) and size >= 1 for size in self.shape)
        require(is_shape, "shape", "be a tuple of sizes, e.g. () or (5,)", self.shape)
        labelled = self.num_classes is None or self.is_integer
        require(labelled, "num_classes", "come with is_integer=True", self.num_classes)


Fields: TypeAlias = dict[str, Field]


def as_arrays(chunk: object, fields: Fields | None = None) -> Chunk:
    """Name the columns of whatever a user pushes; of tables and rows only those that a model wants, if known.

    Args:
        chunk: A dictionary of columns, one array (which means `{"y": array}`), a table, one row or a list of rows.
        fields: What the model wants.
    """
    named = named_columns(chunk)
    if not named:
        raise DataError("`chunk` must have at least one column, got an empty dictionary.")
    is_dictionary = isinstance(chunk, Mapping) and not all(map(_is_single, chunk.values()))
    chosen = list(named) if fields is None or is_dictionary else [name for name in named if name in fields]
    return {name: _as_array(name, named[name]) for name in chosen or named}


def named_columns(rows: object) -> Mapping[str, Any]:
    """The columns of whatever holds rows: a table, a dictionary of columns, one row or a list of rows."""
    source: Any = rows
    if isinstance(source, Mapping):
        is_row = bool(source) and all(map(_is_single, source.values()))
        return {str(name): np.array([value]) if is_row else value for name, value in source.items()}
    if isinstance(source, list | tuple) and source and all(isinstance(row, Mapping) for row in source):
        names = dict.fromkeys(str(name) for row in source for name in row)
        return {name: np.array([row.get(name) for row in source]) for name in names}
    if hasattr(source, "column_names"):  # Arrow
        return {str(name): source.column(name).to_numpy(zero_copy_only=False) for name in source.column_names}
    if hasattr(source, "columns"):  # pandas, Polars
        return {str(name): np.asarray(source[name]) for name in source.columns}
    return {"y": source}


def _is_single(value: object) -> bool:
    """Whether it is one number or text, and no column of them."""
    return isinstance(value, str) or (not hasattr(value, "__len__") and getattr(value, "shape", ()) == ())


def infer_fields(chunk: Chunk) -> Fields:
    """Read the fields off a first chunk, for a model that declares none."""
    return {name: Field(shape=values.shape[1:], is_integer=values.dtype.kind in "iu") for name, values in chunk.items()}


def check_chunk(chunk: object, fields: Fields, real_dtype: np.dtype) -> Chunk:
    """Return the chunk's columns as contiguous arrays of the model's dtypes, or say what is wrong with it."""
    arrays = as_arrays(chunk, fields)
    _check_names(arrays, fields)
    checked = {name: _check_column(name, arrays[name], field, real_dtype) for name, field in fields.items()}
    lengths = {name: len(values) for name, values in checked.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(f"`chunk` must have columns of equal length, got {lengths}. Cut them to the same rows.")
    if 0 in lengths.values():
        raise DataError("`chunk` must have at least one row, got none. Skip empty chunks.")
    return checked


def num_rows(chunk: Chunk) -> int:
    """The number of rows of a checked chunk."""
    return len(next(iter(chunk.values())))


def _as_array(name: str, values: object) -> np.ndarray:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise DataError(f"column '{name}' is ragged: {error}. Give every row the same length.") from error
    if np.ma.is_masked(values):
        raise DataError(f"column '{name}' has masked values, which would count as data. Drop their rows.")
    if array.dtype.kind == "b":
        raise DataError(f"column '{name}' must hold numbers, got bool. Say what it means: .astype(int).")
    if array.dtype.kind not in "fiu":
        raise DataError(
            f"column '{name}' must hold numbers, got dtype {array.dtype}. "
            "Convert it first, e.g. with .astype(float), and turn categories into labels 0, 1, 2, ..."
        )
    if array.ndim == 0:
        raise DataError(f"column '{name}' must have one entry per row, got a single number. Wrap it: [value].")
    return array


def _check_names(arrays: Chunk, fields: Fields) -> None:
    missing = [name for name in fields if name not in arrays]
    unknown = [name for name in arrays if name not in fields]
    if missing:
        raise DataError(
            f"`chunk` must have the columns {sorted(fields)}, got {sorted(arrays)}: "
            f"{missing[0]!r} is missing. Rename or add it."
        )
    if unknown:
        raise DataError(
            f"`chunk` must have only the columns {sorted(fields)}, got {sorted(arrays)}: "
            f"the model knows no {unknown[0]!r}. Drop it."
        )


def _check_column(name: str, values: np.ndarray, field: Field, real_dtype: np.dtype) -> np.ndarray:
    if field.shape == (1,) and values.ndim == 1:
        values = values[:, None]  # one feature per row may come as a plain vector
    if values.shape[1:] != field.shape:
        raise DataError(
            f"column '{name}' must have rows of shape {field.shape}, got {values.shape[1:]} "
            f"(array of shape {values.shape}). Rows come first: transpose the array, or change the model's dimensions."
        )
    if field.is_integer:
        _check_finite(name, values, values)
        return _as_integers(name, values, field)
    with np.errstate(over="ignore"):
        converted = np.ascontiguousarray(values, dtype=real_dtype)
    _check_finite(name, values, converted)
    return converted


def _check_finite(name: str, values: np.ndarray, converted: np.ndarray) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(converted.sum()):  # then all are; and several times as fast to find out
            return
    finite = np.isfinite(converted)
    if not finite.all():
        place = np.argwhere(~finite)[0]
        value = values[tuple(place)]
        is_too_large = np.isfinite(value)
        problem = f"is too large for {converted.dtype}; scale the column" if is_too_large else "is missing or infinite"
        raise DataError(
            f"column '{name}' must be finite: the value {value} in row {place[0]} of the chunk "
            f"{problem}. Clean or drop the row and push the chunk again."
        )


def _as_integers(name: str, values: np.ndarray, field: Field) -> np.ndarray:
    whole = values == np.floor(values) if values.dtype.kind == "f" else np.ones(values.shape, bool)
    limits = np.iinfo(np.int32)
    low, high = (0, field.num_classes - 1) if field.num_classes is not None else (limits.min, limits.max)
    good = whole & (values >= low) & (values <= high)
    if not good.all():
        place = np.argwhere(~good)[0]
        cure = (
            "If your labels start at 1, subtract 1."
            if field.num_classes is not None
            else "The first chunk held whole numbers: push floats from the start, or declare the model's `fields`."
        )
        raise DataError(
            f"column '{name}' must hold whole numbers from {low} to {high}, "
            f"got {values[tuple(place)]} in row {place[0]} of the chunk. {cure}"
        )
    return np.ascontiguousarray(values, dtype=np.int32)
