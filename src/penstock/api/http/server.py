"""The application on a port. Requests with too large or too slow headers are refused early."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from penstock.api.http.errors import problem_of, status_of
from penstock.api.http.middleware import KNOWN_CALLER, SAFE_HEADERS
from penstock.model.errors import BadInput, PenstockError, TransientError
from penstock.model.ids import new_id
from penstock.settings import Settings

HEAD_BYTES = 64 * 1024
# Of a web socket, unpacked; longer ones close the connection with 1009.
MESSAGE_BYTES = 16 * 1024
_MESSAGES_WAITING = 4
HEAD_SECONDS = 15.0
# A client that is refused while it sends reads the answer only if we continue to read.
_SECONDS_TO_HEAR = 2.0


def server_config(app: Any, settings: Settings, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=BoundedProtocol,
        access_log=False,
        log_config=None,
        lifespan="off",
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        ws_max_size=MESSAGE_BYTES,
        ws_max_queue=_MESSAGES_WAITING,
        **more,
    )


class BoundedProtocol(HttpToolsProtocol):
    """One connection. The parser itself accepts headers of any size, for any time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._in_head = True
        self._refused = False
        self._too_slow: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._in_head:
            room = HEAD_BYTES - self._head_bytes
            self._head_bytes += len(data)
            if len(data) > room:
                super().data_received(data[:room])
                if self._refused or self.transport.is_closing():
                    return
                if self._in_head:
                    self._refuse(_HEAD_TOO_LARGE)
                    return
                data = data[room:]
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        self._expect_head()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._cancel_timer()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Do not read the rest of a body after an early answer, as uvicorn would."""
        unread = self.cycle is not None and self.cycle.more_body
        if not unread or self.scope.get("state", {}).get(KNOWN_CALLER):
            super().on_response_complete()
        elif not self.transport.is_closing():
            self._refused = True
            self.flow.resume_reading()
            self._end_soon()

    def send_400_response(self, msg: str) -> None:
        self._refuse(_NO_HTTP)

    def _expect_head(self) -> None:
        self._in_head = True
        self._cancel_timer()
        self._too_slow = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _cancel_timer(self) -> None:
        if self._too_slow is not None:
            self._too_slow.cancel()
            self._too_slow = None

    def _give_up(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            # The previous answer is still being sent.
            self._too_slow = self.loop.call_later(HEAD_SECONDS, self._give_up)
        elif not self.transport.is_closing():
            self._refuse(_HEAD_TOO_SLOW)

    def _refuse(self, error: PenstockError) -> None:
        self._refused = True
        self._cancel_timer()
        status, request_id = status_of(error), new_id().hex
        body = problem_of(error, "", request_id)
        headers = {
            **SAFE_HEADERS,
            "Content-Type": "application/problem+json",
            "Content-Length": str(len(body)),
            "X-Request-Id": request_id,
            "Connection": "close",
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(STATUS_LINE[status] + head.encode() + b"\r\n" + body)
        self._end_soon()

    def _end_soon(self) -> None:
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(_SECONDS_TO_HEAR, self.transport.close)


_HEAD_TOO_LARGE = BadInput(
    "HEADERS_TOO_LARGE",
    f"The address and the headers are larger than {HEAD_BYTES:,} bytes. Send less in them: what is"
    " large belongs into the body.",
    limit=HEAD_BYTES,
)
_HEAD_TOO_SLOW = TransientError(
    "REQUEST_TIMEOUT",
    f"The headers did not come within {HEAD_SECONDS:.0f} s. Send the request again.",
)
_NO_HTTP = BadInput("BAD_REQUEST", "This is not HTTP/1.1 as it should be. Check the request.")
