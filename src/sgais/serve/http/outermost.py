"""Around all routes: what every request must pass, headers that every answer has, and where the routes begin."""

import re
import sys
import traceback
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sgais.errors import ConfigError
from sgais.serve.http.security import HEADERS
from sgais.serve.refusal import RefusalError


def root_path_of(text: str) -> str:
    """A prefix of paths without a slash at its end; refuse what is none."""
    found = text.rstrip("/")
    if found and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", found):
        raise ConfigError(f"`--root-path` must be a path such as /evidence, got {text!r}.")
    return found


class Outermost:
    """Around everything: what all requests must pass, headers that all answers have, and no word of our own errors."""

    def __init__(
        self,
        app: ASGIApp,
        check: Callable[[Request], None],
        refused: Callable[[RefusalError], Response],
        root_path: str = "",
    ) -> None:
        self._app, self._check, self._refused, self._root_path = app, check, refused, root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, whatever happens."""
        if scope["type"] != "http":
            return
        has_started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                present = {name.lower() for name, _ in message["headers"]}
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *[each for each in added if each[0] not in present]]
            await send(message)

        try:
            await self._answer(scope, receive, send_with_headers)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            if not has_started:
                answer = JSONResponse({"error": {"status": 500, "message": "internal error"}}, 500)
                await answer(scope, receive, send_with_headers)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(Request(scope))
        except RefusalError as refusal:
            response = self._refused(refusal)
            response.headers["Connection"] = "close"
            await response(scope, receive, send)
            return
        if self._root_path and scope["path"] == self._root_path:  # the page's own paths are relative to a folder
            await RedirectResponse(self._root_path + "/")(scope, receive, send)
            return
        # A proxy may hand the prefix on or cut it off: routes are found behind it either way.
        await self._app(dict(scope) | {"root_path": self._root_path}, receive, send)
