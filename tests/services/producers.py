"""Who writes numbered rows while servers are killed: each row ends up there, once where the broker can see to that."""

import asyncio
import json
import threading
import time

BATCH = 250
ANSWER_SECONDS = 5


class Producer(threading.Thread):
    """Writes batches of rows in order, each until the server has acknowledged it.

    Args:
        write: Writes the rows from one number to another; called again, with the same, when it fails.
        num_rows: How many there are.
        pause: Seconds from one batch to the next.
    """

    def __init__(self, write, num_rows, pause):
        super().__init__(daemon=True)
        self._write, self._num_rows, self._pause = write, num_rows, pause
        self.start()

    def run(self):
        for first in range(0, self._num_rows, BATCH):
            last = min(first + BATCH, self._num_rows)
            while True:
                try:
                    self._write(first, last)
                    break
                except Exception:  # whatever the client of a server that was killed says
                    time.sleep(0.1)
            time.sleep(self._pause)


def nats_writer(server, stream, rows):
    async def create(js):
        await js.add_stream(name=stream, subjects=[f"{stream}.*"])

    async def publish(js, first, last):
        sent = (
            js.publish(
                f"{stream}.rows", json.dumps(row).encode(), timeout=ANSWER_SECONDS, headers={"Nats-Msg-Id": f"{number}"}
            )
            for number, row in enumerate(rows[first:last], first)
        )
        await asyncio.gather(*sent)

    server.run(create)
    return lambda first, last: server.run(lambda js: publish(js, first, last))


def redis_writer(server, stream, rows):
    def write(first, last):
        with server.client() as client, client.pipeline(transaction=False) as together:
            for number, row in enumerate(rows[first:last], first + 1):
                together.xadd(stream, {name: repr(cell) for name, cell in row.items()}, id=f"{number}-0")
            for answer in together.execute(raise_on_error=False):
                if isinstance(answer, Exception) and "equal or smaller" not in str(answer):  # else it is there already
                    raise answer

    return write


def postgresql_writer(server, table, rows):
    names = list(rows[0])
    server.execute(f"CREATE TABLE {table} (id bigint PRIMARY KEY, {', '.join(f'{name} float8' for name in names)})")

    def write(first, last):
        values = ", ".join(
            f"({number}, {', '.join(repr(cell) for cell in row.values())})"
            for number, row in enumerate(rows[first:last], first)
        )
        server.execute(f"INSERT INTO {table} VALUES {values} ON CONFLICT (id) DO NOTHING")

    return write


def s3_writer(server, prefix, rows):
    def write(first, last):
        columns = {name: [row[name] for row in rows[first:last]] for name in rows[0]}
        server.put_table(f"{prefix}/{first:09d}.parquet", columns)

    return write


def kafka_writer(server, topic, rows):
    """Kafka 0.9 knows no numbers of producers: a batch that is written again may be there twice."""
    server.create(topic, server.producer())

    def write(first, last):
        producer, failed = server.producer(), []
        for row in rows[first:last]:
            producer.produce(
                topic,
                json.dumps(row).encode(),
                partition=0,
                on_delivery=lambda error, _: error and failed.append(error),
            )
        left = producer.flush(ANSWER_SECONDS)
        producer.purge()
        assert (left, failed) == (0, [])

    return write
