"""What has been read of a source, as checksums: a run that is resumed notices rows that are not those it took in."""

import zlib
from typing import Any, NamedTuple

import numpy as np

from sgais.errors import DataError
from sgais.fields import named_columns, num_rows


class Seen(NamedTuple):
    """Rows from the beginning of a source on, however they were cut into chunks.

    Attributes:
        num_rows: How many.
        checksums: Of the numbers in each column.
    """

    num_rows: int = 0
    checksums: dict[str, int] = {}  # noqa: RUF012 (never changed)

    def joined_with(self, chunk: object, most: int | None = None) -> "Seen":
        """These rows and those of the next chunk, or the first few of them."""
        columns = {name: np.asarray(values) for name, values in named_columns(chunk).items()}
        checksums = {
            name: zlib.crc32(_bytes_of(values[:most]), self.checksums.get(name, 0)) for name, values in columns.items()
        }
        count = num_rows(columns)
        return Seen(self.num_rows + (count if most is None else min(count, most)), checksums)


def _bytes_of(values: np.ndarray) -> bytes:
    """The same however the rows are cut: numbers as they are, anything else as lines of text."""
    if values.dtype.kind in "fiu":
        return np.ascontiguousarray(values, np.float64).tobytes()
    return "".join(f"{cell}\n" for cell in values.tolist()).encode("utf-8", errors="surrogateescape")


def read_again(source: Any, position: int, seen: Seen) -> bool:
    """Go to a position of a source, by reading what was seen before; refuse if it is not the same.

    To skip rows of a text takes as long as to read them. Returns whether the position was reached: a source may be
    stopped on the way.
    """
    source.seek(0)
    found = Seen()
    for chunk in source:
        found = found.joined_with(chunk, seen.num_rows - found.num_rows)
        if found.num_rows == seen.num_rows:
            break
    if getattr(source, "is_stopped", False):
        return False
    if found != seen:
        raise DataError(
            f"`stream` must begin with the {seen.num_rows:,} rows that were read before, got "
            + (f"only {found.num_rows:,}" if found.num_rows < seen.num_rows else "others")
            + ". Was its source written anew? Put it back, or begin a new run."
        )
    if source.position != position:
        source.seek(position)
    return True
