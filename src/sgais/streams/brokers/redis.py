"""Redis streams: `redis://host:6379/stream` (or rediss://). Positions are ids of entries; needs Redis 7.

The fields of an entry are the columns of a row; with `?field=NAME`, that field holds a message in the format asked for.
"""

import time
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from sgais.errors import DataError
from sgais.streams.brokers.broker_rows import NO_MESSAGES, BrokerRows, Reader
from sgais.streams.brokers.messages import Messages
from sgais.streams.remote.address import Address
from sgais.streams.remote.bookmarks import rows_gone
from sgais.streams.remote.extras import extra
from sgais.streams.source import Bookmark

KIND = "redis"
PASSWORD = "REDIS_PASSWORD"
PORT = 6379
ENTRIES_PER_BATCH = 2000
POLL_SECONDS = 0.05
BEGINNING = "0-0"


class StreamReader(Reader):
    """Reads a stream."""

    kind, password_variable, options = KIND, PASSWORD, ("field", "db")

    def _begin_behind(self, bookmark: Bookmark | None) -> None:
        self._redis = extra("redis", "redis")
        self.failures = (self._redis.ConnectionError, self._redis.TimeoutError, OSError)
        self._id = BEGINNING if bookmark is None else str(bookmark["id"])
        self._num_before: int | None = None if bookmark is None else int(bookmark["num_before"])
        self._end: str | None = None  # the last entry, if none are waited for that come later

    def batches(self) -> Iterator[Messages]:
        """Connect and hand out what follows the last messages handed out; none while none come."""
        client = client_of(self._address, self._answer_seconds)
        try:
            self._begin(client)
            self._follow.note_news()
            while self._end is None or _ordered(self._id) < _ordered(self._end):
                entries = self._next_entries(client)
                if entries:
                    self._follow.note_news()
                    yield self._messages(entries)
                elif self._end is not None or self._follow.has_waited_long:
                    return
                else:
                    yield NO_MESSAGES
                    time.sleep(POLL_SECONDS)
        except self._redis.ResponseError as error:
            raise DataError(f"`{self._address.shown}` must be a stream, got {self._address.hide(error)}.") from None
        finally:
            client.close()

    def _begin(self, client: Any) -> None:
        """See whether the stream is the one that was read before, and where it ends."""
        try:
            information = client.xinfo_stream(self._address.path)
        except self._redis.AuthenticationError as error:
            raise DataError(
                f"`{self._address.shown}` must let its reader in, got {self._address.hide(error)}. Set {PASSWORD}."
            ) from None
        if "entries-added" not in information:
            raise DataError(f"`{self._address.shown}` must be of Redis 7 or newer, which tells what was deleted.")
        last = information["last-generated-id"].decode()
        if self._num_before is None:
            self._num_before = _num_removed(information)
        elif _ordered(last) < _ordered(self._id):
            raise rows_gone(self._address.shown, f"a stream that ends at {last}, before {self._id}")
        elif not _num_removed(information) and not client.xrange(self._address.path, self._id, self._id):
            raise rows_gone(self._address.shown, f"a stream without {self._id}, made anew")
        self._check(information)
        if not self._follow.is_following and self._end is None:
            self._end = last

    def _next_entries(self, client: Any) -> list[Any]:
        """What follows the last entry, and in the same transaction whether anything between them is gone."""
        with client.pipeline(transaction=True) as both:
            both.xread({self._address.path: self._id}, count=ENTRIES_PER_BATCH)
            both.xinfo_stream(self._address.path)
            found, information = both.execute()
        self._check(information)
        return _entries(found)

    def _check(self, information: Mapping[str, Any]) -> None:
        """Refuse a stream of which entries behind the last one read were trimmed or deleted."""
        gone = _num_removed(information) - (self._num_before or 0)
        if gone > 0:
            raise rows_gone(self._address.shown, f"{gone} entries fewer behind {self._id}")
        deleted = information["max-deleted-entry-id"].decode()
        if self._id != BEGINNING and _ordered(deleted) > _ordered(self._id):
            raise rows_gone(self._address.shown, f"no entry {deleted}")

    def _messages(self, entries: list[Any]) -> Messages:
        num_before, first = self._num_before or 0, self._id
        ids = [entry[0].decode() for entry in entries]
        self._id, self._num_before = ids[-1], num_before + len(ids)

        def behind(count: int) -> Bookmark:
            return {"kind": KIND, "id": ids[count - 1] if count else first, "num_before": num_before + count}

        return Messages([self._payload(fields) for _, fields in entries], [""] * len(ids), behind)

    def _payload(self, fields: Mapping[bytes, bytes]) -> Any:
        name = self._address.options.get("field")
        if name is not None:
            return fields.get(name.encode(), b"")
        return {key.decode("utf-8", "replace"): cell.decode("utf-8", "replace") for key, cell in fields.items()}


def client_of(address: Address, seconds: float) -> Any:
    """A client, which connects when it is asked something."""
    host, port = address.servers(PORT)[0]
    return extra("redis", "redis").Redis(
        host=host,
        port=port,
        db=int(address.options.get("db", 0)),
        username=address.user or None,
        password=address.password or None,
        ssl=address.scheme == "rediss",
        socket_timeout=seconds,
        socket_connect_timeout=seconds,
        retry=None,
    )


redis_rows = partial(BrokerRows, StreamReader)


def _entries(found: Any) -> list[Any]:
    """The entries of the one stream that was asked for, whatever version of the protocol says so."""
    if not found:
        return []
    entries = next(iter(found.values())) if isinstance(found, Mapping) else found[0][1]
    return entries[0] if isinstance(found, Mapping) else entries


def _num_removed(information: Mapping[str, Any]) -> int:
    return int(information["entries-added"]) - int(information["length"])


def _ordered(entry_id: str) -> tuple[int, int]:
    milliseconds, _, number = entry_id.partition("-")
    return int(milliseconds), int(number or 0)
