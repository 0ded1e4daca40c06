"""The payload of a checkpoint: a NumPy archive of a tree and its arrays.

What is read may have been made by anybody: no member is compressed, and none says that it has more numbers than bytes,
so that reading takes no more memory than the file has bytes.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib import format as npy

from sgais.checkpoint.encoding import encode

TREE = "tree"


def pack(content: Mapping[str, Any]) -> bytes:
    """The bytes of a tree."""
    arrays: list[np.ndarray] = []
    tree = np.frombuffer(json.dumps(encode(content, arrays)).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{TREE: tree}, **{str(number): array for number, array in enumerate(arrays)})
    return buffer.getvalue()


def unpack(payload: bytes) -> tuple[Any, list[np.ndarray]]:
    """The tree that was packed, still encoded, and its arrays."""
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        members = {member.filename: member for member in archive.infolist()}
        if sum(member.file_size for member in members.values()) > len(payload):
            raise ValueError("its parts are larger than all of it")
        found = {name: _array(archive, member) for name, member in members.items()}
    tree = json.loads(found.pop(f"{TREE}.npy").tobytes())
    return tree, [found[f"{number}.npy"] for number in range(len(found))]


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError("a part of it is compressed")
    file = io.BytesIO(archive.read(member))
    version = npy.read_magic(file)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, is_fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    numbers = np.frombuffer(file.getbuffer()[file.tell() :], dtype)
    return numbers.reshape(shape, order="F" if is_fortran else "C").copy(order="K")
