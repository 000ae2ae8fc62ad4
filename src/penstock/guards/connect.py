"""Connections of protocols other than HTTP, to vetted addresses only."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from penstock.guards.fetch import Resolve, resolve
from penstock.guards.interfaces import own_addresses
from penstock.guards.urls import parse_url, refuse
from penstock.model.errors import Unavailable
from penstock.model.network.addresses import Address, AllowedHost, refusal_reason

_MAX_ADDRESSES_TRIED = 4
_CHECK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A parsed address like ``sftp://host:22/folder``."""

    scheme: str
    host: str
    port: int
    path: str


def parse_server_address(text: str, ports: dict[str, int]) -> ServerAddress:
    """Parse an address with one of the schemes of ``ports``, as strictly as a URL."""
    scheme, found, rest = text.strip().partition("://")
    if not found or scheme not in ports:
        refuse(f"it must begin with {' or '.join(f'{one}://' for one in ports)}")
    # The host is checked as that of a web address is.
    target = parse_url(f"https://{rest}")
    parts = urlsplit(f"https://{rest}")
    if parts.query or parts.fragment:
        refuse("it contains `?` or `#`")
    return ServerAddress(scheme, target.host, parts.port or ports[scheme], unquote(parts.path))


class VettedConnector:
    """Connects to public servers, and to those that the operator allows. A name is resolved once,
    all its addresses are checked, and the connection goes to one of them."""

    def __init__(
        self,
        exempt: tuple[AllowedHost, ...],
        usual_ports: Container[int],
        *,
        resolver: Resolve = resolve,
        own: Callable[[], Container[Address]] = own_addresses,
    ) -> None:
        self._exempt = exempt
        self._usual_ports = usual_ports
        self._resolve = resolver
        self._own = own

    async def check(self, host: str, port: int) -> None:
        """Refuse a server that `connect` would refuse. A name without an address is accepted, since
        it may get one."""
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                await self._vet_addresses(host, port)
        except (Unavailable, TimeoutError):
            return

    async def connect(self, host: str, port: int, seconds: float) -> socket.socket:
        """A connected socket."""
        try:
            async with asyncio.timeout(seconds):
                addresses = (await self._vet_addresses(host, port))[:_MAX_ADDRESSES_TRIED]
                return await _first(addresses, lambda one: _connect(one, port))
        except TimeoutError:
            raise Unavailable(
                "PLACE_UNREACHABLE", f"The server did not answer within {seconds:g} s."
            ) from None

    async def _vet_addresses(self, host: str, port: int) -> list[str]:
        try:
            answers = await self._resolve(host, port)
            addresses: list[Address] = [ipaddress.ip_address(one) for one in answers]
        except (OSError, UnicodeError, ValueError) as error:
            raise _without_address() from error
        if not addresses:
            raise _without_address()
        for address in addresses:
            why = refusal_reason(self._exempt, host, address, port, self._own(), self._usual_ports)
            if why is not None:
                refuse(why)
        return [str(address) for address in addresses]


async def _first(
    addresses: Sequence[str], connect: Callable[[str], Awaitable[socket.socket]]
) -> socket.socket:
    failure: OSError | None = None
    for address in addresses:
        try:
            return await connect(address)
        except OSError as error:
            failure = error
    assert failure is not None
    why = failure.strerror or type(failure).__name__
    raise Unavailable("PLACE_UNREACHABLE", f"The server cannot be reached: {why}") from failure


async def _connect(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setblocking(False)
        await asyncio.get_running_loop().sock_connect(made, (address, port))
    except BaseException:
        made.close()
        raise
    return made


def _without_address() -> Unavailable:
    return Unavailable("PLACE_UNREACHABLE", "The host's name has no address.")
