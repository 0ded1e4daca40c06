"""Files that are whole or not there, whenever the process or the machine stops, and that only their owner may read."""

import contextlib
import os
from pathlib import Path


def private(path: str, flags: int) -> int:
    """An opener for files that hold somebody's rows: nobody else on the machine may read what it makes."""
    return os.open(path, flags, 0o600)


def replace(path: Path, content: bytes) -> None:
    """Put a file in the place of the one before; it is on disk for good when this returns."""
    unfinished = write_beside(path, content)
    put_in_place(unfinished, path)


def write_beside(path: Path, content: bytes) -> Path:
    """Write what is to take the place of a file, and return where it is; where that fails, nothing is left of it."""
    unfinished = _beside(path)
    try:
        unfinished.unlink(missing_ok=True)
        with open(unfinished, "wb", opener=private) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        forget_beside(path)
        raise
    return unfinished


def forget_beside(path: Path) -> None:
    """Delete what was to take the place of a file, if that can be done."""
    with contextlib.suppress(OSError):
        _beside(path).unlink(missing_ok=True)


def put_in_place(unfinished: Path, path: Path) -> None:
    """Give the file that was written beside another the other's name."""
    unfinished.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Names are on disk only once their folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(path: Path) -> Path:
    return path.with_name(path.name + ".unfinished")
