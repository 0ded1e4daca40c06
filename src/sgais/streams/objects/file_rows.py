"""Many files as one stream, in the order of their names; new ones come behind.

The bookmark names every file read so far with its size and tag, so that a file that was written anew is noticed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sgais.errors import DataError
from sgais.streams.objects.file_parts import FileParts
from sgais.streams.objects.listing import FileEntry, Listing
from sgais.streams.remote.address import Address
from sgais.streams.remote.bookmarks import check_kind, rows_gone, skipped
from sgais.streams.remote.patience import Follow, retried, retry_seconds, waiting
from sgais.streams.source import Bookmark, Piece

KIND = "files"
POLL_SECONDS = 1.0  # from one look for new files to the next


class FileRows:
    """The rows of files.

    Args:
        address: Where they are.
        listing: Which there are.
        format_name: Of all of them; by their names if None.
        follow_seconds: How long to wait for more of them; None for those that are there.
    """

    total_rows: int | None = None
    column_names: list[str] | None = None
    is_at_hand = False

    def __init__(
        self, address: Address, listing: Listing, format_name: str | None, follow_seconds: float | None
    ) -> None:
        self.name = address.shown
        self._address, self._listing = address, listing
        self._format_name, self._follow_seconds = format_name, follow_seconds
        self._retry_seconds = retry_seconds(address)
        FileParts(self.name, listing, format_name, None)  # refuses a format that there is not
        Follow(follow_seconds)

    def read(self, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:
        """Hand out the rows from row `start` on, with the wanted columns or with all."""
        return skipped(self._read(None, wanted), start, self.name)

    def resume(self, bookmark: Bookmark, start: int, wanted: Sequence[str] | None) -> Iterator[Piece]:  # noqa: ARG002
        """Hand out the rows behind a bookmark; refuse if files were written anew, or came between those read."""
        return self._read(check_kind(self.name, bookmark, KIND), wanted)

    def _read(self, bookmark: Bookmark | None, wanted: Sequence[str] | None) -> Iterator[Piece]:
        parts = FileParts(self.name, self._listing, self._format_name, wanted)
        reader = _Reader(self.name, self._listing, parts, Follow(self._follow_seconds))
        if bookmark is not None:
            reader.files, reader.row = [FileEntry(*entry) for entry in bookmark["files"]], int(bookmark["row"])
        return retried(reader.read_on, self._address, self._listing.failures, self._retry_seconds)


class _Reader:
    """How far one reading has come: the files begun, and the rows read of the last of them."""

    def __init__(self, name: str, listing: Listing, parts: FileParts, follow: Follow) -> None:
        self.files: list[FileEntry] = []
        self.row = 0
        self._name, self._listing, self._parts, self._follow = name, listing, parts, follow
        self._end: str | None = None  # the last file, if none are waited for that come later

    def read_on(self) -> Iterator[Piece]:
        """List and hand out what comes after the last row read."""
        there = self._listing.files()
        self._follow.note_news()  # the server is back
        if self.files:
            self._check(there)
            yield from self._rest_of(self.files[-1])
        while True:
            new = self._new_files()
            for entry in new:
                self.files, self.row = [*self.files, entry], 0
                yield from self._rest_of(entry)
            if new:
                self._follow.note_news()
            if self._follow.is_over:
                return
            yield from waiting(POLL_SECONDS)

    def _rest_of(self, entry: FileEntry) -> Iterator[Piece]:
        for piece in self._parts.read(entry, self.row):
            before, self.row = self.row, self.row + piece.num_rows
            yield piece._replace(bookmark_behind=self._bookmark(before))

    def _bookmark(self, before: int) -> Callable[[int], Bookmark]:
        files = self.files
        return lambda rows: {"kind": KIND, "files": [list(entry) for entry in files], "row": before + rows}

    def _new_files(self) -> list[FileEntry]:
        there = self._listing.files()
        self._check(there)
        if not there and not self.files and not self._follow.is_following:
            raise DataError(f"`{self._name}` must be files that exist, got none.")
        if not self._follow.is_following and self._end is None:
            self._end = there[-1].path if there else ""
        last = self.files[-1].path if self.files else ""
        return [entry for entry in there if entry.path > last and (self._end is None or entry.path <= self._end)]

    def _check(self, there: list[FileEntry]) -> None:
        """Refuse files that were written anew, the loss of the one being read, and new ones that come too early."""
        present: dict[str, Any] = {entry.path: entry for entry in there}
        for entry in self.files:
            if entry != present.get(entry.path, entry):
                raise rows_gone(self._name, f"{entry.path} written anew after it was read")
        if not self.files:
            return
        last = self.files[-1].path
        if last not in present:
            raise rows_gone(self._name, f"{last} deleted, of which {self.row} rows were read")
        early = sorted({path for path in present if path < last} - {entry.path for entry in self.files})
        if early:
            raise DataError(
                f"`{self._name}` must get new files behind those that were read, got {early[0]} before {last}. "
                "Give new files names that sort behind the old ones, and start a new run."
            )
