"""Readers that stop reading, and what they do to the others: nothing."""

import socket
import time

import pytest
from load import Load
from served import COLUMNS, MODELS, as_rows

QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50")


def stalled_reader(port):
    """Asks for events and never reads them; a small window, so that the service notices soon."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.connect(("127.0.0.1", port))
    connection.sendall(b"GET /events?from=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection


def test_ten_readers_that_stop_reading_change_nothing(start, data):
    service = start(*MODELS, *COLUMNS, *QUICK)
    readers = [stalled_reader(service.port) for _ in range(10)]
    load = Load(data, 50, 100).start(service.port)
    load.join()
    state = service.wait_for_rows(5000)
    assert state["rows_accepted"] == state["num_rows"] == 5000
    assert load.statuses == {201: 100}
    for reader in readers:
        reader.close()
    end = time.monotonic() + 30
    while service.get("/state").json["num_readers"]:
        assert time.monotonic() < end, "readers that are gone are still counted"
        time.sleep(0.1)
    assert "Traceback" not in service.said


@pytest.mark.slow
def test_a_reader_that_does_not_read_is_let_go(start, data):
    """Even if it never closes its connection."""
    service = start(*MODELS, *COLUMNS, *QUICK)
    reader = stalled_reader(service.port)
    end = time.monotonic() + 240
    place = 0
    while time.monotonic() < end:
        service.post(as_rows(data, place, place + 50))
        place = (place + 50) % 19_000
        time.sleep(0.2)
        if service.get("/state").json["num_readers"] == 0 and place > 500:
            break
    assert service.get("/state").json["num_readers"] == 0
    reader.close()


def test_a_queue_that_is_full_says_when_to_come_again(start, data):
    """The first chunk is compiled for a while: nothing is taken in meanwhile."""
    limits = ("--max-waiting-rows", 1000, "--max-batch-rows", 500)
    service = start(*MODELS, *COLUMNS, "--chunk-size", 500, *limits)
    answers = [service.post(as_rows(data, 0, 400)) for _ in range(12)]
    statuses = [answer.status for answer in answers]
    assert statuses[0] == 201
    assert 429 in statuses, statuses
    refusal = answers[statuses.index(429)]
    assert 1 <= int(refusal.headers["retry-after"]) <= 60
    assert service.get("/state").json["rows_accepted"] == 400 * statuses.count(201)
