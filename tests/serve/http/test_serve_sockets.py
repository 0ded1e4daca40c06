"""Sockets that are opened and say nothing, or next to nothing: nobody else notices, and they are let go."""

import resource
import socket
import time

import pytest
from served import COLUMNS, MODELS, as_rows

QUICK = ("--paper", "--set", "num_particles=16", "--chunk-size", "50", "--checkpoint-seconds", "0.5")
FILES = 256  # that the service may have open


@pytest.fixture
def idle_sockets():
    """Opens sockets to a service, which say nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    opened = []

    def open_some(service, count, first_bytes=b""):
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", service.port), timeout=60)
            client.sendall(first_bytes)
            opened.append(client)
        return opened[-count:]

    yield open_some
    for client in opened:
        client.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("first_bytes", [b"", b"GET /state HTTP/1.1\r\nHost: local"])
def test_more_idle_sockets_than_descriptors(start, data, idle_sockets, first_bytes):
    service = start(*MODELS, *COLUMNS, *QUICK, most_files=FILES)
    service.post(as_rows(data, 0, 100))
    service.wait_for_rows(100)
    for wave in range(3):
        idle_sockets(service, 2 * FILES, first_bytes)
        assert service.get("/health").json["status"] == "running"
        for number in range(5):
            start_row = 100 + 250 * wave + 50 * number
            assert service.post(as_rows(data, start_row, start_row + 50)).status == 201
        service.wait_for_rows(350 + 250 * wave)
    state = service.wait_for_rows(850)
    assert (state["status"], state["rows_accepted"], state["rows_set_aside"]) == ("running", 850, 0)
    assert "Traceback" not in service.said
    name = "sgais_connections_dropped_total "
    lines = service.get("/metrics").body.decode().splitlines()
    assert float(next(line for line in lines if line.startswith(name)).removeprefix(name)) > 2 * FILES
    assert service.stop() == 143


def test_whoever_says_nothing_is_let_go(service, idle_sockets):
    """Also who says a byte now and then; and who was answered once."""
    clients = idle_sockets(service, 3, b"GET /health HTTP/1.1\r\nHost: localhost\r\n")
    whole, trickling, silent = clients
    whole.sendall(b"\r\n")
    assert whole.recv(10_000).startswith(b"HTTP/1.1 200")
    end, is_open = time.monotonic() + 60, True
    while is_open and time.monotonic() < end:
        try:
            trickling.sendall(b"x")
            time.sleep(0.5)
        except OSError:
            is_open = False
    assert not is_open, "it was let go although it said something now and then"
    for client in (whole, silent):
        assert is_closed(client)
    assert service.get("/health").status == 200


def is_closed(client):
    """Whether nothing more comes, once what was answered is read."""
    try:
        while client.recv(10_000):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True
