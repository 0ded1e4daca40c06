"""Topics: `nats://host/subject` (of a stream of JetStream), `redis://host/stream`."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from sgais.streams.brokers import nats, redis
from sgais.streams.remote.address import Address
from sgais.streams.remote.extras import extra

ANSWER_SECONDS = 10.0


class NatsSink:
    """A subject; the server drops a message whose id it has seen in the last minutes."""

    def __init__(self, address: Address) -> None:
        extra("nats", "nats")
        self._address = address

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Publish them all, and wait until the stream has them."""
        asyncio.run(self._publish(events))

    async def _publish(self, events: Sequence[dict[str, Any]]) -> None:
        connection = await nats.connected(self._address)
        try:
            stream = connection.jetstream(timeout=ANSWER_SECONDS)
            for event in events:
                content = json.dumps(event).encode()
                await stream.publish(self._address.path, content, headers={"Nats-Msg-Id": str(event["id"])})
        finally:
            await connection.close()


class RedisSink:
    """A stream; each entry has the field `event`."""

    def __init__(self, address: Address) -> None:
        extra("redis", "redis")
        self._address = address

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Add them all at once."""
        with redis.client_of(self._address) as client, client.pipeline(transaction=True) as together:
            for event in events:
                together.xadd(self._address.path, {"event": json.dumps(event)})
            together.execute()


def nats_sink(uri: str) -> NatsSink:
    """The sink of a URI."""
    return NatsSink(Address.of(uri, nats.PASSWORD))


def redis_sink(uri: str) -> RedisSink:
    """The sink of a URI."""
    return RedisSink(Address.of(uri, redis.PASSWORD, ("db",)))
