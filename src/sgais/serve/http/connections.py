"""Connections that cost nobody else anything: so many at once, and none that waits for ever to say what it wants.

When there is no room for one more, the one that has been silent longest is let go. So whoever opens sockets and says
nothing is in nobody's way, and the service does not run out of descriptors.
"""

import asyncio
import resource
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0  # from the beginning of a connection, or of a request, to the end of its headers
MOST_CONNECTIONS = 1_000
RESERVED_FILES = 128  # descriptors for the log, checkpoints, and connections that are just being accepted
FEWEST_CONNECTIONS = 64
ACCEPTED_AT_ONCE = 16  # connections that are made before those that have to make room for them are closed
NO_ROOM = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"


def most_connections() -> int:
    """As many as there are descriptors for; the process is given as many as the system lets it have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + RESERVED_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(soft - RESERVED_FILES, FEWEST_CONNECTIONS)
    return MOST_CONNECTIONS


class Gate:
    """The connections that there are.

    Args:
        most: At once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.num_let_go = 0  # for want of room, or because they said nothing
        self._all: set[Connection] = set()
        self._silent: dict[Connection, None] = {}  # those that no request came from yet, or none since; oldest first

    def enter(self, connection: "Connection") -> bool:
        """Make room for a connection; tells whether there is any."""
        if len(self._all) >= self.most:
            oldest = next(iter(self._silent), None)
            if oldest is None:
                return False
            oldest.let_go()
        self._all.add(connection)
        return True

    def leave(self, connection: "Connection") -> None:
        """A connection is gone."""
        self._all.discard(connection)
        self._silent.pop(connection, None)

    def note(self, connection: "Connection", is_silent: bool) -> None:
        """Whether a connection waits for a request, or is being answered."""
        if is_silent:
            self._silent.setdefault(connection)
        else:
            self._silent.pop(connection, None)


class Connection(H11Protocol):
    """One connection: as uvicorn has it, with a limit on how long it may say nothing.

    Args:
        gate: Lets it in.
        **options: Of uvicorn.
    """

    def __init__(self, gate: Gate, **options: Any) -> None:
        super().__init__(**options)
        self._gate = gate
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has connected, and may say something for a while."""
        super().connection_made(transport)
        if not self._gate.enter(self):
            transport.write(NO_ROOM)
            transport.close()
            return
        self._note_silence()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._stop_waiting()
        self._gate.leave(self)
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Something has come: the whole of a request's headers, or a part."""
        super().handle_events()
        self._note_silence()

    def on_response_complete(self) -> None:
        """A request is answered, and the next may come."""
        super().on_response_complete()
        self._note_silence()

    def let_go(self) -> None:
        """Somebody else needs the room, or time is up."""
        self._gate.num_let_go += 1
        self._gate.leave(self)
        self._stop_waiting()
        self.transport.abort()

    def _note_silence(self) -> None:
        """Begin to wait for the headers of a request, or stop, as the case is."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        is_silent = (
            not is_answering and self.conn.their_state in (h11.IDLE, h11.DONE) and not self.transport.is_closing()
        )
        self._gate.note(self, is_silent)
        if not is_silent:
            self._stop_waiting()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.let_go)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
