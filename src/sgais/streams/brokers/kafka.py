"""Kafka: `kafka://host:9092/topic`. Partitions are assigned, not grouped: positions are offsets of our own keeping.

The rows of a partition come in its order; those of several come as they arrive.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from sgais.streams.brokers.broker_rows import NO_MESSAGES, BrokerRows, Reader
from sgais.streams.brokers.messages import Messages
from sgais.streams.remote.address import Address
from sgais.streams.remote.bookmarks import rows_gone
from sgais.streams.remote.extras import extra
from sgais.streams.source import Bookmark

KIND = "kafka"
PASSWORD = "KAFKA_PASSWORD"
PORT = 9092
CLIENT_OPTIONS = (  # of librdkafka, by its own names
    "security.protocol",
    "sasl.mechanism",
    "ssl.ca.location",
    "isolation.level",
    "api.version.request",
    "broker.version.fallback",
)
MESSAGES_PER_BATCH = 5000
POLL_SECONDS = 0.2
SECONDS_BETWEEN_LOOKS = 5.0  # for new partitions


class NoTopicError(Exception):
    """The broker knows nothing of a topic; it may do so later."""


class TopicReader(Reader):
    """Reads all partitions of a topic."""

    kind, password_variable, options = KIND, PASSWORD, CLIENT_OPTIONS

    def _begin_behind(self, bookmark: Bookmark | None) -> None:
        self._kafka = extra("confluent_kafka", "kafka")
        self.failures = (self._kafka.KafkaException, NoTopicError, OSError)
        self._offsets: dict[int, int] = {}  # of the next message of each partition
        if bookmark is not None:
            self._offsets = {int(partition): int(offset) for partition, offset in bookmark["offsets"].items()}
        self._ends: dict[int, int] | None = None  # of partitions, if messages that come later are not waited for

    def batches(self) -> Iterator[Messages]:
        """Connect and hand out what follows the last messages handed out; none while none come."""
        failed: list[Any] = []
        consumer = self._kafka.Consumer(self._configuration() | {"error_cb": failed.append})
        try:
            self._assign(consumer)
            self._follow.note_news()
            while self._ends is None or any(self._offsets[each] < end for each, end in self._ends.items()):
                found = self._fetch(consumer, failed)
                if found:
                    self._follow.note_news()
                    yield self._messages(found)
                elif self._follow.has_waited_long:
                    return
                else:
                    yield NO_MESSAGES
                    self._assign_new(consumer)
        finally:
            consumer.close()

    def _configuration(self) -> dict[str, Any]:
        return client_settings(self._address) | {
            "group.id": "sgais",  # asked for by the library, and not used
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "socket.timeout.ms": int(1000 * self._answer_seconds),
        }

    def _assign(self, consumer: Any) -> None:
        """All partitions, each from its next message; refuse one that no longer has it."""
        partitions = self._partitions(consumer)
        missing = sorted(set(self._offsets) - set(partitions))
        if missing:
            raise rows_gone(self._address.shown, f"no partition {missing[0]}")
        is_begun, ends = bool(self._offsets), {}
        for partition in partitions:
            if is_begun:  # a partition that was added meanwhile is read from its beginning
                self._offsets.setdefault(partition, 0)
            first, ends[partition] = self._span(consumer, partition)
            self._offsets.setdefault(partition, first)
        if not self._follow.is_following and self._ends is None:
            self._ends = ends
        consumer.assign([self._position(partition) for partition in partitions])

    def _assign_new(self, consumer: Any) -> None:
        """Partitions that were added meanwhile, from their first message."""
        new = [partition for partition in self._partitions(consumer) if partition not in self._offsets]
        for partition in new if self._follow.is_following else ():
            self._offsets[partition] = 0
            self._span(consumer, partition)
            consumer.incremental_assign([self._position(partition)])

    def _partitions(self, consumer: Any) -> list[int]:
        topic = consumer.list_topics(self._address.path, timeout=self._answer_seconds).topics.get(self._address.path)
        if topic is None or topic.error is not None or not topic.partitions:  # a broker that starts has none yet
            raise NoTopicError("there is no topic of this name, or it has no leader")
        return sorted(topic.partitions)

    def _span(self, consumer: Any, partition: int) -> tuple[int, int]:
        """The first offset that is there and the one behind the last; refuse a partition that has lost messages."""
        asked = self._kafka.TopicPartition(self._address.path, partition)
        first, end = consumer.get_watermark_offsets(asked, timeout=self._answer_seconds)
        next_offset = self._offsets.get(partition, first)
        if first > next_offset:
            raise rows_gone(
                self._address.shown, f"none of the messages {next_offset} to {first - 1} of partition {partition}"
            )
        if end < next_offset:
            raise rows_gone(self._address.shown, f"{end} messages in partition {partition}, not {next_offset} or more")
        return first, end

    def _position(self, partition: int) -> Any:
        return self._kafka.TopicPartition(self._address.path, partition, self._offsets[partition])

    def _fetch(self, consumer: Any, failed: list[Any]) -> list[Any]:
        """The next messages; ends of partitions are noted, and what the client says of its broker is raised."""
        found = []
        for message in consumer.consume(MESSAGES_PER_BATCH, POLL_SECONDS):
            error = message.error()
            if error is None and self._is_before_the_end(message):
                found.append(message)
            elif error is None:
                continue
            elif error.code() == self._kafka.KafkaError._PARTITION_EOF:
                self._note_end(message)
            else:
                self._raise(consumer, error)
        if not found and failed:
            self._raise(consumer, failed[-1])
        return found

    def _note_end(self, message: Any) -> None:
        """Transactions leave marks behind their last message, which are offsets without one.

        A broker may also tell of an end that is none, before it knows its messages again.
        """
        if self._ends is not None and message.offset() >= self._ends[message.partition()]:
            self._ends[message.partition()] = 0

    def _raise(self, consumer: Any, error: Any) -> None:
        """An offset that is out of range: say what is missing. Anything else: try again."""
        for partition in self._offsets:
            self._span(consumer, partition)
        raise self._kafka.KafkaException(error)

    def _is_before_the_end(self, message: Any) -> bool:
        return self._ends is None or message.offset() < self._ends.get(message.partition(), 0)

    def _messages(self, found: list[Any]) -> Messages:
        before = dict(self._offsets)
        partitions = np.array([message.partition() for message in found])
        offsets = np.array([message.offset() for message in found])
        self._offsets = _behind(before, partitions, offsets)

        def behind(count: int) -> Bookmark:
            reached = _behind(before, partitions[:count], offsets[:count])
            return {"kind": KIND, "offsets": {str(partition): offset for partition, offset in reached.items()}}

        return Messages([message.value() for message in found], [str(each) for each in partitions], behind)


def client_settings(address: Address) -> dict[str, Any]:
    """What every client of a broker is told."""
    login = {"sasl.username": address.user, "sasl.password": address.password} if address.user else {}
    return {
        "bootstrap.servers": ",".join(f"{host}:{port}" for host, port in address.servers(PORT)),
        "log_level": 0,
        **login,
        **{name: value for name, value in address.options.items() if name in CLIENT_OPTIONS},
    }


kafka_rows = partial(BrokerRows, TopicReader)


def _behind(offsets: Mapping[int, int], partitions: np.ndarray, read: np.ndarray) -> dict[int, int]:
    """The next offset of each partition once these messages have been read."""
    reached = dict(offsets)
    for partition in np.unique(partitions):
        reached[int(partition)] = int(read[partitions == partition][-1]) + 1
    return reached
