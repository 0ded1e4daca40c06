"""Numbers of every key, column by column; rooms for keys are made by doubling."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class Column(NamedTuple):
    """What a column holds for each key."""

    shape: tuple[int, ...]
    kind: Any
    default: float = 0


class KeyTable:
    """Columns by name.

    Args:
        columns: What they hold.
    """

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self._columns = dict(columns)
        self._values = {name: np.full((0, *c.shape), c.default, c.kind) for name, c in self._columns.items()}
        self._length = 0

    def grow(self, num_keys: int) -> None:
        """Lines for so many keys."""
        room = len(next(iter(self._values.values()), ()))
        if num_keys > room:
            for name, column in self._columns.items():
                more = np.full((max(num_keys, room * 5 // 4) - room, *column.shape), column.default, column.kind)
                self._values[name] = np.concatenate([self._values[name], more])
        self._length = max(self._length, num_keys)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[name][: self._length]

    def __len__(self) -> int:
        return self._length

    @property
    def num_bytes(self) -> int:
        """Of all columns."""
        return sum(values.nbytes for values in self._values.values())

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {name: self[name] for name in self._columns}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take on a state."""
        self._values = {name: np.array(state[name]) for name in self._columns}
        self._length = len(next(iter(self._values.values())))
