"""Server-sent events: what is new, a few times a second, for as many readers as like to listen.

Nobody waits for a reader. Each has a place in the stream and is sent what has come since, thinned to a bounded number
of points: one who reads slowly skips some, and one who has stopped reading is let go.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sgais.serve.board.board import Board
from sgais.serve.refusal import RefusalError

SECONDS_BETWEEN_EVENTS = 0.25
SECONDS_BETWEEN_SIGNS_OF_LIFE = 10.0
PATIENCE = 20.0  # seconds that a reader may take for one event
MOST_POINTS = 100  # in an event


class Readers:
    """Those who listen.

    Args:
        board: What they hear of.
        extra: Further entries of the state.
        most: At the same time.
    """

    def __init__(self, board: Board, extra: Any, most: int) -> None:
        self._board, self._extra, self._most = board, extra, most
        self.count = 0
        self.is_closed = False
        self._cached_for: Any = None
        self._cached: tuple[bytes, float] = (b"", 0)

    def open(self, first_row: float) -> "EventResponse":
        """The answer to a new reader, who has seen the stream up to a row."""
        if self.count >= self._most:
            raise RefusalError(503, f"{self._most} readers are listening already.", retry_after=10)
        return EventResponse(self, first_row)

    async def events(self, row: float) -> AsyncIterator[bytes]:
        """What happens behind a row."""
        heard_of: Any = None
        silent = 0.0
        while not self.is_closed:
            # Rows that wait for a chunk to be full are news as well.
            version = (self._board.version, self._extra().get("rows_accepted"))
            if version != heard_of:
                heard_of, silent = version, 0.0
                text, row = self._news(row, version)
                yield text
            elif silent >= SECONDS_BETWEEN_SIGNS_OF_LIFE:
                silent = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(SECONDS_BETWEEN_EVENTS)
            silent += SECONDS_BETWEEN_EVENTS

    def _news(self, row: float, version: Any) -> tuple[bytes, float]:
        """State and points as one event, and the row up to which it tells; readers at the same place share it."""
        if self._cached_for != (row, version):
            newest = self._board.num_rows
            records = self._board.records(row + 1, newest, MOST_POINTS)
            content = {"state": self._board.state() | self._extra(), "records": records}
            text = f"id: {newest}\nevent: news\ndata: {json.dumps(content, allow_nan=False)}\n\n"
            self._cached_for, self._cached = (row, version), (text.encode(), newest)
        return self._cached


class EventResponse(Response):
    """An answer that continues until the reader leaves, or is let go."""

    media_type = "text/event-stream"

    def __init__(self, readers: Readers, first_row: float) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._readers, self._first_row = readers, first_row

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 (ASGI names it)
        """Send events; ends when the client is gone or does not read."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        self._readers.count += 1
        sending = asyncio.ensure_future(self._send_all(send))
        leaving = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._readers.count -= 1
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
        await _end(send)

    async def _send_all(self, send: Send) -> None:
        async for text in self._readers.events(self._first_row):
            async with asyncio.timeout(PATIENCE):
                await send({"type": "http.response.body", "body": text, "more_body": True})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(send: Send) -> None:
    """The server closes the connection behind it; a reader who has stopped does not hold it up."""
    try:
        async with asyncio.timeout(1.0):
            await send({"type": "http.response.body", "body": b"", "more_body": False})
    except (TimeoutError, OSError):
        pass
