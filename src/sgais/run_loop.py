"""The one loop by which a stream is taken in: from Python, from the command line and in the service.

It owns three things: where the stream stands, when a checkpoint is written (one that cannot be is a warning, never the
end of a run), and who is told after each chunk.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from sgais.checkpoint import Schedule
from sgais.errors import CheckpointError, ConfigError, SgaisError
from sgais.streams.seen import Seen, read_again

Record = TypeVar("Record")
Taken = TypeVar("Taken", covariant=True)


@dataclass(frozen=True)
class Place:
    """How far a stream has been taken in.

    Attributes:
        position: Rows of its source, bad ones included.
        num_bad_rows: Those among them that were refused.
        is_resumed: Whether the stream is still to be taken up again there.
        seen: What was read of the source up to there, where it was read from its beginning.
        bookmark: The position in the source's own terms, where it has bookmarks.
    """

    position: int = 0
    num_bad_rows: int = 0
    is_resumed: bool = False
    seen: Seen | None = field(default=None, compare=False)
    bookmark: dict[str, Any] | None = None


class Follower(Protocol[Taken]):
    """Whatever takes in chunks; where it stands is written by the loop alone.

    Attributes:
        place: Where it stands.
        num_left_out: Rows of the chunks that it took in and left out all the same, in this process.
    """

    place: Place
    num_left_out: int

    @property
    def num_rows(self) -> int:
        """Rows taken in so far."""

    def take_in(self, chunk: object, num_bad_rows: int) -> Taken:
        """Take in a chunk, of a stream that has refused so many rows by now; all of it or nothing."""


class Checkpoints:
    """When a follower is saved, and what happens where it cannot be.

    Args:
        follower: Told of in the warning.
        schedule: When.
        save: Writes a checkpoint.

    Attributes:
        is_saved: Whether the newest that was tried is there.
    """

    def __init__(self, follower: Follower[object], schedule: Schedule, save: Callable[[], None]) -> None:
        self._follower, self._schedule, self._save = follower, schedule, save
        self.is_saved = True

    def save_if_due(self) -> None:
        """After a chunk, or while none comes."""
        if self._schedule.is_due():
            self.save()

    def save(self) -> None:
        """Write a checkpoint, or warn that there is none."""
        if not self._follower.num_rows:
            return
        try:
            self._save()
            self.is_saved = True
        except CheckpointError as error:
            self.is_saved = False
            warnings.warn(f"no checkpoint at {self._follower.num_rows} rows: {error}", stacklevel=2)


class RunLoop(Generic[Record]):
    """Feeds chunks to a follower.

    Args:
        follower: Takes them in.
        checkpoints: Of it; none if omitted.
        after_chunk: Told of each record, before the checkpoint that may follow.
    """

    def __init__(
        self,
        follower: Follower[Record],
        checkpoints: Checkpoints | None = None,
        after_chunk: Sequence[Callable[[Record], None]] = (),
    ) -> None:
        self._follower, self._checkpoints, self._after_chunk = follower, checkpoints, list(after_chunk)

    def run(self, stream: Iterable[object]) -> None:
        """Take in a whole stream, from where the follower stands."""
        # What `sgais.stream` makes knows its position; for other iterables, rows are counted.
        source: Any = stream if hasattr(stream, "seek") and hasattr(stream, "position") else None
        if not self._take_up(source):
            return
        seen = self._seen_of(source)
        bad_before = self._follower.place.num_bad_rows - (0 if source is None else source.num_bad_rows)
        try:
            for chunk in stream:
                if source is None:
                    self.take_in(chunk)
                else:
                    seen = _joined(seen, chunk, source)
                    self.take_in(chunk, _place_of(source, bad_before, seen))
                    # Rows that were left out have joined the bad ones.
                    bad_before = self._follower.place.num_bad_rows - source.num_bad_rows
            if source is not None:  # bad rows behind the last chunk count as well
                self._follower.place = _place_of(source, bad_before, seen)
        except SgaisError:
            self._save()  # what was taken in before stands
            raise
        self._save()

    def _save(self) -> None:
        if self._checkpoints is not None:
            self._checkpoints.save()

    def take_in(self, chunk: object, behind: Place | None = None) -> Record:
        """Take in one chunk.

        Args:
            chunk: The rows.
            behind: Where the stream stands behind them; rows are counted if omitted.
        """
        follower, before = self._follower, self._follower.place
        rows_before, left_out_before = follower.num_rows, follower.num_left_out
        record = follower.take_in(chunk, before.num_bad_rows if behind is None else behind.num_bad_rows)
        left_out = follower.num_left_out - left_out_before
        if behind is None:
            position = before.position + follower.num_rows - rows_before + left_out
            behind = Place(position, before.num_bad_rows, before.is_resumed)
        follower.place = replace(behind, num_bad_rows=behind.num_bad_rows + left_out)
        for tell in self._after_chunk:
            tell(record)
        if self._checkpoints is not None:
            self._checkpoints.save_if_due()
        return record

    def pass_over(self, num_rows: int) -> None:
        """Continue behind rows that cannot be taken in."""
        place = self._follower.place
        self._follower.place = Place(place.position + num_rows, place.num_bad_rows + num_rows)

    def _seen_of(self, source: Any) -> Seen | None:
        """What has been read of the source so far, if that is known."""
        place = self._follower.place
        if source is None or _bookmark_of(source) is not None:
            return None
        if source.position == 0:
            return Seen()
        return place.seen if place.position == source.position else None

    def _take_up(self, source: Any) -> bool:
        """Go to where the checkpoint stopped, the first time after loading it; tells whether it was reached."""
        place = self._follower.place
        if not place.is_resumed:
            return True
        if source is None:
            raise ConfigError(
                f"`stream` must be one that can continue at row {place.position}, got a plain iterable. Wrap what it "
                "is made of in sgais.stream, or push the chunks that are left with `update`."
            )
        if place.bookmark is not None:
            source.seek(place.position, place.bookmark)
        elif place.seen is None:
            source.seek(place.position)
        elif not read_again(source, place.position, place.seen):
            return False
        self._follower.place = replace(place, is_resumed=False)
        return True


def _joined(seen: Seen | None, chunk: object, source: Any) -> Seen | None:
    """What was read, with a chunk; not kept where a bookmark says where to go on."""
    return None if seen is None or _bookmark_of(source) is not None else seen.joined_with(chunk)


def _place_of(source: Any, bad_before: int, seen: Seen | None) -> Place:
    """Where a source stands, of which so many bad rows had been refused before it was opened."""
    return Place(source.position, bad_before + source.num_bad_rows, seen=seen, bookmark=_bookmark_of(source))


def _bookmark_of(source: Any) -> dict[str, Any] | None:
    return getattr(source, "bookmark", None)


class Streamed(ABC, Generic[Record]):
    """What takes in a stream: `update` and `run` are the same for all, what a chunk does is its own.

    Attributes:
        place: How far the stream has been taken in; written by the loop alone.
        num_left_out: Rows of its chunks that were left out all the same, in this process.
    """

    place: Place
    num_left_out: int = 0

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """Rows seen so far."""

    @property
    @abstractmethod
    def last_record(self) -> Record | None:
        """What the newest chunk gave; None before the first."""

    @abstractmethod
    def take_in(self, chunk: object, num_bad_rows: int) -> Record:
        """What the run loop does with each chunk: all of `update`, but for where the stream stands behind it."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write everything that the future depends on to a file; the one before stays as its previous generation."""

    def update(self, chunk: object) -> Record:
        """Take in a chunk of any number of rows, and return its record. One that is refused changes nothing."""
        return RunLoop(self).take_in(chunk)

    def run(
        self,
        stream: Iterable[object],
        save_to: str | Path | None = None,
        every_chunks: int | None = None,
        every_seconds: float | None = 60.0,
        after_chunk: Callable[[Record], None] | None = None,
    ) -> Record | None:
        """Take in a whole stream, with checkpoints if `save_to` names a file; return the last record.

        After `load`, a stream of `sgais.stream` continues behind the last row that the checkpoint holds. A checkpoint
        that cannot be written is a warning, and the run continues.

        Args:
            stream: Chunks.
            save_to: The file for checkpoints: one at the end, and on the way as the next two say.
            every_chunks: Chunks from one checkpoint to the next; None for no such limit.
            every_seconds: Seconds from one checkpoint to the next; None for no such limit.
            after_chunk: Called with each record, before the checkpoint that may follow it.
        """
        checkpoints = None
        if save_to is not None:
            checkpoints = Checkpoints(self, Schedule(every_chunks, every_seconds), partial(self.save, save_to))
        RunLoop(self, checkpoints, [] if after_chunk is None else [after_chunk]).run(stream)
        return self.last_record
