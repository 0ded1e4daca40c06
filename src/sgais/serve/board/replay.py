"""A run that was saved, put on a board as if it had just come to its end."""

from collections.abc import Sequence
from math import nan

from sgais.comparison.records import ComparisonRecord
from sgais.monitoring.alarms import ModelAlarm
from sgais.monitoring.snapshot import alone
from sgais.results.record import EvidenceRecord
from sgais.serve.board.board import ENDED, REPLAY, Board
from sgais.serve.board.standing import Remarks


def board_of(
    title: str,
    models: Sequence[str],
    records: Sequence[EvidenceRecord] | Sequence[ComparisonRecord],
    alarms: Sequence[ModelAlarm],
    chunk_size: int,
) -> Board:
    """The board of a saved run."""
    board = Board(REPLAY, title, models, chunk_size)
    waiting = sorted(alarms, key=lambda alarm: alarm.row)
    for record in records:
        standings = record.models if isinstance(record, ComparisonRecord) else {models[0]: alone(record)}
        noticed = [alarm for alarm in waiting if alarm.row <= record.num_rows]
        waiting = waiting[len(noticed) :]
        board.add_point((record.num_rows, nan, nan, nan), standings, noticed)
    board.remark({name: Remarks(_last_warning(records, name)) for name in models})
    board.say(ENDED)
    return board


def _last_warning(records: Sequence[EvidenceRecord | ComparisonRecord], name: str) -> str:
    """The newest that the run gave of a model, where it had one at the end or on the way."""
    for record in reversed(records):
        if warning := _warning(record, name):
            is_last = record.num_rows == records[-1].num_rows
            return warning if is_last else f"at row {record.num_rows:,}, not at the end: {warning}"
    return ""


def _warning(record: EvidenceRecord | ComparisonRecord, name: str) -> str:
    if isinstance(record, EvidenceRecord):
        return record.warning
    return record.models[name].warning if name in record.models else ""
