"""Columns of Arrow tables as NumPy arrays."""

from typing import Any

import numpy as np

from sgais.streams.source import Column, Labels


def from_arrow(column: Any) -> Column:
    """Numbers without a copy where nothing is missing; categories as codes; the rest as Python objects."""
    import pyarrow as pa

    kind = column.type
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(kind, pa.BaseExtensionType):  # numbers of any length, in words, say
        return from_arrow(column.storage)
    if pa.types.is_dictionary(kind):
        return _labels(column)
    if pa.types.is_decimal(kind):
        return from_arrow(column.cast(pa.float64()))
    if pa.types.is_fixed_size_list(kind) and _is_number(kind.value_type) and not column.null_count:
        return _numbers(column.flatten()).reshape(len(column), kind.list_size)
    if _is_number(kind):
        return _numbers(column)
    if pa.types.is_boolean(kind) or pa.types.is_temporal(kind):
        return column.to_numpy(zero_copy_only=False)
    return column.to_pylist()


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_integer(kind) or pa.types.is_floating(kind)


def _numbers(column: Any) -> np.ndarray:
    """The values; masked where some are missing, so that integers stay integers."""
    if not column.null_count:
        return column.to_numpy(zero_copy_only=False)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return np.ma.MaskedArray(column.fill_null(0).to_numpy(zero_copy_only=False), missing)


def _labels(column: Any) -> Labels:
    codes = column.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    codes[column.indices.is_null().to_numpy(zero_copy_only=False)] = -1
    return Labels(codes, column.dictionary.to_pylist())
