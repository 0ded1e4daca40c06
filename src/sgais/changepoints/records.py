"""What is known of change points after a chunk."""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_type_hints

import numpy as np

from sgais.results.record_table import GrowingTable


class Segment(NamedTuple):
    """A stretch of the stream without a change.

    Attributes:
        start: Its first row.
        end: The row behind its last.
        model: The model that makes it most probable.
        probability: That there is a change at `start`, all rows considered; 1 for the first segment.
    """

    start: int
    end: int
    model: str
    probability: float


class Segmentation(NamedTuple):
    """Where a stream has changed, as far as its rows tell; what figures, tables and the page show.

    Attributes:
        num_rows: Rows seen so far.
        borders: The rows before which there may be a change: where chunks ended.
        probability: Of a change at each of them, given all rows so far.
        segments: The most probable ones.
    """

    num_rows: int
    borders: np.ndarray
    probability: np.ndarray
    segments: list[Segment]


class ChangePointRecord(NamedTuple):
    """What is known after a chunk.

    Attributes:
        num_rows: Rows seen so far.
        log_evidence: log Z of all rows so far, with the change points (and the models of the segments) summed out.
        standard_error: Of `log_evidence`.
        increment: log Z of this chunk given the rows before it: the prequential score.
        probability: That the chunk was the first after a change, as far as it can tell by itself.
        run_length: Rows since the latest change, by the posterior mean.
        num_segments: Segments in the bank, of all models.
        warning: Why `log_evidence` should not be trusted; empty if nothing is known against it.
        seconds: Wall time of this update, compilation included.
    """

    num_rows: int
    log_evidence: float
    standard_error: float
    increment: float
    probability: float
    run_length: float
    num_segments: int
    warning: str
    seconds: float


NUMBERS = {name: kind for name, kind in get_type_hints(ChangePointRecord).items() if kind in (int, float)}


class ChangePointRecords:
    """A list of `ChangePointRecord` that stays small: a table of numbers, and each warning once."""

    def __init__(self) -> None:
        self._numbers = GrowingTable({**NUMBERS, "warning": int})
        self._warnings: dict[str, int] = {}

    def append(self, record: ChangePointRecord) -> None:
        """Add a record."""
        warning = self._warnings.setdefault(record.warning, len(self._warnings))
        self._numbers.append((*(getattr(record, name) for name in NUMBERS), warning))

    def columns(self) -> dict[str, np.ndarray]:
        """All records, column by column."""
        columns = self._numbers.columns()
        columns["warning"] = np.array([*self._warnings, ""], object)[columns["warning"]]
        return {name: columns[name] for name in ChangePointRecord._fields}

    def state(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"numbers": self._numbers.columns(), "warnings": [*self._warnings]}

    @classmethod
    def restored(cls, state: dict[str, Any]) -> "ChangePointRecords":
        """The records that had this state."""
        records = cls()
        records._numbers.extend(state["numbers"])
        records._warnings = {warning: number for number, warning in enumerate(state["warnings"])}
        return records

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, number: int) -> ChangePointRecord:
        values = self._numbers[range(len(self))[number]]
        return ChangePointRecord(**values | {"warning": [*self._warnings][values["warning"]]})

    def __iter__(self) -> Iterator[ChangePointRecord]:
        return (self[number] for number in range(len(self)))
