"""All rows of a stream, at once."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from sgais.errors import DataError
from sgais.fields import Fields, named_columns
from sgais.streams.stream import Stream, stream


def whole(data: object, fields: Fields | None) -> Any:
    """What a stream, any other iterator of chunks, or a file holds, as columns; anything else as it is.

    Args:
        data: The rows, in whatever form.
        fields: What the model wants of a file.
    """
    chunks: Any = stream(data, fields=fields) if isinstance(data, str | os.PathLike) else data
    if not isinstance(chunks, Stream | Iterator):
        return data
    found = [named_columns(chunk) for chunk in chunks]
    if not found:
        raise DataError("`data` must have at least one row, got an empty stream. Was it read before?")
    return {name: np.concatenate([np.asarray(columns[name]) for columns in found]) for name in found[0]}
