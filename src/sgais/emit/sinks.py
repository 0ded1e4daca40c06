"""Where events may go. When `send` returns, a sink has all of a batch; when it raises, the batch is sent again."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from sgais.emit.brokers import kafka_sink, nats_sink, redis_sink
from sgais.emit.tables import postgresql_sink, sqlite_sink
from sgais.errors import ConfigError
from sgais.streams.remote.address import scheme_of

ANSWER_SECONDS = 10.0


class Sink(Protocol):
    """Takes events."""

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Deliver all of them."""


def sink_of(target: str) -> Sink:
    """The sink that a path or a URI means."""
    scheme = scheme_of(target)
    if not scheme:
        return FileSink(Path(target))
    if scheme not in SINKS:
        known = ", ".join(f"{name}://" for name in SINKS)
        raise ConfigError(f"`--emit` must be a file or a URI of {known}, got {scheme}://. See docs/streams.md.")
    return SINKS[scheme](target)


class FileSink:
    """A file of NDJSON that grows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Append all of them, and have them on disk."""
        with self._path.open("ab") as file:
            if file.tell() and not self._ends_with_a_line():
                file.write(b"\n")  # behind the half of a line that a kill has left
            file.write(b"".join(json.dumps(event).encode() + b"\n" for event in events))
            file.flush()
            os.fsync(file.fileno())

    def _ends_with_a_line(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


class WebhookSink:
    """An address that is told by POST: one JSON list for each batch; any answer below 300 is taken for a yes."""

    def __init__(self, url: str) -> None:
        if "@" in urlsplit(url).netloc:
            raise ConfigError("`--emit` must have no password in an address, got one. Set SGAIS_EMIT_TOKEN instead.")
        self._url = url

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Post them, with the number of the last one as key."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(events[-1]["id"])}
        token = os.environ.get("SGAIS_EMIT_TOKEN")
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = Request(self._url, json.dumps(list(events)).encode(), headers, method="POST")
        with urlopen(request, timeout=ANSWER_SECONDS):
            pass


SINKS: dict[str, Callable[[str], Sink]] = {
    "http": WebhookSink,
    "https": WebhookSink,
    "nats": nats_sink,
    "redis": redis_sink,
    "kafka": kafka_sink,
    "postgresql": postgresql_sink,
    "sqlite": sqlite_sink,
}
