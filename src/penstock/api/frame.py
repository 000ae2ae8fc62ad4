"""Around every request: its id, the headers that keep browsers safe, and a net for bugs."""

from __future__ import annotations

import re
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from penstock.api.errors import problem
from penstock.model.errors import Unforeseen
from penstock.model.ports import Log

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class Frame:
    """Plain ASGI: bodies pass through unbuffered in both directions."""

    def __init__(self, app: ASGIApp, log: Log) -> None:
        self._app = app
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _SANE_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        started = False

        async def framed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with bound_contextvars(request=request_id):
            try:
                await self._app(scope, receive, framed)
            except Exception:
                self._log.error(
                    "request failed", method=scope["method"], path=scope["path"], exc_info=True
                )
                if started:
                    # Too late for an answer: cutting the connection tells that it is not whole.
                    raise
                bug = Unforeseen("INTERNAL_ERROR", "Something went wrong on our side.")
                await problem(Request(scope), bug)(scope, receive, framed)
