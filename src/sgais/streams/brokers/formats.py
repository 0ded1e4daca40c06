"""What a message holds: a JSON object (or a list of them), an Arrow stream, or an Avro file in small."""

import io
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from sgais.errors import require
from sgais.streams.remote.extras import extra
from sgais.streams.source import Broken

Decoded: TypeAlias = "list[dict[str, Any] | Broken] | Any"
"""Rows, good and broken, or an Arrow table."""


def decoder_of(format_name: str | None) -> Callable[[Any], Decoded]:
    """How a payload is read."""
    name = "json" if format_name is None else format_name
    require(name in DECODERS, "format", f"be one of {', '.join(DECODERS)} for messages", format_name)
    return DECODERS[name]


def _json(payload: Any) -> Decoded:
    if isinstance(payload, Mapping):  # a broker with fields of its own
        return [dict(payload)]
    try:
        found = json.loads(payload)
    except ValueError as error:
        return [Broken(f"must be JSON, got {error}", _text(payload))]
    rows = found if isinstance(found, list) else [found]
    return [row if isinstance(row, dict) else Broken("must be a JSON object", row) for row in rows]


def _arrow(payload: Any) -> Decoded:
    import pyarrow as pa

    try:
        with pa.ipc.open_stream(payload) as reader:
            return reader.read_all()
    except (pa.ArrowException, OSError, TypeError) as error:
        return [Broken(f"must be an Arrow stream, got {error}", _text(payload))]


def _avro(payload: Any) -> Decoded:
    fastavro = extra("fastavro", "avro")
    try:
        return list(fastavro.reader(io.BytesIO(payload)))
    except Exception as error:  # whatever the bytes make of the reader
        return [Broken(f"must be an Avro file with its schema, got {type(error).__name__}: {error}", _text(payload))]


def _text(payload: Any) -> str:
    return payload.decode("utf-8", errors="replace") if isinstance(payload, bytes) else str(payload)


DECODERS: dict[str, Callable[[Any], Decoded]] = {"json": _json, "arrow": _arrow, "avro": _avro}
