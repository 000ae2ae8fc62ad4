"""Around every request: its id, the API version, security headers, and a handler for unexpected
errors."""

from __future__ import annotations

import re
import time
from uuid import UUID, uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from penstock.api.http.errors import problem
from penstock.api.http.versions import (
    CURRENT,
    DEPRECATED,
    HEADER,
    Deprecations,
    operation_id,
    version_of,
)
from penstock.api.http.work import release_turn
from penstock.model.errors import BadInput, NotThere, PermanentError, UnexpectedError
from penstock.model.monitor.histogram import HistogramSet
from penstock.model.monitor.traces import (
    JobTrace,
    NoTraces,
    TraceParent,
    Traces,
    continue_trace,
    current_trace,
)
from penstock.model.ports import Log

_JOB = re.compile(r"/api/(?:jobs|runs)/([0-9a-f-]{36})")
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
MOST_PARAMETERS = 200
# Set in a request's state once its caller is known.
KNOWN_CALLER = "known_caller"
# A year. Only where the request came over TLS, here or at a proxy that is trusted.
_HSTS = "max-age=31536000"


class RequestMiddleware:
    """Plain ASGI: bodies pass through unbuffered in both directions."""

    def __init__(
        self, app: ASGIApp, log: Log, times: HistogramSet, deprecated: Deprecations = DEPRECATED,
        traces: Traces | None = None,
    ) -> None:  # fmt: skip
        self._app = app
        self._traces = traces or NoTraces()
        self._times = times
        self._log = log
        self._deprecated = deprecated

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        request_id = given if _SANE_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        continue_trace(TraceParent.parse(headers.get("traceparent")))
        started, status, began = False, 0, time.monotonic()

        async def framed(message: Message) -> None:
            nonlocal started, status
            if message["type"] == "http.response.start":
                started, status = True, message["status"]
                self._trace(scope, message, time.monotonic() - began)
                self._add_headers(MutableHeaders(scope=message), scope, request_id)
            await send(message)

        try:
            version_of(headers.get(HEADER))
            _check_address(scope)
        except PermanentError as refused:
            await problem(Request(scope), refused)(scope, receive, framed)
            return
        with bound_contextvars(request=request_id):
            try:
                await self._app(scope, receive, framed)
            except Exception:
                self._log.error(
                    "request failed", method=scope["method"], path=scope["path"], exc_info=True
                )
                if started:
                    # The answer has begun: closing the connection shows that it is incomplete.
                    raise
                bug = UnexpectedError(
                    "INTERNAL_ERROR",
                    "Something went wrong on our side. The log tells more under this request's id.",
                )
                await problem(Request(scope), bug)(scope, receive, framed)
            finally:
                release_turn(scope["state"])
                self._observe(scope, status, time.monotonic() - began)

    def _trace(self, scope: Scope, message: Message, seconds: float) -> None:
        """A request that created a job is the first span of the job's trace."""
        created = _JOB.fullmatch(Headers(scope=message).get("location", ""))
        if created is not None and message["status"] < 300:
            now = time.time()
            trace = JobTrace(UUID(created[1]), current_trace())
            told = {"method": scope["method"], "path": scope["path"], "status": message["status"]}
            self._traces.request(trace, now - seconds, now, told)

    def _observe(self, scope: Scope, status: int, seconds: float) -> None:
        # By the pattern of the route, since the number of addresses is unlimited; streams are left
        # out.
        route = getattr(scope.get("route"), "path", "")
        labels = (scope["method"], route, f"{status // 100}xx")
        self._times.observe("api_request", labels, seconds)

    def _add_headers(self, headers: MutableHeaders, scope: Scope, request_id: str) -> None:
        headers["X-Request-Id"] = request_id
        headers[HEADER] = CURRENT
        for name, value in SAFE_HEADERS.items():
            headers.setdefault(name, value)
        if scope["scheme"] == "https":
            headers.setdefault("Strict-Transport-Security", _HSTS)
        if self._deprecated and "route" in scope:
            going = self._deprecated.get(operation_id(scope["route"]))
            for name, value in going.headers().items() if going is not None else ():
                headers[name] = value


def _check_address(scope: Scope) -> None:
    """Refuse NUL, which PostgreSQL cannot store in texts, and too many parameters, which cost as
    much as fields of a body."""
    query: bytes = scope["query_string"]
    if "\0" in scope["path"]:
        raise NotThere("NOT_FOUND", "There is nothing at this address.")
    if b"\0" in query or b"%00" in query:
        raise BadInput("INVALID_PARAMETERS", "The address holds the character NUL.")
    if query.count(b"&") >= MOST_PARAMETERS:
        raise BadInput(
            "INVALID_PARAMETERS", f"The address has more than {MOST_PARAMETERS} parameters."
        )
