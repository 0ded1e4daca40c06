"""A table of numbers that grows row by row and stays small: no Python objects, and no room for twice as many rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np

BLOCK_ROWS = 1024


class GrowingTable:
    """Rows of numbers, kept in blocks of fixed size, so that none is ever copied to make room for more.

    Args:
        kinds: `int` or `float` for each column.
    """

    def __init__(self, kinds: Mapping[str, type]) -> None:
        self._dtype = np.dtype([(name, np.int64 if kind is int else np.float64) for name, kind in kinds.items()])
        self._blocks: list[np.ndarray] = []
        self._length = 0

    def append(self, row: tuple[Any, ...]) -> None:
        """Add a row, its numbers in the order of the columns."""
        if self._length == BLOCK_ROWS * len(self._blocks):
            self._blocks.append(np.empty(BLOCK_ROWS, self._dtype))
        self._blocks[-1][self._length % BLOCK_ROWS] = row
        self._length += 1

    def columns(self) -> dict[str, np.ndarray]:
        """All rows, column by column."""
        rows = np.concatenate([np.empty(0, self._dtype), *self._blocks])[: self._length]
        return {name: rows[name].copy() for name in self._names}

    def extend(self, columns: Mapping[str, np.ndarray], defaults: Mapping[str, Any] | None = None) -> None:
        """Add the rows that `columns` has given; `defaults` stand in for columns that older rows do not have."""
        length = len(next(iter(columns.values())))
        missing = {name: [value] * length for name, value in (defaults or {}).items() if name not in columns}
        lists = {name: values.tolist() for name, values in columns.items()} | missing
        for row in zip(*(lists[name] for name in self._names), strict=True):
            self.append(row)

    def keep_latest(self, count: int) -> None:
        """Forget the rows before the latest."""
        kept = {name: values[-count:] for name, values in self.columns().items()}
        self._blocks, self._length = [], 0
        self.extend(kept)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> dict[str, Any]:
        number = range(self._length)[number]
        row = self._blocks[number // BLOCK_ROWS][number % BLOCK_ROWS]
        return dict(zip(self._names, row.tolist(), strict=True))

    @property
    def _names(self) -> tuple[str, ...]:
        return self._dtype.names or ()
