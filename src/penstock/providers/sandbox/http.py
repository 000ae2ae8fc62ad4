"""A small HTTP/1.1 server that can also fail in ways that a web framework does not offer."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson

_REASONS = {
    200: "OK", 201: "Created", 206: "Partial Content", 302: "Found", 400: "Bad Request",
    401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    416: "Range Not Satisfiable", 422: "Unprocessable Entity", 429: "Too Many Requests",
    500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip
_MAX_HEAD = 64 * 1024
_MAX_BODY = 1024 * 1024
# Closing with this option sends a reset instead of a regular end.
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return orjson.loads(self.body) if self.body else {}


@dataclass(frozen=True, slots=True)
class Response:
    """``keep_bytes`` cuts the body off after so many bytes; ``reset`` breaks the connection."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    keep_bytes: int | None = None
    reset: bool = False

    @staticmethod
    def json(value: Any, status: int = 200, **headers: str) -> Response:
        named = {name.replace("_", "-"): told for name, told in headers.items()}
        return Response(status, orjson.dumps(value), headers=named)


Handler = Callable[[Request], Awaitable[Response]]


class HttpServer:
    """Serves on one port of the loopback address until it is closed."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[Any]] = set()

    async def start(self, port: int) -> int:
        """The port, which is any free one for 0."""
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, limit=_MAX_HEAD, backlog=1024
        )
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(
                OSError,
                ValueError,
                asyncio.IncompleteReadError,
                asyncio.LimitOverrunError,
                asyncio.CancelledError,
            ):
                while await self._answer_one(reader, writer):
                    pass
        finally:
            self._open.discard(task)
            with suppress(OSError):
                writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays open."""
        request = await _read(reader)
        response = await self._handler(request)
        if response.reset:
            _reset(writer)
            return False
        writer.write(_head(response))
        if request.method != "HEAD":
            writer.write(response.body[: response.keep_bytes])
        await writer.drain()
        return response.keep_bytes is None and request.headers.get("connection") != "close"


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    size = min(int(headers.get("content-length") or 0), _MAX_BODY)
    body = await reader.readexactly(size) if size else b""
    parts = urlsplit(target)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    return Request(method, parts.path, query, headers, body)


def _head(response: Response) -> bytes:
    lines = [
        f"HTTP/1.1 {response.status} {_REASONS.get(response.status, 'Status')}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        f"Date: {formatdate(usegmt=True)}",
        *(f"{name}: {value}" for name, value in response.headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    with suppress(OSError):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()
