"""Servers that are not there, or say nothing: the limit holds, Ctrl-C works, and no secret is in what is said."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import pytest

import sgais
from sgais.errors import DataError
from tests.services.running import require_library

SECRET = "pl4nted/secret"
QUOTED = SECRET.replace("/", "%2F")
URIS = {
    "nats": "nats://me:{secret}@127.0.0.1:{port}/rows?",
    "redis": "redis://me:{secret}@127.0.0.1:{port}/rows?",
    "kafka": "kafka://me:{secret}@127.0.0.1:{port}/rows?security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&",
    "postgresql": "postgresql://me:{secret}@127.0.0.1:{port}/rows?table=t&key=id&",
    "s3": "s3://bucket/*.csv?",
}
ENOUGH = 30  # seconds, however busy the machine is; an absent NATS server once took two minutes


@pytest.fixture(params=URIS)
def kind(request):
    require_library(request.param)
    return request.param


@pytest.fixture
def silent_port():
    """A server that takes every connection and says nothing."""
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connections.append(server.accept()[0])

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join()
    for connection in connections:
        connection.close()


def uri_of(kind, port, retry_seconds):
    return URIS[kind].format(port=port, secret=QUOTED) + f"retry_seconds={retry_seconds}"


def store_variables(port):
    login = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
    return login | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}


def check_said_in_time(kind, port, monkeypatch):
    for name, value in store_variables(port).items():
        monkeypatch.setenv(name, value)
    begun = time.monotonic()
    with (
        pytest.raises(DataError, match="must answer within 0.3 seconds") as caught,
        contextlib.closing(sgais.stream(uri_of(kind, port, 0.3), y="y")) as rows,
    ):
        next(rows)
    assert time.monotonic() - begun < ENOUGH
    said = "".join(traceback.format_exception(caught.value))
    assert SECRET not in said
    assert QUOTED not in said


def test_a_server_that_is_not_there_is_said_within_the_limit(kind, monkeypatch):
    check_said_in_time(kind, 1, monkeypatch)


def test_a_server_that_says_nothing_is_said_within_the_limit(kind, silent_port, monkeypatch):
    check_said_in_time(kind, silent_port, monkeypatch)


@pytest.mark.slow
@pytest.mark.services
def test_ctrl_c_ends_a_run_that_waits_for_a_server(kind, silent_port):
    command = ["run", "linear-regression", uri_of(kind, silent_port, 60), "-c", "x=a", "-c", "y=y"]
    running = subprocess.Popen(
        [sys.executable, "-m", "sgais", *command],
        env=os.environ | store_variables(silent_port),
        stderr=subprocess.PIPE,
        text=True,
    )
    said = running.stderr.readline()
    assert "compiling the models" in said
    time.sleep(3)  # until it waits
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    said += running.communicate(timeout=ENOUGH)[1]
    assert (running.returncode, "Stopped after 0 rows" in said) == (130, True), said
    assert SECRET not in said
    assert QUOTED not in said
