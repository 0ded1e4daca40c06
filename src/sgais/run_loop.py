"""Take in a whole stream, with checkpoints on the way, and go on where the last checkpoint stopped."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from sgais.checkpoint import Schedule
from sgais.errors import CheckpointError, ConfigError


@dataclass
class Place:
    """How far a stream has been taken in.

    Attributes:
        position: Rows of its source, bad ones included.
        num_bad_rows: Those among them that were refused.
        is_resumed: Whether the stream is still to be taken up again there.
    """

    position: int = 0
    num_bad_rows: int = 0
    is_resumed: bool = False


class Follower(Protocol):
    """Whatever takes in chunks and can be saved."""

    place: Place

    @property
    def num_rows(self) -> int:
        """Rows taken in so far."""

    def update(self, chunk: object) -> object:
        """Take in a chunk."""

    def save(self, path: str | Path) -> None:
        """Write a checkpoint."""


def run(follower: Follower, stream: Iterable[object], schedule: Schedule | None) -> None:
    """Feed the stream to the follower; a checkpoint that cannot be written is a warning."""
    place = follower.place
    # What `sgais.stream` makes knows its position; for other iterables, rows are counted.
    source: Any = stream if hasattr(stream, "seek") and hasattr(stream, "position") else None
    _take_up(place, source)
    bad_before = place.num_bad_rows - (source.num_bad_rows if source is not None else 0)
    for chunk in stream:
        if source is not None:
            place.num_bad_rows = bad_before + source.num_bad_rows
        follower.update(chunk)
        if source is not None:
            place.position = source.position
        if schedule is not None and schedule.is_due():
            _save_or_warn(follower, schedule.path)
    if schedule is not None and follower.num_rows:
        _save_or_warn(follower, schedule.path)


def _take_up(place: Place, source: Any) -> None:
    """Go to where the checkpoint stopped, the first time after loading it."""
    if not place.is_resumed:
        return
    if source is None:
        raise ConfigError(
            f"`stream` must be one that can go on at row {place.position}, got a plain iterable. Wrap what it is made "
            "of in sgais.stream, or push the chunks that are left with `update`."
        )
    source.seek(place.position)
    place.is_resumed = False


def _save_or_warn(follower: Follower, path: str | Path) -> None:
    try:
        follower.save(path)
    except CheckpointError as error:
        warnings.warn(f"no checkpoint at {follower.num_rows} rows: {error}", stacklevel=4)
