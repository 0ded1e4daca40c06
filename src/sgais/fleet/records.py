"""What a fleet tells after a chunk."""

from typing import NamedTuple


class FleetAlarm(NamedTuple):
    """A change of one key's data, as the model that led has noticed it.

    Attributes:
        key: Whose rows.
        model: The model that led, and was surprised.
        row: Rows of the key when the alarm was raised.
        location: The row of the key, counted from 0, at which the change seems to begin; always where a chunk did.
        sign: -1 if rows have become less probable than was expected, +1 if more.
    """

    key: str
    model: str
    row: int
    location: int
    sign: int


class Switch(NamedTuple):
    """A key for which another model leads beyond doubt than the one that did before.

    Attributes:
        key: Whose rows.
        before: The model that led beyond doubt.
        after: The one that does now.
        row: Rows of the key by then.
    """

    key: str
    before: str
    after: str
    row: int


class FleetRecord(NamedTuple):
    """What is known after a chunk.

    Attributes:
        num_rows: Rows seen so far, of all keys.
        num_keys: Keys seen so far.
        num_new: Keys that appeared with the chunk.
        num_updated: Keys that had rows in the chunk.
        num_alone: Keys that have an estimator of their own.
        num_failed: Keys that no model can explain any longer.
        alarms: Of the chunk.
        switches: Of the chunk.
        seconds: Wall time of this update, compilation included.
    """

    num_rows: int
    num_keys: int
    num_new: int
    num_updated: int
    num_alone: int
    num_failed: int
    alarms: tuple[FleetAlarm, ...]
    switches: tuple[Switch, ...]
    seconds: float
