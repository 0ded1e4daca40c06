"""A list of files that grows, and how each is opened."""

from typing import Any, NamedTuple, Protocol

from sgais.streams.remote.patience import Failures


class FileEntry(NamedTuple):
    """A file as its store describes it.

    Attributes:
        path: Its name.
        size: In bytes.
        tag: Changes with its content.
    """

    path: str
    size: int
    tag: str


class Listing(Protocol):
    """Files in the order in which they are read.

    Attributes:
        failures: The errors after which it may help to try again.
    """

    failures: Failures

    def files(self) -> list[FileEntry]:
        """Those that there are now."""

    def open(self, entry: FileEntry) -> Any:
        """A file of bytes; reading fails if its content is no longer that of the entry."""
