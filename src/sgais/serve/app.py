"""The routes: which request is answered by what."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from sgais.serve.board.board import FAILED, Board
from sgais.serve.http.assets import Asset, load_assets
from sgais.serve.http.connections import Gate, most_connections
from sgais.serve.http.events import Readers
from sgais.serve.http.metrics import CONTENT_TYPE, prometheus
from sgais.serve.http.openapi import document
from sgais.serve.http.outermost import Outermost, root_path_of
from sgais.serve.http.proxies import Proxies
from sgais.serve.http.requests import body_of, key_of, media_type_of, number_of
from sgais.serve.http.security import Guard
from sgais.serve.intake.bodies import PARSERS
from sgais.serve.limits import Limits, RateLimit
from sgais.serve.predictions import Predictions
from sgais.serve.refusal import RefusalError
from sgais.serve.service import Service

FARTHEST_ROW = 10**15 - 1
MOST_POINTS = 2000
# Statuses of requests whose body was not read to its end. It may have none: the connection is closed behind them.
BODY_UNREAD = (401, 403, 404, 405, 408, 413, 415, 421)
Handler = Callable[[Request], Awaitable[Response]]


class App:
    """The web application.

    Args:
        board: What is shown.
        guard: Who may ask.
        limits: How much.
        service: What takes rows in; None where a run is only shown.
        proxies: Those that may say whom they speak for.
        root_path: What stands before every path, where a proxy hands it on.
    """

    def __init__(
        self,
        board: Board,
        guard: Guard,
        limits: Limits,
        service: Service | None = None,
        proxies: Proxies | None = None,
        root_path: str = "",
    ) -> None:
        self._board, self._guard, self._limits, self._service = board, guard, limits, service
        self._proxies, self._root_path = proxies or Proxies(), root_path_of(root_path)
        self.gate = Gate(most_connections())
        self._rate = RateLimit(limits.requests_per_second)
        self._predictions = Predictions()
        self._refused: dict[int, int] = {}
        self.readers = Readers(board, self._extra, limits.readers)
        assets = load_assets()
        routes = [Route(path, _serve_asset(asset), methods=["GET"]) for path, asset in assets.items()]
        routes += [
            Route("/health", self._health, methods=["GET"]),
            *[Route(path, self._guarded(answer), methods=[method]) for path, method, answer in self._api()],
        ]
        handlers: Any = {RefusalError: self._refuse, HTTPException: self._refuse_plainly}
        app = Starlette(routes=routes, exception_handlers=handlers)
        self.asgi = Outermost(app, self._check, self.refused, self._root_path)

    def _api(self) -> list[tuple[str, str, Handler]]:
        """What needs a token where there is one."""
        shown: list[tuple[str, str, Handler]] = [
            ("/state", "GET", self._state),
            ("/records", "GET", self._records),
            ("/events", "GET", self._events),
            ("/metrics", "GET", self._metrics),
            ("/openapi.json", "GET", self._openapi),
        ]
        if self._service is None:
            return shown
        return [*shown, ("/observations", "POST", self._observations), ("/predict", "POST", self._predict)]

    def _guarded(self, answer: Handler) -> Handler:
        async def checked(request: Request) -> Response:
            self._guard.check_token(request)
            return await answer(request)

        return checked

    def _check(self, request: Request) -> None:
        """What every request has to pass, whatever it asks for."""
        self._guard.check_site(request)
        self._rate.count(self._proxies.client_of(request))  # behind it: other sites' pages use up nobody's share

    async def _observations(self, request: Request) -> Response:
        assert self._service is not None, "the route is there for services"
        media_type, key = media_type_of(request, PARSERS), key_of(request)
        body = await body_of(request, self._limits.body_bytes)
        receipt = await self._service.intake.take(media_type, body, key)
        return _json(receipt._asdict(), 200 if receipt.is_duplicate else 201)

    async def _predict(self, request: Request) -> Response:
        assert self._service is not None, "the route is there for services"
        media_type = media_type_of(request, PARSERS)
        body = await body_of(request, self._limits.body_bytes)
        read_inputs = partial(self._service.intake.admission.inputs, media_type, body)
        return _json(await self._predictions.predict(self._service.worker.forecaster, read_inputs))

    async def _state(self, _: Request) -> Response:
        return _json(self._whole_state())

    async def _records(self, request: Request) -> Response:
        first = number_of(request, "from", 0, 0, FARTHEST_ROW)
        last = number_of(request, "to", FARTHEST_ROW, 0, FARTHEST_ROW)
        most = number_of(request, "points", 500, 1, MOST_POINTS)
        return _json(self._board.records(first, last, int(most)))

    async def _events(self, request: Request) -> Response:
        return self.readers.open(number_of(request, "from", self._board.num_rows, 0, FARTHEST_ROW))

    async def _metrics(self, _: Request) -> Response:
        return PlainTextResponse(
            prometheus(self._whole_state() | {"num_refused": self._refused}), media_type=CONTENT_TYPE
        )

    async def _health(self, _: Request) -> Response:
        """For whoever restarts services: no secrets, no token."""
        status = self._board.state()["status"]
        return _json({"status": status, "needs_token": self._guard.needs_token}, 503 if status == FAILED else 200)

    async def _openapi(self, _: Request) -> Response:
        fields = None if self._service is None else self._service.intake.admission.mapping
        whole = document(self._limits, fields, self._guard.needs_token, self._service is not None)
        return _json(whole | ({"servers": [{"url": self._root_path}]} if self._root_path else {}))

    def _whole_state(self) -> dict[str, Any]:
        return self._board.state() | self._extra()

    def _extra(self) -> dict[str, Any]:
        """What the board does not know."""
        extra: dict[str, Any] = {"num_readers": self.readers.count, "num_let_go": self.gate.num_let_go}
        return extra if self._service is None else extra | self._service.numbers()

    async def _refuse(self, _: Request, refusal: Exception) -> Response:
        assert isinstance(refusal, RefusalError), "the handler is for these"
        return self.refused(refusal)

    async def _refuse_plainly(self, _: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException), "the handler is for these"
        words = {404: "there is nothing here.", 405: "this is not how it is asked."}
        response = self.refused(RefusalError(error.status_code, words.get(error.status_code, "refused.")))
        response.headers.update(error.headers or {})
        return response

    def refused(self, refusal: RefusalError) -> Response:
        """The answer to a request that is refused."""
        self._refused[refusal.status] = self._refused.get(refusal.status, 0) + 1
        response = _json(refusal.content(), refusal.status)
        if refusal.retry_after is not None:
            response.headers["Retry-After"] = str(refusal.retry_after)
        if refusal.status in BODY_UNREAD:
            response.headers["Connection"] = "close"
        if refusal.status == 401:
            response.headers["WWW-Authenticate"] = "Bearer"
        return response


def _serve_asset(asset: Asset) -> Handler:
    async def answer(request: Request) -> Response:
        headers = {"ETag": asset.tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == asset.tag:
            return Response(status_code=304, headers=headers)
        return Response(asset.content, media_type=asset.media_type, headers=headers)

    return answer


def _json(content: Any, status: int = 200) -> Response:
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")
