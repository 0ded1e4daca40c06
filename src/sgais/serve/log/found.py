"""What a service finds of its log when it starts, held against what is known to have been acknowledged."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from sgais.errors import CheckpointError
from sgais.serve.log.damage import whole_batch_in
from sgais.serve.log.entry import Entry
from sgais.serve.log.newest import Newest
from sgais.serve.log.segment import Segment, first_row_of, is_empty, segment_files, set_aside


class Witness(NamedTuple):
    """What is known of the log from elsewhere.

    Attributes:
        first_row: The first row that is still needed.
        acknowledged: Rows that a checkpoint knows to have been acknowledged.
        newest: The note that names the newest file.
    """

    first_row: int
    acknowledged: int
    newest: Newest


class Found:
    """The files that can be resumed.

    Args:
        folder: Of the log.
        witness: What should be there.
        gives_up: Whether to continue without acknowledged rows that are damaged or gone.

    Attributes:
        segments: In the order of their rows, without gaps.
        entries: The headers of their batches.
        end_row: The row behind them.
        num_torn_bytes: Bytes of a batch whose writing was cut short.
        has_given_up: Whether acknowledged rows are missing.
    """

    def __init__(self, folder: Path, witness: Witness, gives_up: bool) -> None:
        self._folder, self._witness, self._gives_up = folder, witness, gives_up
        self.segments: list[Segment] = []
        self.entries: list[Entry] = []
        self.num_torn_bytes = 0
        self.has_given_up = False
        named = self._named()
        self._read(self._begun_files(named))
        self._check_tail()
        self._check_beginning()
        self.end_row = self.segments[-1].end_row if self.segments else witness.first_row
        self._check_end(named)
        if self.segments:
            self.num_torn_bytes = self.segments[-1].cut_off_tail()

    def _named(self) -> int | None:
        try:
            return self._witness.newest.read()
        except CheckpointError:
            if not self._gives_up:
                raise
            return None

    def _begun_files(self, named: int | None) -> list[Path]:
        """The files of the log; one in which nothing was ever acknowledged does not count."""
        paths = segment_files(self._folder)
        if paths and is_empty(paths[-1]) and first_row_of(paths[-1]) != named:
            set_aside(paths.pop())
        return paths

    def _read(self, paths: list[Path]) -> None:
        for place, path in enumerate(paths):
            try:
                segment, entries = Segment.read(path)
            except CheckpointError as error:
                self._lose(first_row_of(path), str(error), paths[place:])
                return
            end_row = self.segments[-1].end_row if self.segments else segment.first_row
            if segment.first_row != end_row and segment.first_row <= self._witness.first_row:
                # Nobody needs what is damaged, unless the checkpoint is lost and the one before has to do.
                self._set_aside(self.segments)
                warnings.warn(f"{self._folder} is damaged in front of row {segment.first_row:,}", stacklevel=6)
            elif segment.first_row != end_row:
                why = f"{path} must begin with row {end_row:,}, got {segment.first_row:,}: the one before is damaged."
                self._lose(end_row, why, paths[place:])
                return
            self.segments.append(segment)
            self.entries += entries

    def _check_tail(self) -> None:
        """What stands behind the last batch must be the torn end of a write, and not damage."""
        if not self.segments:
            return
        last = self.segments[-1]
        behind = whole_batch_in(last.tail(), last.end_row, last.dtype.itemsize)
        if behind is not None:
            known = behind.first_row + behind.num_rows
            why = f"{last.path} is damaged at row {last.end_row:,}: a whole batch follows, which ends at row {known:,}."
            self._lose(last.end_row, why)

    def _check_beginning(self) -> None:
        if self.segments and self.segments[0].first_row > self._witness.first_row:
            first, held = self._witness.first_row, self.segments[0].first_row
            self._lose(first, f"{self._folder} must hold row {first:,}, got {held:,} as its first.")
            self._set_aside(self.segments)

    def _check_end(self, named: int | None) -> None:
        known = max(self._witness.first_row, self._witness.acknowledged)
        if self.end_row < known:
            why = f"{self._folder} must hold the rows to {known:,}, got a log that ends at {self.end_row:,}."
            self._lose(self.end_row, why)
        elif named is not None and named not in [segment.first_row for segment in self.segments]:
            why = f"{self._folder} must have the file that begins with row {named:,}, got none."
            self._lose(max(named, self._witness.first_row), why)
        if self.end_row < self._witness.first_row:
            self._set_aside(self.segments)
            self.end_row = self._witness.first_row

    def _lose(self, first_row: int, why: str, paths: Sequence[Path] = ()) -> None:
        """Acknowledged rows are missing: somebody has to decide, or has decided."""
        if not self._gives_up:
            raise CheckpointError(
                f"{why} Rows from {first_row:,} on that were acknowledged are missing. Put the files back from a copy, "
                "or give these rows up for good: sgais serve --save DIR --accept-lost-rows."
            )
        self.has_given_up = True
        for path in paths:
            set_aside(path)

    def _set_aside(self, segments: list[Segment]) -> None:
        for segment in segments:
            set_aside(segment.path)
        segments.clear()
        self.entries.clear()
