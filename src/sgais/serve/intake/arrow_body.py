"""Rows as an Arrow IPC stream, from somebody who may mean harm.

Sizes that a stream declares are not believed: compressed buffers are refused before anything is unpacked, and only
types whose values take as much room in memory as in the stream are read.
"""

import struct
from collections.abc import Sequence
from typing import Any

from sgais.serve.refusal import RefusalError
from sgais.streams.source import Piece
from sgais.streams.sources.arrow_columns import from_arrow

# Of the flatbuffers that describe a stream (Message.fbs): kinds of messages, and the numbers of fields in a table.
SCHEMA, DICTIONARY_BATCH, RECORD_BATCH = 1, 2, 3
HEADER_TYPE, HEADER = 1, 2
DICTIONARY_DATA = 1
COMPRESSION = 3


def parse_arrow(body: bytes, wanted: Sequence[str] | None, most_rows: int) -> Piece:
    """The rows of all the record batches of a stream; where there are too many, none of them."""
    import pyarrow as pa

    try:
        _require_plain_messages(body)
        table = pa.ipc.open_stream(body).read_all()
        for name, kind in zip(table.schema.names, table.schema.types, strict=True):
            _require_plain_type(str(name), kind)
        table.validate(full=True)
        table = table.unify_dictionaries()
    except (pa.ArrowException, OSError, ValueError, struct.error, IndexError, MemoryError) as error:
        raise RefusalError(400, f"the body must be an Arrow IPC stream: {error}") from error
    if table.num_rows > most_rows:
        return Piece({}, table.num_rows)
    names = list(table.schema.names) if wanted is None else list(wanted)
    for name in names:
        if table.schema.names.count(name) != 1:
            raise RefusalError(422, f"column {name!r} must be there once.", row=None, column=name)
    return Piece({name: from_arrow(table.column(name)) for name in names}, table.num_rows)


def _require_plain_type(name: str, kind: Any) -> None:
    """Numbers, vectors of numbers and categories; other types can stand for more values than they have bytes."""
    import pyarrow as pa

    def is_number(one: Any) -> bool:
        return bool(pa.types.is_integer(one) or pa.types.is_floating(one))

    is_vector = (pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)) and is_number(kind.value_type)
    is_category = pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type)
    if not (is_number(kind) or is_vector or is_category or pa.types.is_string(kind)):
        raise RefusalError(422, f"column {name!r} must hold numbers, got {kind}.", row=None, column=name)


def _require_plain_messages(body: bytes) -> None:
    """Refuse compressed buffers, wherever they are."""
    import pyarrow as pa

    reader = pa.ipc.MessageReader.open_stream(body)
    for message in reader:
        flat = message.metadata.to_pybytes()
        table = struct.unpack_from("<I", flat, 0)[0]
        kind = _field(flat, table, HEADER_TYPE)
        header = _field(flat, table, HEADER)
        if kind is None or header is None:
            raise ValueError("a message has no header")
        batch: int | None = _follow(flat, header)
        if flat[kind] == DICTIONARY_BATCH:
            data = _field(flat, _follow(flat, header), DICTIONARY_DATA)
            batch = None if data is None else _follow(flat, data)
        if flat[kind] != SCHEMA and batch is not None and _field(flat, batch, COMPRESSION) is not None:
            raise ValueError("compressed buffers are not taken; send the stream as it is")


def _field(flat: bytes, table: int, number: int) -> int | None:
    """Where a field of a flatbuffer's table stands; None if it is left out."""
    directory = table - struct.unpack_from("<i", flat, table)[0]
    size = struct.unpack_from("<H", flat, directory)[0]
    place = 4 + 2 * number
    if place >= size:
        return None
    offset = struct.unpack_from("<H", flat, directory + place)[0]
    return table + offset if offset else None


def _follow(flat: bytes, place: int) -> int:
    """Where the table begins that a field points to."""
    return place + int(struct.unpack_from("<I", flat, place)[0])
