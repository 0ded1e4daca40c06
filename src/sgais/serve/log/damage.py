"""What stands behind the last whole batch of a file: the torn end of a write, or damage with rows behind it.

A process that was killed leaves a part of its last write, and nothing behind it. Where a whole batch follows, the bytes
before it were a batch as well, and one that was acknowledged: that is damage, and cutting it off would lose rows.
"""

import io

import numpy as np

from sgais.serve.log.entry import FIELDS_DTYPE, Entry, read_header, read_rows


def whole_batch_in(tail: bytes, end_row: int, row_bytes: int) -> Entry | None:
    """The first whole batch in these bytes, wherever it begins.

    Args:
        tail: What stands behind the last batch that can be read.
        end_row: The number of the row that should have come next.
        row_bytes: Of a record.
    """
    for place in _likely_places(tail, end_row, row_bytes):
        file = io.BytesIO(tail)
        file.seek(place)
        entry = read_header(file)
        if entry is not None and read_rows(file, entry) is not None:
            return entry
    return None


def _likely_places(tail: bytes, end_row: int, row_bytes: int) -> list[int]:
    """Where a header may begin: its length is that of its rows, and its rows come later than those that are known."""
    places: list[int] = []
    for shift in range(FIELDS_DTYPE.itemsize):  # a header may begin at any byte
        count = (len(tail) - shift) // FIELDS_DTYPE.itemsize
        if count <= 0:
            break
        fields = np.frombuffer(tail, FIELDS_DTYPE, count, shift)
        fits = fields["size"] == fields["num_rows"].astype(np.uint64) * np.uint64(row_bytes)
        found = np.flatnonzero(fits & (fields["num_rows"] > 0) & (fields["first_row"] >= end_row))
        places += (found * FIELDS_DTYPE.itemsize + shift).tolist()
    return sorted(places)
