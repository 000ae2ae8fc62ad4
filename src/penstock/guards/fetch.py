"""The HTTP client of all outgoing requests. It connects to vetted addresses only.

A name is resolved once, all its addresses are checked, and the connection goes to one of them, with
the name as Host and for TLS. Redirects are followed here, and each is checked again.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Container,
    Iterable,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpcore2

from penstock.guards.inflate import ACCEPTED, Inflater
from penstock.guards.interfaces import own_addresses
from penstock.guards.urls import Target, follow, parse_url, refuse
from penstock.model.errors import PermanentError, Unavailable
from penstock.model.network.addresses import Address, AllowedHost, refusal_reason
from penstock.model.network.fetching import (
    FetchLimits,
    FetchRequest,
    FetchResponse,
    StreamedResponse,
)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Headers that are not sent on to another server after a redirect.
_PERSONAL = frozenset({"authorization", "cookie", "proxy-authorization"})
_MAX_HEADER_BYTES = 64 * 1024
_CONNECTIONS = 100
_KEPT_OPEN_S = 5.0
_MAX_ADDRESSES_TRIED = 4


async def resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a name, as this machine sees them."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class _VettedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections to vetted addresses only. The pool opens all its connections with it."""

    def __init__(
        self,
        exempt: tuple[AllowedHost, ...],
        resolver: Resolve,
        own: Callable[[], Container[Address]],
    ) -> None:
        self._exempt = exempt
        self._own = own
        self._resolve = resolver
        self._inner = httpcore2.AnyIOBackend()

    async def vet_addresses(self, host: str, port: int) -> list[str]:
        """All addresses of the host. Refused if any of them is not allowed, since a name that also
        resolves to an internal address is an attack."""
        try:
            answers = await self._resolve(host, port)
            addresses: list[Address] = [ipaddress.ip_address(one) for one in answers]
        except (OSError, UnicodeError, ValueError) as error:
            raise Unavailable("NETWORK_ERROR", "The host's name has no address.") from error
        if not addresses:
            raise Unavailable("NETWORK_ERROR", "The host's name has no address.")
        for address in addresses:
            self.admit(host, address, port)
        return [str(address) for address in addresses]

    def admit(self, host: str, address: Address, port: int) -> None:
        why = refusal_reason(self._exempt, host, address, port, self._own())
        if why is not None:
            refuse(why)

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = (await self.vet_addresses(host, port))[:_MAX_ADDRESSES_TRIED]
        share = None if timeout is None else timeout / len(addresses)
        failure: Exception | None = None
        for address in addresses:
            try:
                return await self._inner.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        assert failure is not None
        raise failure

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore2.AsyncNetworkStream:
        raise PermissionError("a fetch goes to no socket file")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)


class Fetcher:
    """Implements `model.ports.Fetch`. One per process and purpose."""

    def __init__(
        self,
        exempt: tuple[AllowedHost, ...] = (),
        *,
        resolver: Resolve = resolve,
        tls: ssl.SSLContext | None = None,
        own: Callable[[], Container[Address]] = own_addresses,
    ) -> None:
        self._backend = _VettedBackend(exempt, resolver, own)
        self._tls = tls
        self._made: httpcore2.AsyncConnectionPool | None = None

    @property
    def _pool(self) -> httpcore2.AsyncConnectionPool:
        # Created on first use: most processes never fetch, and loading TLS takes time.
        if self._made is None:
            self._made = httpcore2.AsyncConnectionPool(
                ssl_context=self._tls,
                max_connections=_CONNECTIONS,
                keepalive_expiry=_KEPT_OPEN_S,
                network_backend=self._backend,
            )
        return self._made

    async def close(self) -> None:
        if self._made is not None:
            await self._made.aclose()

    async def check(self, url: str) -> None:
        """Refuse a URL that a fetch would refuse, without a request. A name without an address is
        accepted, since it may get one."""
        target = self._vet(parse_url(url))
        try:
            async with asyncio.timeout(FetchLimits().silent_ms / 1000):
                await self._backend.vet_addresses(target.host, target.port)
        except (Unavailable, TimeoutError):
            return

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        """Send the request, follow redirects and read the answer, within the request's limits."""
        began = time.monotonic()
        async with self.stream(request) as answer:
            body = b"".join([piece async for piece in answer.pieces])
            ms = round((time.monotonic() - began) * 1000)
            return FetchResponse(
                answer.status, answer.headers, body, answer.url, ms, answer.answered_at
            )

    @asynccontextmanager
    async def stream(self, request: FetchRequest) -> AsyncIterator[StreamedResponse]:
        """Like `fetch`, with the body read in pieces, so that it need not fit into memory."""
        target = self._vet(parse_url(request.url))
        method, body, headers = request.method, request.body, dict(request.headers)
        limits = request.limits
        try:
            async with asyncio.timeout(limits.total_ms / 1000):
                for _ in range(limits.hops + 1):
                    async with self._exchange(target, method, headers, body, limits) as answer:
                        location = answer.header("location")
                        if not limits.hops or answer.status not in _REDIRECTS or location is None:
                            yield answer
                            return
                    onward = self._vet(follow(target, location))
                    if onward.origin != target.origin:
                        headers = {k: v for k, v in headers.items() if k.lower() not in _PERSONAL}
                    if answer.status == 303 or (answer.status in (301, 302) and method == "POST"):
                        method, body = "GET", b""
                    target = onward
        except TimeoutError:
            raise _timed_out(limits.total_ms) from None
        refuse(f"it redirects more than {limits.hops} times")

    def _vet(self, target: Target) -> Target:
        """Refuse what can be refused before resolving the name."""
        if target.address is not None:
            self._backend.admit(target.host, target.address, target.port)
        return target

    @asynccontextmanager
    async def _exchange(
        self,
        target: Target,
        method: str,
        headers: dict[str, str],
        body: bytes,
        limits: FetchLimits,
    ) -> AsyncIterator[StreamedResponse]:
        silent = limits.silent_ms / 1000
        sent = [
            (b"Host", target.authority.encode()),
            (b"Accept-Encoding", ACCEPTED.encode()),
            *((name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()),
        ]
        if body or method not in ("GET", "HEAD"):
            sent.append((b"Content-Length", str(len(body)).encode()))
        # Passed in parts, so that no other parser interprets the URL.
        url = httpcore2.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.port,
            target=target.path.encode(),
        )
        timeouts = {"connect": silent, "read": silent, "write": silent, "pool": silent}
        try:
            async with self._pool.stream(
                method, url, headers=sent, content=body, extensions={"timeout": timeouts}
            ) as response:
                answered_at = time.monotonic()
                headers_received = _headers(response.headers)
                async with aclosing(
                    _pieces(response, headers_received, limits, bodiless=method == "HEAD")
                ) as pieces:
                    yield StreamedResponse(
                        response.status, headers_received, pieces, target.url, answered_at
                    )
        except httpcore2.TimeoutException as error:
            raise _timed_out(limits.silent_ms) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError) as error:
            why = "broke the connection off" if _is_broken_off(error) else "cannot be reached"
            raise Unavailable("NETWORK_ERROR", f"The server {why}: {_text_of(error)}") from error


def _timed_out(ms: int) -> Unavailable:
    return Unavailable("FETCH_TIMEOUT", f"The server did not answer in full within {ms} ms.")


def _is_broken_off(error: Exception) -> bool:
    return isinstance(error, httpcore2.ReadError | httpcore2.WriteError | httpcore2.ProtocolError)


def _text_of(error: Exception) -> str:
    return (str(error) or type(error).__name__)[:200]


def _headers(raw: Sequence[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    if sum(len(name) + len(value) for name, value in raw) > _MAX_HEADER_BYTES:
        raise _too_large(_MAX_HEADER_BYTES)
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in raw]


async def _pieces(
    response: httpcore2.Response,
    headers: Sequence[tuple[str, str]],
    limits: FetchLimits,
    *,
    bodiless: bool,
) -> AsyncGenerator[bytes, None]:
    if bodiless:
        return
    encoding = ", ".join(value for name, value in headers if name == "content-encoding")
    inflater, room = Inflater(encoding), limits.most_bytes
    async for raw in response.aiter_stream():
        for piece in inflater.feed(raw):
            if len(piece) > room:
                if limits.head_only:
                    yield piece[:room]
                    return
                raise _too_large(limits.most_bytes)
            room -= len(piece)
            yield piece
        # Yield even if data is available, so that other tasks run and the timeout works.
        await asyncio.sleep(0)
    inflater.end()


def _too_large(most: int) -> PermanentError:
    return PermanentError("FETCH_TOO_LARGE", f"The answer is larger than {most:,} bytes.")
