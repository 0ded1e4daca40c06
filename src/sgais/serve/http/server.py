"""The web server in a thread of its own, so that the main thread is free for signals or for a run."""

import asyncio
import socket
import threading
from functools import partial
from typing import Any, Self

import uvicorn

from sgais.errors import ConfigError, SgaisError
from sgais.serve.app import App
from sgais.serve.http.connections import ACCEPTED_AT_ONCE, Connection

START_SECONDS = 10.0
GRACE_SECONDS = 2  # for requests that are being answered when the server ends
WAITING_CONNECTIONS = 512  # in the system, before they are accepted
LARGEST_HEADERS = 32 * 1024
SEND_BUFFER = 64 * 1024


class _Server(uvicorn.Server):
    """Knows the loop it runs in, for those who have something to do there."""

    loop: asyncio.AbstractEventLoop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)


class PageServer:
    """Serves an app until it is stopped.

    Args:
        app: The app.
        host: The address to listen at.
        port: 0 for any that is free.
    """

    def __init__(self, app: App, host: str, port: int) -> None:
        self._app, self._host = app, host
        self._socket = _listening(host, port)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app.asgi,
            lifespan="off",
            log_level="error",
            access_log=False,
            ws="none",
            http=partial(Connection, app.gate),  # type: ignore[arg-type]  # h11: in Python, and strict
            proxy_headers=False,  # whoever is at the other end of the socket is the client
            server_header=False,
            backlog=ACCEPTED_AT_ONCE,
            timeout_graceful_shutdown=GRACE_SECONDS,
            h11_max_incomplete_event_size=LARGEST_HEADERS,
        )
        self._server = _Server(config)
        arguments = {"sockets": [self._socket]}
        self._thread = threading.Thread(target=self._server.run, kwargs=arguments, name="sgais-http", daemon=True)

    @property
    def url(self) -> str:
        """Where the page is."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}/"

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """In which requests are answered, once it has been started."""
        return self._server.loop

    def __enter__(self) -> Self:
        self._thread.start()
        pause = threading.Event()
        for _ in range(int(START_SECONDS / 0.01)):
            if self._server.started:
                self._socket.listen(WAITING_CONNECTIONS)
                return self
            pause.wait(0.01)
        raise SgaisError(f"the page must start within {START_SECONDS:g} seconds, got none.")

    def __exit__(self, *_: Any) -> None:
        self._app.readers.is_closed = True
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # What is sent and not read waits in the system: little, so that a reader who has stopped is noticed.
        found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        found.bind(address)
    except OSError as error:
        raise ConfigError(
            f"`--host` and `--port` must be free to listen at, got {host} and {port}: {error.strerror}. "
            "Choose others; --port 0 takes any port."
        ) from error
    return found
