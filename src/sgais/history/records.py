"""Rows as records: a row's columns side by side.

Drawing a row from a long history is then one cache miss, not one per column, and the cost of a mini-batch hardly grows
with the rows seen.
"""

import numpy as np

from sgais.fields import Chunk, num_rows

ALIGNMENT = 32  # bytes; half a cache line


def record_dtype(chunk: Chunk) -> np.dtype:
    """The dtype of a record that holds a row of this chunk."""
    formats = [(values.dtype, values.shape[1:]) for values in chunk.values()]
    packed = np.dtype({"names": list(chunk), "formats": formats})
    padded = -(-packed.itemsize // ALIGNMENT) * ALIGNMENT
    return np.dtype({"names": list(chunk), "formats": formats, "itemsize": padded})


def to_records(chunk: Chunk) -> np.ndarray:
    """The rows of a chunk as records."""
    records = np.zeros(num_rows(chunk), record_dtype(chunk))
    fill(records, chunk)
    return records


def fill(records: np.ndarray, chunk: Chunk) -> None:
    """Write the rows of a chunk into as many records."""
    for name, values in chunk.items():
        records[name] = values


def to_columns(records: np.ndarray) -> Chunk:
    """The columns of records of any shape."""
    return {name: np.ascontiguousarray(records[name]) for name in records.dtype.names or ()}
