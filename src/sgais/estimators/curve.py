"""The records of a stream that does not end, column by column, which takes less memory than Python objects."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, get_type_hints

import numpy as np

from sgais.estimators.record import EvidenceRecord

NUMBERS = {name: kind for name, kind in get_type_hints(EvidenceRecord).items() if kind in (int, float)}
DTYPE = np.dtype([(name, np.int64 if kind is int else np.float64) for name, kind in NUMBERS.items()])
SMALLEST_BUFFER = 64


class Curve:
    """A list of `EvidenceRecord`."""

    def __init__(self) -> None:
        self._numbers = np.empty(SMALLEST_BUFFER, DTYPE)
        self._length = 0
        # A warning stays for many records: its text, and the number of the record from which on it holds.
        self._warnings, self._warned_from = [""], [0]

    def append(self, record: EvidenceRecord) -> None:
        """Add a record."""
        if self._length == len(self._numbers):
            self._numbers = np.concatenate([self._numbers, np.empty_like(self._numbers)])
        self._numbers[self._length] = tuple(getattr(record, name) for name in NUMBERS)
        if record.warning != self._warnings[-1]:
            self._warnings.append(record.warning)
            self._warned_from.append(self._length)
        self._length += 1

    def keep_latest(self, count: int) -> None:
        """Forget the records before the latest."""
        dropped = max(self._length - count, 0)
        kept = self._numbers[dropped : self._length]
        self._numbers = np.empty(max(SMALLEST_BUFFER, len(kept)), DTYPE)
        self._numbers[: len(kept)] = kept
        first = bisect_right(self._warned_from, dropped) - 1  # the warning that the first of those kept has
        self._warnings = self._warnings[first:]
        self._warned_from = [max(number - dropped, 0) for number in self._warned_from[first:]]
        self._length = len(kept)

    def columns(self) -> dict[str, np.ndarray]:
        """The numbers by name, and the warnings."""
        numbers = self._numbers[: self._length]
        columns = {name: numbers[name].copy() for name in NUMBERS}
        columns["warning"] = np.array([self._warning(number) for number in range(self._length)], np.str_)
        return {name: columns[name] for name in EvidenceRecord._fields}

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        numbers = {name: values for name, values in self.columns().items() if name in NUMBERS}
        return {"numbers": numbers, "warnings": self._warnings, "warned_from": self._warned_from}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Curve":
        """The curve that had this state."""
        curve = cls()
        curve._length = len(state["numbers"]["num_rows"])
        curve._numbers = np.empty(max(SMALLEST_BUFFER, curve._length), DTYPE)
        for name, values in state["numbers"].items():
            curve._numbers[name][: curve._length] = values
        curve._warnings, curve._warned_from = list(state["warnings"]), list(state["warned_from"])
        return curve

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> EvidenceRecord:
        number = range(self._length)[number]
        values = dict(zip(NUMBERS, self._numbers[number].tolist(), strict=True))
        return EvidenceRecord(**values, warning=self._warning(number))

    def __iter__(self) -> Iterator[EvidenceRecord]:
        return (self[number] for number in range(self._length))

    def _warning(self, number: int) -> str:
        return self._warnings[bisect_right(self._warned_from, number) - 1]
