"""One checkpoint, one file: written beside the old one, checked, and only then put in its place.

A file is one line of JSON (format, checksum) and a NumPy archive. The checkpoint before it stays as a second
generation, which is read where the first turns out to be damaged.
"""

import hashlib
import io
import json
import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sgais.checkpoint.encoding import decode, encode
from sgais.errors import CheckpointError

FORMAT = 1
NAME = "sgais checkpoint"


class _DamagedError(CheckpointError):
    """The file is not what was written."""


def write(path: str | Path, content: Mapping[str, Any]) -> None:
    """Put a checkpoint in the place of the one before, which becomes the previous generation.

    Whenever the process or the machine stops, there is a whole checkpoint under one of the two names.
    """
    path, payload = Path(path), _pack(content)
    header = {"name": NAME, "format": FORMAT, "sha256": hashlib.sha256(payload).hexdigest()}
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(json.dumps(header).encode() + b"\n" + payload)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            _keep_as_previous(path)
        unfinished.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
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
        warnings.warn(f"{error} Going on from the previous generation, {previous(path)}.", stacklevel=3)
        return content


def require_part(path: str | Path, content: Mapping[str, Any], part: str, owner: str) -> None:
    """Refuse the checkpoint of something that has no such part."""
    if part not in content:
        raise CheckpointError(
            f"`path` must be a checkpoint of {owner}, got {path}, which something else has saved. Load it with what "
            "saved it."
        )


@contextmanager
def offering_previous(path: str | Path) -> Iterator[None]:
    """Where a whole checkpoint is refused, tell of the one before: it may be the one that was meant."""
    try:
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


def _read(path: Path, types: Mapping[str, type]) -> dict[str, Any]:
    line, _, payload = path.read_bytes().partition(b"\n")
    header = _header(path, line)
    if header["format"] > FORMAT:
        raise CheckpointError(
            f"{path} has format {header['format']}, and this version of sgais reads up to {FORMAT}. Update sgais."
        )
    if hashlib.sha256(payload).hexdigest() != header["sha256"]:
        raise _DamagedError(f"{path} is damaged: it was cut off or changed after it was written.")
    tree, arrays = _unpack(payload)
    content: dict[str, Any] = decode(tree, arrays, types)
    return content


def _header(path: Path, line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
        if header["name"] == NAME and isinstance(header["format"], int) and isinstance(header["sha256"], str):
            return dict(header)
    except (ValueError, TypeError, KeyError):
        pass
    raise _DamagedError(f"{path} is damaged, or no checkpoint: its first line is not that of one.")


def _pack(content: Mapping[str, Any]) -> bytes:
    arrays: list[np.ndarray] = []
    tree = np.frombuffer(json.dumps(encode(content, arrays)).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, tree=tree, **{str(number): array for number, array in enumerate(arrays)})
    return buffer.getvalue()


def _unpack(payload: bytes) -> tuple[Any, list[np.ndarray]]:
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as archive:
            tree = json.loads(archive["tree"].tobytes())
            return tree, [archive[str(number)] for number in range(len(archive.files) - 1)]
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise _DamagedError(f"the checkpoint cannot be read: {error}.") from error


def _keep_as_previous(path: Path) -> None:
    """A second name for the present checkpoint, so that there is no moment without one."""
    second_name = path.with_name(path.name + ".link")
    second_name.unlink(missing_ok=True)
    os.link(path, second_name)
    second_name.replace(previous(path))


def _sync_folder(folder: Path) -> None:
    """Names are on disk only once their folder is."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
