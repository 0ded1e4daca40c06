"""The records of a stream that does not end, column by column, which takes less memory than Python objects."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, get_type_hints

import numpy as np

from sgais.results.record import EvidenceRecord
from sgais.results.record_table import GrowingTable

NUMBERS = {name: kind for name, kind in get_type_hints(EvidenceRecord).items() if kind in (int, float)}


class Curve:
    """A list of `EvidenceRecord`."""

    def __init__(self) -> None:
        self._numbers = GrowingTable(NUMBERS)
        # A warning stays for many records: its text, and the number of the record from which on it holds.
        self._warnings, self._warned_from = [""], [0]
        self.last: EvidenceRecord | None = None  # asked for many times a chunk

    def append(self, record: EvidenceRecord) -> None:
        """Add a record."""
        if record.warning != self._warnings[-1]:
            self._warnings.append(record.warning)
            self._warned_from.append(len(self))
        self._numbers.append(tuple(getattr(record, name) for name in NUMBERS))
        self.last = record

    def keep_latest(self, count: int) -> None:
        """Forget the records before the latest."""
        dropped = max(len(self) - count, 0)
        self._numbers.keep_latest(count)
        first = bisect_right(self._warned_from, dropped) - 1  # the warning that the first of those kept has
        self._warnings = self._warnings[first:]
        self._warned_from = [max(number - dropped, 0) for number in self._warned_from[first:]]

    def columns(self) -> dict[str, np.ndarray]:
        """The numbers by name, and the warnings."""
        columns = self._numbers.columns()
        columns["warning"] = np.array([self._warning(number) for number in range(len(self))], np.str_)
        return {name: columns[name] for name in EvidenceRecord._fields}

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"numbers": self._numbers.columns(), "warnings": self._warnings, "warned_from": self._warned_from}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "Curve":
        """The curve that had this state."""
        curve = cls()
        curve._numbers.extend(state["numbers"], EvidenceRecord._field_defaults)
        curve._warnings, curve._warned_from = list(state["warnings"]), list(state["warned_from"])
        curve.last = curve[-1] if len(curve) else None
        return curve

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> EvidenceRecord:
        number = range(len(self))[number]
        return EvidenceRecord(**self._numbers[number], warning=self._warning(number))

    def __iter__(self) -> Iterator[EvidenceRecord]:
        return (self[number] for number in range(len(self)))

    def _warning(self, number: int) -> str:
        return self._warnings[bisect_right(self._warned_from, number) - 1]
