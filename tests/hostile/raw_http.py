"""An HTTP client that costs next to nothing: requests are bytes made beforehand, answers are
counted and thrown away. Attackers share a machine with what they attack, and must not slow it down
by their own work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode, urlsplit

_CHUNK_BYTES = 256 * 1024
_KEPT_BYTES = 4096


def encoded_json(value: Any) -> tuple[str, bytes]:
    return "application/json", json.dumps(value).encode()


def encoded_file(name: str, content: bytes) -> tuple[str, bytes]:
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return "multipart/form-data; boundary=x", head.encode() + content + b"\r\n--x--\r\n"


class RawClient:
    """One connection that is kept open, and opened again when the server has closed it."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.body = b""

    async def send(
        self,
        method: str,
        path: str,
        body: tuple[str, bytes] | None = None,
        *,
        key: str | None = None,
        query: dict[str, str] | None = None,
        accept: str = "*/*",
    ) -> int:
        """The status, once the whole answer is here; `body` then has its beginning."""
        kind, content = body or ("", b"")
        head = self._head(method, path, query, key, accept)
        if body is not None:
            head += f"Content-Type: {kind}\r\n"
        head += f"Content-Length: {len(content)}\r\n\r\n"
        async with asyncio.timeout(60):
            return await self._exchange(head.encode(), content)

    async def trickle(
        self, method: str, path: str, kind: str, parts: AsyncIterator[bytes], *, key: str
    ) -> int:
        """The status of a request whose body comes in chunks, as slowly as ``parts`` does."""
        head = self._head(method, path, None, key, "*/*")
        head += f"Content-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        reader, writer = await self._connected()
        writer.write(head.encode())
        answering = asyncio.create_task(self._answer(reader))
        try:
            async for part in parts:
                if answering.done():
                    break
                writer.write(b"%x\r\n%s\r\n" % (len(part), part))
                await writer.drain()
            else:
                writer.write(b"0\r\n\r\n")
            return await answering
        finally:
            answering.cancel()
            self.close()

    def close(self) -> None:
        if self._line is not None:
            self._line[1].close()
            self._line = None

    def _head(
        self, method: str, path: str, query: dict[str, str] | None, key: str | None, accept: str
    ) -> str:
        target = f"{path}?{urlencode(query)}" if query else path
        head = f"{method} {target} HTTP/1.1\r\nHost: {self._address.netloc}\r\nAccept: {accept}\r\n"
        return head if key is None else head + f"Authorization: Bearer {key}\r\n"

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._line is None:
            host, port = self._address.hostname, self._address.port
            self._line = await asyncio.open_connection(host, port, limit=_CHUNK_BYTES)
        return self._line

    async def _exchange(self, head: bytes, content: bytes) -> int:
        reader, writer = await self._connected()
        try:
            writer.write(head + content)
            # Not drained: a refusal may come before the body has been taken.
            return await self._answer(reader)
        except BaseException:
            self.close()
            raise

    async def _answer(self, reader: asyncio.StreamReader) -> int:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(head.split(b" ", 2)[1])
        fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        if fields.get(b"transfer-encoding") == b"chunked":
            while length := int(await reader.readuntil(b"\r\n"), 16):
                await _skip(reader, length + 2)
            await reader.readuntil(b"\r\n")
        else:
            length = int(fields.get(b"content-length", b"0"))
            self.body = await reader.readexactly(min(length, _KEPT_BYTES))
            await _skip(reader, length - len(self.body))
        if fields.get(b"connection") == b"close":
            self.close()
        return status


async def _skip(reader: asyncio.StreamReader, length: int) -> None:
    while length:
        read = await reader.read(min(length, _CHUNK_BYTES))
        if not read:
            raise ConnectionResetError("the answer ended early")
        length -= len(read)
