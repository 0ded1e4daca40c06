"""Rows in blocks of fixed shape, so that one compiled program serves chunks of many sizes.

Blocks have 512 rows at most, unless told otherwise: sums over a block keep their digits in float32 (their total is
taken in float64 on the host). Programs that need all rows of a chunk at once are given it padded to one of a few
capacities, and loop over the blocks that hold data. Sums over rows are taken slab by slab: a few sizes serve data of
any length, and nothing but the last rows is copied.
"""

from typing import NamedTuple

import numpy as np

from sgais.fields import Chunk, num_rows

BLOCK_ROWS = 512
SLAB_ROWS = 8192  # few enough that derivatives may be added in float32, enough to make up for starting a program
CAPACITIES = (32, BLOCK_ROWS, SLAB_ROWS)
CAPACITY_GROWTH = 4  # beyond these


class Blocks(NamedTuple):
    """A padded chunk: `columns[name]` has shape (blocks, rows per block, ...).

    `weights` says how much each row counts in sums: 1, or 0 for padding; estimators put less than 1 on rows that
    they anneal in.
    """

    columns: Chunk
    weights: np.ndarray
    num_blocks: np.int32  # how many blocks hold data


def capacity_for(rows: int) -> int:
    """The number of rows that a chunk of this many rows is padded to."""
    capacity = next((capacity for capacity in CAPACITIES if rows <= capacity), CAPACITIES[-1])
    while capacity < rows:
        capacity *= CAPACITY_GROWTH
    return capacity


def pack(
    chunk: Chunk, capacity: int | None = None, block_rows: int = BLOCK_ROWS, counts: np.ndarray | float = 1.0
) -> Blocks:
    """Pad a checked chunk to a capacity and cut it into blocks.

    Args:
        chunk: The rows.
        capacity: One of a few unless told otherwise; a multiple of `block_rows`, or less than that.
        block_rows: Rows of a block.
        counts: How much each row counts.
    """
    rows = num_rows(chunk)
    capacity = capacity_for(rows) if capacity is None else capacity
    block_rows = min(capacity, block_rows)
    weights = np.zeros(capacity, np.float32)
    weights[:rows] = counts
    columns = {
        name: _pad(values, capacity).reshape(-1, block_rows, *values.shape[1:]) for name, values in chunk.items()
    }
    return Blocks(columns, weights.reshape(-1, block_rows), np.int32(-(-rows // block_rows)))


def pack_whole(chunk: Chunk) -> Blocks:
    """A whole data set, which will not grow: padded only to full blocks, or as a chunk where it is small."""
    rows = num_rows(chunk)
    full_blocks = -(-rows // BLOCK_ROWS) * BLOCK_ROWS
    return pack(chunk, capacity=min(full_blocks, capacity_for(rows)))


def slabs(
    chunk: Chunk, capacity: int | None = None, block_rows: int = BLOCK_ROWS, counts: np.ndarray | None = None
) -> list[Blocks]:
    """The chunk in parts of a slab; the arguments are those of `pack`, which makes them."""
    counts = np.ones(num_rows(chunk), np.float32) if counts is None else counts
    parts = [slice(start, start + SLAB_ROWS) for start in range(0, num_rows(chunk), SLAB_ROWS)]
    return [
        pack({name: values[part] for name, values in chunk.items()}, capacity, block_rows, counts[part])
        for part in parts
    ]


def _pad(values: np.ndarray, capacity: int) -> np.ndarray:
    if len(values) == capacity:
        return np.ascontiguousarray(values)
    # Repeats of a true row, unlike zeros, are sure to lie where the likelihood is defined.
    padded = np.empty((capacity, *values.shape[1:]), values.dtype)
    padded[: len(values)] = values
    padded[len(values) :] = values[0]
    return padded
