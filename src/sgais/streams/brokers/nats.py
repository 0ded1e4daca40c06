"""NATS JetStream: `nats://host:4222/STREAM`, with `?subject=` for some of its messages. Positions are its sequences."""

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any

from sgais.errors import DataError
from sgais.streams.brokers.broker_rows import NO_MESSAGES, BrokerRows, Reader
from sgais.streams.brokers.messages import Messages
from sgais.streams.remote.address import Address
from sgais.streams.remote.bookmarks import rows_gone
from sgais.streams.remote.extras import extra
from sgais.streams.source import Bookmark

KIND = "nats"
PASSWORD = "NATS_PASSWORD"
PORT = 4222
MESSAGES_PER_BATCH = 2000
POLL_SECONDS = 0.2  # that one request waits for messages
IDLE_SECONDS = 3600.0  # after which the server forgets a reader


class StreamReader(Reader):
    """Reads a stream by a consumer that the server forgets."""

    kind, password_variable, options = KIND, PASSWORD, ("subject",)

    def _begin_behind(self, bookmark: Bookmark | None) -> None:
        self._js = extra("nats.js", "nats")
        self.failures = (extra("nats", "nats").errors.Error, OSError, TimeoutError)
        self._sequence = 0 if bookmark is None else int(bookmark["sequence"])
        self._created = None if bookmark is None else str(bookmark["created"])
        self._end: int | None = None  # the last message, if none are waited for that come later

    def batches(self) -> Iterator[Messages]:
        """Connect and hand out what follows the last messages handed out; none while none come."""
        loop = asyncio.new_event_loop()
        connection: Any = None
        try:
            connection = loop.run_until_complete(connected(self._address, self._answer_seconds))
            subscription = loop.run_until_complete(self._subscribed(connection))
            self._follow.note_news()
            while subscription is not None and not self._is_at_end():
                found = loop.run_until_complete(self._fetch(connection, subscription))
                if found:
                    self._follow.note_news()
                    yield self._messages(found)
                elif self._follow.has_waited_long or loop.run_until_complete(self._has_no_more(subscription)):
                    return
                else:
                    yield NO_MESSAGES
        finally:
            if connection is not None:
                loop.run_until_complete(connection.close())
            loop.close()

    async def _subscribed(self, connection: Any) -> Any:
        """A consumer that begins behind the last message; None if there is nothing to read."""
        stream = connection.jetstream(timeout=self._answer_seconds)
        try:
            info = await stream.stream_info(self._address.path)
        except self._js.errors.NotFoundError:
            raise DataError(f"`{self._address.shown}` must be a stream of JetStream, got none of this name.") from None
        self._check(info)
        if not self._follow.is_following:
            self._end = info.state.last_seq if self._end is None else self._end
        config = self._js.api.ConsumerConfig(
            ack_policy=self._js.api.AckPolicy.NONE,
            deliver_policy=self._js.api.DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self._sequence + 1,
            inactive_threshold=IDLE_SECONDS,
            mem_storage=True,
        )
        subject = self._address.options.get("subject", ">")
        subscription = await stream.pull_subscribe(subject, stream=self._address.path, config=config)
        pending = (await subscription.consumer_info()).num_pending
        return None if self._end is not None and not pending else subscription

    def _check(self, info: Any) -> None:
        """Refuse a stream that is another, or that has lost messages behind the last one read."""
        created, first, last = str(info.created), info.state.first_seq, info.state.last_seq
        if self._created is not None and (created != self._created or last < self._sequence):
            raise rows_gone(
                self._address.shown, f"a stream made at {created} with {last} messages, not {self._sequence} or more"
            )
        if self._created is not None and first > self._sequence + 1:
            raise rows_gone(self._address.shown, f"none of the messages {self._sequence + 1} to {first - 1}")
        self._created = created

    async def _fetch(self, connection: Any, subscription: Any) -> list[Any]:
        try:
            found: list[Any] = await subscription.fetch(MESSAGES_PER_BATCH, timeout=POLL_SECONDS)
        except TimeoutError:
            found = []
        if not found:
            if not connection.is_connected:
                raise ConnectionError("the server has gone")
            return []
        if _sequence_of(found[0]) > self._sequence + 1:  # deleted one by one, of other subjects, or cut off?
            self._check(await connection.jetstream(timeout=self._answer_seconds).stream_info(self._address.path))
        return found if self._end is None else [each for each in found if _sequence_of(each) <= self._end]

    async def _has_no_more(self, subscription: Any) -> bool:
        """Whether the server has nothing left for a reader that does not wait; it may only be slow."""
        return self._end is not None and not (await subscription.consumer_info()).num_pending

    def _messages(self, found: list[Any]) -> Messages:
        before, self._sequence = self._sequence, _sequence_of(found[-1])

        def behind(count: int) -> Bookmark:
            sequence = before if count == 0 else _sequence_of(found[count - 1])
            return {"kind": KIND, "sequence": sequence, "created": self._created}

        return Messages([each.data for each in found], [""] * len(found), behind)

    def _is_at_end(self) -> bool:
        return self._end is not None and self._sequence >= self._end


def _sequence_of(message: Any) -> int:
    return int(message.metadata.sequence.stream)


async def connected(address: Address, seconds: float) -> Any:
    """A client that has reached one of the servers; each is asked at once, and has so long to answer."""
    by_password = {"user": address.user or None, "password": address.password or None}
    by_token = {"token": address.user or address.password or None}
    client = extra("nats", "nats").NATS()
    try:
        await client.connect(
            [f"nats://{host}:{port}" for host, port in address.servers(PORT)],
            allow_reconnect=False,
            connect_timeout=seconds,
            max_reconnect_attempts=1,  # also of a first connection, where more would mean minutes
            reconnect_time_wait=0,
            error_cb=_say_nothing,
            **(by_password if address.user and address.password else by_token),
        )
    except BaseException as error:
        await client.close()  # it may have got as far as a socket
        if "authorization" in str(error).lower():
            raise DataError(
                f"`{address.shown}` must let its reader in, got {address.hide(error)}. Set {PASSWORD}."
            ) from None
        raise
    return client


nats_rows = partial(BrokerRows, StreamReader)


async def _say_nothing(_: Exception) -> None:
    """What the library would print; it is raised as well."""
