"""One batch of rows as it stands in the log: a header with checksums, then the rows as records."""

import struct
import zlib
from typing import BinaryIO, NamedTuple

import numpy as np

NO_KEY = bytes(16)
_FIELDS = struct.Struct("<IIQI16s")  # length and checksum of the rows, number of the first, how many, key
FIELDS_DTYPE = np.dtype(
    [("size", "<u4"), ("checksum", "<u4"), ("first_row", "<u8"), ("num_rows", "<u4"), ("key", "V16")]
)  # the same, to look at many places at once
_CHECKSUM = struct.Struct("<I")
HEADER_SIZE = _FIELDS.size + _CHECKSUM.size


class Entry(NamedTuple):
    """The header of a batch.

    Attributes:
        size: Bytes of its rows.
        checksum: Of those bytes.
        first_row: The number of its first row, counted from the start of the stream.
        num_rows: How many rows.
        key: The digest of its idempotency key, or `NO_KEY`.
    """

    size: int
    checksum: int
    first_row: int
    num_rows: int
    key: bytes

    @classmethod
    def of(cls, rows: bytes, first_row: int, num_rows: int, key: bytes) -> "Entry":
        """The header for these rows."""
        return cls(len(rows), zlib.crc32(rows), first_row, num_rows, key)


def pack(entry: Entry, rows: bytes) -> bytes:
    """The bytes of a batch in the log."""
    fields = _FIELDS.pack(*entry)
    return fields + _CHECKSUM.pack(zlib.crc32(fields)) + rows


def read_header(file: BinaryIO) -> Entry | None:
    """The header at the present place of the file; None where there is none, or none that was written in full."""
    header = file.read(HEADER_SIZE)
    if len(header) < HEADER_SIZE:
        return None
    fields, checksum = header[: _FIELDS.size], header[_FIELDS.size :]
    if zlib.crc32(fields) != _CHECKSUM.unpack(checksum)[0]:
        return None
    return Entry(*_FIELDS.unpack(fields))


def read_rows(file: BinaryIO, entry: Entry) -> bytes | None:
    """The rows behind a header; None if they are not those that were written."""
    rows = file.read(entry.size)
    return rows if len(rows) == entry.size and zlib.crc32(rows) == entry.checksum else None
