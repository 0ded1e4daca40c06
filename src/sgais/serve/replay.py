"""A run that was saved, put on a board as if it had just come to its end."""

from collections.abc import Sequence
from math import nan

from sgais.estimators.record import EvidenceRecord
from sgais.serve.board import ENDED, REPLAY, Board, ShownAlarm
from sgais.serve.standing import alone, compared
from sgais.standings import ComparisonRecord


def board_of(
    title: str,
    models: Sequence[str],
    records: Sequence[EvidenceRecord] | Sequence[ComparisonRecord],
    alarms: Sequence[ShownAlarm],
    chunk_size: int,
) -> Board:
    """The board of a saved run."""
    board = Board(REPLAY, title, models, chunk_size)
    waiting = sorted(alarms, key=lambda alarm: alarm.row)
    for record in records:
        if isinstance(record, ComparisonRecord):
            standings = {name: compared(record, name) for name in models}
        else:
            standings = {models[0]: alone(record)}
        noticed = [alarm for alarm in waiting if alarm.row <= record.num_rows]
        waiting = waiting[len(noticed) :]
        board.add_point((record.num_rows, nan, nan, nan), standings, noticed)
    board.say(ENDED)
    return board
