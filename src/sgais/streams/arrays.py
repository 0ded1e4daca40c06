"""Arrays at hand, cut into chunks."""

from collections.abc import Iterator

from sgais.errors import DataError, require
from sgais.fields import Chunk, as_arrays


def stream(source: object, chunk_size: int = 500) -> Iterator[Chunk]:
    """Cut arrays into chunks of `chunk_size` rows; the last may be shorter.

    Args:
        source: A dictionary of arrays with equal leading axis, or one array (which means `{"y": array}`).
        chunk_size: Rows per chunk.
    """
    require(chunk_size >= 1, "chunk_size", "be at least 1", chunk_size)
    arrays = as_arrays(source)
    lengths = {name: len(values) for name, values in arrays.items()}
    rows = max(lengths.values())
    if min(lengths.values()) != rows:
        raise DataError(f"`source` must have columns of equal length, got {lengths}. Cut them to the same rows.")
    if rows == 0:
        raise DataError("`source` must have at least one row, got none.")
    return (
        {name: values[start : start + chunk_size] for name, values in arrays.items()}
        for start in range(0, rows, chunk_size)
    )
