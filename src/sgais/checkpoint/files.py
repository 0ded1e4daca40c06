"""One checkpoint, one file: written beside the old one, checked, and only then put in its place.

A file is one line of JSON (format, checksum) and a NumPy archive. The checkpoint before it stays as a second
generation, which is read where the first turns out to be damaged.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sgais.checkpoint import durable
from sgais.checkpoint.archive import pack, unpack
from sgais.checkpoint.encoding import decode
from sgais.errors import CheckpointError, SgaisError

FORMAT = 1
NAME = "sgais checkpoint"


class _DamagedError(CheckpointError):
    """The file is not what was written."""


def write(path: str | Path, content: Mapping[str, Any]) -> None:
    """Put a checkpoint in the place of the one before, which becomes the previous generation.

    Whenever the process or the machine stops, there is a whole checkpoint under one of the two names.
    """
    path, payload = Path(path), pack(content)
    header = {"name": NAME, "format": FORMAT, "sha256": hashlib.sha256(payload).hexdigest()}
    try:
        unfinished = durable.write_beside(path, json.dumps(header).encode() + b"\n" + payload)
        _keep_as_previous(path)
        durable.put_in_place(unfinished, path)
    except OSError as error:
        durable.forget_beside(path)
        raise CheckpointError(
            f"`path` must be a place that can be written to, got {path}: {error.strerror or error}. Make room or "
            "choose another folder; the checkpoint before, if there was one, is untouched."
        ) from error


def read(path: str | Path, types: Mapping[str, type]) -> dict[str, Any]:
    """The content of a checkpoint, or, with a warning, of its previous generation if it is damaged.

    Args:
        path: The file.
        types: Of the records in it, by name.
    """
    path = Path(path)
    try:
        return _read(path, types)
    except (_DamagedError, FileNotFoundError) as error:
        if not previous(path).exists():
            if isinstance(error, FileNotFoundError):
                raise CheckpointError(f"`path` must be a checkpoint, got {path}, which does not exist.") from error
            raise
        content = _read(previous(path), types)
        warnings.warn(f"{error} Using the previous generation, {previous(path)}.", stacklevel=3)
        return content


def require_part(path: str | Path, content: Mapping[str, Any], part: str, owner: str) -> None:
    """Refuse the checkpoint of something that has no such part."""
    if part not in content:
        raise CheckpointError(
            f"`path` must be a checkpoint of {owner}, got {path}, which something else has saved. Load it with what "
            "saved it."
        )


@contextmanager
def explained(path: str | Path) -> Iterator[None]:
    """Whatever is wrong with what a file holds is an error that names the file: nobody vouches for its content."""
    try:
        yield
    except SgaisError:
        raise
    except Exception as error:
        raise CheckpointError(
            f"{path} must hold what this version of sgais saves, got something else ({type(error).__name__}: {error}). "
            "It was not written by sgais, or by another version of it."
        ) from error


@contextmanager
def offering_previous(path: str | Path) -> Iterator[None]:
    """Where a whole checkpoint is refused, tell of the one before: it may be the one that was meant."""
    try:
        with explained(path):
            yield
    except _DamagedError:
        raise  # by now, both are
    except CheckpointError as error:
        if not previous(path).exists():
            raise
        raise CheckpointError(f"{error} The previous generation is {previous(path)}.") from error


def previous(path: str | Path) -> Path:
    """Where the checkpoint before the present one is kept."""
    path = Path(path)
    return path.with_name(path.name + ".previous")


def is_whole(path: Path) -> bool:
    """Whether a file is as it was written."""
    try:
        _checked_payload(path)
    except (_DamagedError, OSError):
        return False
    return True


def _read(path: Path, types: Mapping[str, type]) -> dict[str, Any]:
    header, payload = _checked_payload(path)
    if header["format"] > FORMAT:
        raise CheckpointError(
            f"{path} has format {header['format']}, and this version of sgais reads up to {FORMAT}. Update sgais."
        )
    with explained(path):
        tree, arrays = unpack(payload)
        content: dict[str, Any] = decode(tree, arrays, types)
        return content


def _checked_payload(path: Path) -> tuple[dict[str, Any], bytes]:
    line, _, payload = path.read_bytes().partition(b"\n")
    header = _header(path, line)
    if hashlib.sha256(payload).hexdigest() != header["sha256"]:
        raise _DamagedError(f"{path} is damaged: it was cut off or changed after it was written.")
    return header, payload


def _header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
        if header["name"] == NAME and isinstance(header["format"], int) and isinstance(header["sha256"], str):
            return dict(header)
    except (ValueError, TypeError, KeyError):
        pass
    raise _DamagedError(f"{path} is damaged, or no checkpoint: its first line is not that of one.")


def _keep_as_previous(path: Path) -> None:
    """A second name for the present checkpoint, so that there is no moment without one.

    A checkpoint that was damaged since must not take the place of the one before it, which may be the only good one.
    """
    if not path.exists() or not is_whole(path):
        return
    second_name = path.with_name(path.name + ".link")
    second_name.unlink(missing_ok=True)
    os.link(path, second_name)
    second_name.replace(previous(path))
