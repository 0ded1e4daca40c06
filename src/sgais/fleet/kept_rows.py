"""The rows of many keys: arrays of a few capacities, a line for each key, so that nothing is done key by key."""

from typing import Any, NamedTuple

import numpy as np

from sgais.estimators.importance.many import KeyedRows, capacity_of, padded_lines
from sgais.fields import Chunk


class Group(NamedTuple):
    """Keys whose rows have one capacity.

    Attributes:
        lines: Their places among the keys that were asked for.
        rows: All their rows.
    """

    lines: np.ndarray
    rows: KeyedRows


class KeptRows:
    """All rows of the keys that are taken together; keys are numbers from 0 on."""

    def __init__(self) -> None:
        self.counts = np.zeros(0, np.int64)
        self._capacities, self._slots = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._pools: dict[int, Chunk] = {}
        self._free: dict[int, list[int]] = {}

    def grow(self, num_keys: int) -> None:
        """Room for so many keys."""
        more = np.zeros(max(0, num_keys - len(self.counts)), np.int64)
        self.counts = np.concatenate([self.counts, more])
        self._capacities = np.concatenate([self._capacities, more])
        self._slots = np.concatenate([self._slots, more])

    def joined(self, keys: np.ndarray, new: Chunk, starts: np.ndarray, counts: np.ndarray) -> list[Group]:
        """The rows of these keys with new ones behind them; nothing changes.

        Args:
            keys: The keys.
            new: New rows of all of them, one key after the other.
            starts: Where those of each begin.
            counts: How many those are.
        """
        totals = self.counts[keys] + counts
        capacities = np.array([capacity_of(int(total)) for total in totals], np.int64)
        groups = []
        for capacity in np.unique(capacities):
            lines = np.flatnonzero(capacities == capacity)
            columns = self._filled(keys[lines], new, starts[lines], counts[lines], int(capacity))
            groups.append(Group(lines, KeyedRows(columns, totals[lines])))
        return groups

    def outgrown(self, keys: np.ndarray, groups: list[Group]) -> np.ndarray:
        """Whether the rows of each key, as they were joined with new ones, need more room than before."""
        is_larger = np.zeros(len(keys), bool)
        for lines, rows in groups:
            is_larger[lines] = self._capacities[keys[lines]] < next(iter(rows.columns.values())).shape[1]
        return is_larger

    def put(self, keys: np.ndarray, rows: KeyedRows) -> None:
        """Keep all rows of these keys, instead of what was kept of them."""
        self.drop(keys)
        capacity = next(iter(rows.columns.values())).shape[1]
        slots = self._free_slots(capacity, len(keys), rows.columns)
        for name, values in rows.columns.items():
            self._pools[capacity][name][slots] = values
        self.counts[keys], self._capacities[keys], self._slots[keys] = rows.counts, capacity, slots

    def drop(self, keys: np.ndarray) -> None:
        """Forget the rows of these keys."""
        for capacity in np.unique(self._capacities[keys]):
            if capacity:
                self._free[int(capacity)] += self._slots[keys[self._capacities[keys] == capacity]].tolist()
        self.counts[keys], self._capacities[keys] = 0, 0

    def of(self, key: int) -> Chunk:
        """The rows of one key."""
        pool, slot, count = self._pools[int(self._capacities[key])], self._slots[key], self.counts[key]
        return {name: values[slot, :count] for name, values in pool.items()}

    @property
    def num_bytes(self) -> int:
        """Of all rows, and of the room for more."""
        return sum(values.nbytes for pool in self._pools.values() for values in pool.values())

    def state(self) -> dict[str, Any]:
        """For a checkpoint: the rows of one key after the other."""
        parts = [self.of(key) for key in np.flatnonzero(self.counts).tolist()]
        names = parts[0] if parts else {}
        rows = {name: np.concatenate([part[name] for part in parts]) for name in names}
        return {"counts": self.counts, "rows": rows}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "KeptRows":
        """The rows that had this state."""
        kept, counts = cls(), state["counts"]
        kept.grow(len(counts))
        keys = np.flatnonzero(counts)
        starts = (np.cumsum(counts) - counts)[keys]
        for group in kept.joined(keys, state["rows"], starts, counts[keys]):
            kept.put(keys[group.lines], group.rows)
        return kept

    def _filled(self, keys: np.ndarray, new: Chunk, starts: np.ndarray, counts: np.ndarray, capacity: int) -> Chunk:
        old_counts, places = self.counts[keys], np.arange(capacity)
        source = padded_lines(starts - old_counts, old_counts + counts, capacity)
        columns = {name: values[np.maximum(source, 0)] for name, values in new.items()}  # old rows follow
        for old_capacity in np.unique(self._capacities[keys]):
            if old_capacity:
                some = np.flatnonzero(self._capacities[keys] == old_capacity)
                is_old = places[:old_capacity] < old_counts[some, None]
                pool = self._pools[int(old_capacity)]
                line, place = np.nonzero(is_old)
                for name, values in columns.items():
                    values[some[line], place] = pool[name][self._slots[keys[some[line]]], place]
        return columns

    def _free_slots(self, capacity: int, count: int, like: Chunk) -> np.ndarray:
        """Places for so many keys; there is room for an eighth more, so that seldom is anything copied."""
        free = self._free.setdefault(capacity, [])
        if len(free) < count:
            pool = self._pools.get(capacity)
            size = 0 if pool is None else len(next(iter(pool.values())))
            added = max(count - len(free), size // 8)
            self._pools[capacity] = {
                name: _longer(None if pool is None else pool[name], added, values) for name, values in like.items()
            }
            free[:0] = range(size + added - 1, size - 1, -1)
        taken = free[len(free) - count :]
        del free[len(free) - count :]
        return np.array(taken[::-1], np.int64)


def _longer(pool: np.ndarray | None, added: int, like: np.ndarray) -> np.ndarray:
    more = np.zeros((added, *like.shape[1:]), like.dtype)
    return more if pool is None else np.concatenate([pool, more])
