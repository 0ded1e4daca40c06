"""Topics: `nats://host/subject` (of a stream of JetStream), `redis://host/stream`, `kafka://host/topic`."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from sgais.streams.brokers import kafka, nats, redis
from sgais.streams.remote.address import Address
from sgais.streams.remote.extras import extra

ANSWER_SECONDS = 10.0
DURABLE = {"acks": "all", "max.in.flight": 1, "delivery.timeout.ms": int(1000 * ANSWER_SECONDS)}


class NatsSink:
    """A subject; the server drops a message whose id it has seen in the last minutes."""

    def __init__(self, address: Address) -> None:
        extra("nats", "nats")
        self._address = address

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Publish them all, and wait until the stream has them."""
        asyncio.run(self._publish(events))

    async def _publish(self, events: Sequence[dict[str, Any]]) -> None:
        connection = await nats.connected(self._address, ANSWER_SECONDS)
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
        with redis.client_of(self._address, ANSWER_SECONDS) as client, client.pipeline(transaction=True) as together:
            for event in events:
                together.xadd(self._address.path, {"event": json.dumps(event)})
            together.execute()


class KafkaSink:
    """A topic; the events of a run have one key, and so one partition and an order."""

    def __init__(self, address: Address) -> None:
        self._kafka = extra("confluent_kafka", "kafka")
        self._address = address
        self._producer: Any = None

    def send(self, events: Sequence[dict[str, Any]]) -> None:
        """Produce them all, and wait until the brokers have them."""
        if self._producer is None:
            self._producer = self._kafka.Producer(kafka.client_settings(self._address) | DURABLE)
        failed: list[Any] = []
        for event in events:
            self._producer.produce(
                self._address.path,
                json.dumps(event).encode(),
                key=str(event["run"]["runId"]),
                on_delivery=lambda error, _: failed.append(error) if error else None,
            )
        if self._producer.flush(ANSWER_SECONDS) or failed:
            self._producer.purge()  # what is sent again must not come twice for that
            raise ConnectionError("the brokers did not take all events")


def nats_sink(uri: str) -> NatsSink:
    """The sink of a URI."""
    return NatsSink(Address.of(uri, nats.PASSWORD))


def redis_sink(uri: str) -> RedisSink:
    """The sink of a URI."""
    return RedisSink(Address.of(uri, redis.PASSWORD, ("db",)))


def kafka_sink(uri: str) -> KafkaSink:
    """The sink of a URI."""
    return KafkaSink(Address.of(uri, kafka.PASSWORD, kafka.CLIENT_OPTIONS))
