"""Text that comes in lines: a file, plain or compressed, a file that is still being written, standard input.

Each hands out blocks of whole lines. Bytes that are not UTF-8 become lone surrogates, which no number and no category
contains, so that one bad byte spoils its own row and not the file.
"""

import gzip
import math
import os
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from sgais.errors import DataError, require
from sgais.streams.source import read_only_once

BLOCK_BYTES = 1 << 20
POLL_SECONDS = 0.02


class Lines(Protocol):
    """Something that lines of text can be read from.

    Attributes:
        name: What messages call it.
        is_live: Whether reading may have to wait for somebody who writes.
        may_grow: Whether what is unfinished at the end may be finished later, so that it is not an error.
    """

    name: str
    is_live: bool
    may_grow: bool

    def blocks(self) -> Iterator[str]:
        """Hand out the text from the beginning, cut behind ends of lines; empty text if there is none yet."""


def is_utf8(text: str) -> bool:
    """Whether all of its bytes were."""
    return not any("\udc80" <= letter <= "\udcff" for letter in text)


def unmarked(blocks: Iterator[str]) -> Iterator[str]:
    """The blocks without the byte order mark that some programs put in front of a text."""
    is_begun = False
    for block in blocks:
        yield block if is_begun else block.removeprefix("\ufeff")
        is_begun = is_begun or bool(block)


class FileLines:
    """A file that is complete."""

    is_live = False
    may_grow = False

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = Path(path)
        if self._path.exists() and not self._path.is_file():
            raise DataError(f"`source` must be a file, got {path}. A pipe is read as standard input, '-'.")
        with _explained(self._path), _open(self._path) as file:
            file.read(1)

    def blocks(self) -> Iterator[str]:
        """Hand out the whole text; a last line without an end counts as one."""
        with _explained(self._path), _open(self._path) as file:
            yield from whole_lines(iter(lambda: file.read(BLOCK_BYTES), b""))


class StandardInputLines:
    """What another program writes to this one; it comes once."""

    name = "standard input"
    is_live = True
    may_grow = False

    def __init__(self) -> None:
        self._was_read = False

    def blocks(self) -> Iterator[str]:
        """Hand out what has arrived, as it arrives."""
        self._was_read = read_only_once(self.name, self._was_read)
        # Not through the buffer of sys.stdin: a thread that waits inside it would make Python crash at its exit.
        descriptor = sys.stdin.fileno()
        yield from whole_lines(iter(lambda: os.read(descriptor, BLOCK_BYTES), b""))


class FollowedLines:
    """A file that grows. It ends when nothing was added for `patience` seconds.

    A line counts once its end has been written; what stands behind the last end is left for a later stream.
    """

    is_live = True
    may_grow = True

    def __init__(self, path: str, patience: float) -> None:
        is_time = isinstance(patience, int | float) and not math.isnan(patience) and patience >= 0
        require(is_time, "follow_seconds", "be a number of seconds, at least 0", patience)
        require(not path.endswith(".gz"), "follow_seconds", "come with a file that is not compressed", path)
        self.name = path
        self._path = Path(path)
        self._patience = patience
        with _explained(self._path), self._path.open("rb"):
            pass

    def blocks(self) -> Iterator[str]:
        """Hand out what was added; empty text while nothing is."""
        unfinished = b""
        last_news = time.monotonic()
        with _explained(self._path), self._path.open("rb", buffering=0) as file:
            while True:
                block = file.read(BLOCK_BYTES)
                if block:
                    last_news = time.monotonic()
                    complete, unfinished = _cut(unfinished + block)
                    yield _text(complete)
                    continue
                self._check_same_file(file)
                if time.monotonic() - last_news >= self._patience:
                    return
                yield ""
                time.sleep(POLL_SECONDS)

    def _check_same_file(self, file: BinaryIO) -> None:
        """Refuse to continue in a file that is no longer the one whose rows have been counted."""
        ours = os.fstat(file.fileno())
        cure = "Start a new stream on the new file."
        try:
            present = self._path.stat()
        except FileNotFoundError:
            present = None
        if present is None or (present.st_dev, present.st_ino) != (ours.st_dev, ours.st_ino):
            raise DataError(f"`{self.name}` must stay the same file while it is followed, got rotated. {cure}")
        if present.st_size < file.tell():
            raise DataError(
                f"`{self.name}` must only grow while it is followed, got truncated "
                f"from {file.tell()} to {present.st_size} bytes. {cure}"
            )


class _explained:  # noqa: N801 (used like a function)
    """Turns what the system says about a file into an error that says which file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, EOFError):
            raise DataError(f"`{self._path}` must be a whole gzip file, got one that ends too early.") from error
        if isinstance(error, gzip.BadGzipFile | zlib.error):
            raise DataError(f"`{self._path}` must be a gzip file, got something else: {error}.") from error
        if isinstance(error, OSError):
            raise DataError(f"`source` must be a file that can be read, got {self._path}: {error.strerror}.") from error


def _open(path: Path) -> BinaryIO:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def whole_lines(blocks: Iterator[bytes]) -> Iterator[str]:
    """The text of blocks of bytes, cut behind ends of lines."""
    unfinished = b""
    for block in blocks:
        complete, unfinished = _cut(unfinished + block)
        yield _text(complete)
    if unfinished:
        yield _text(unfinished)


def _cut(block: bytes) -> tuple[bytes, bytes]:
    """Cut behind the last end of a line."""
    end = block.rfind(b"\n") + 1
    return block[:end], block[end:]


def _text(block: bytes) -> str:
    return block.decode("utf-8", errors="surrogateescape")
