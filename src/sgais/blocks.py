"""Rows in blocks of fixed shape, so that one compiled program serves chunks of many sizes.

A chunk is padded to one of a few capacities (`32, 128, 512, 2048, ...` rows) and cut into blocks of at most
512 rows. Loops run over the blocks that hold data, so padding beyond 512 rows costs memory but no time, and
sums over a block keep their digits in float32 (their total is taken in float64 on the host).
"""

from typing import NamedTuple

import numpy as np

from sgais.fields import Chunk, num_rows

BLOCK_ROWS = 512
SMALLEST_CAPACITY = 32
CAPACITY_GROWTH = 4


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
    capacity = SMALLEST_CAPACITY
    while capacity < rows:
        capacity *= CAPACITY_GROWTH
    return capacity


def pack(chunk: Chunk, capacity: int | None = None, block_rows: int = BLOCK_ROWS) -> Blocks:
    """Pad a checked chunk to a capacity and cut it into blocks.

    The capacity is one of a few unless told otherwise; it must be a multiple of `block_rows`, or less than that.
    """
    rows = num_rows(chunk)
    capacity = capacity_for(rows) if capacity is None else capacity
    block_rows = min(capacity, block_rows)
    weights = (np.arange(capacity) < rows).astype(np.float32)
    columns = {
        name: _pad(values, capacity).reshape(-1, block_rows, *values.shape[1:]) for name, values in chunk.items()
    }
    return Blocks(columns, weights.reshape(-1, block_rows), np.int32(-(-rows // block_rows)))


def pack_whole(chunk: Chunk) -> Blocks:
    """A whole data set, which will not grow: padded only to full blocks, or as a chunk where it is small."""
    rows = num_rows(chunk)
    full_blocks = -(-rows // BLOCK_ROWS) * BLOCK_ROWS
    return pack(chunk, capacity=min(full_blocks, capacity_for(rows)))


def _pad(values: np.ndarray, capacity: int) -> np.ndarray:
    # Repeats of a true row, unlike zeros, are sure to lie where the likelihood is defined.
    padded = np.empty((capacity, *values.shape[1:]), values.dtype)
    padded[: len(values)] = values
    padded[len(values) :] = values[0]
    return padded
