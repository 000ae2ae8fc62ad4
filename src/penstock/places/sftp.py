"""A folder of an SFTP server. The server is identified by its key: the first one that it shows is
stored, and another one is refused before anything is sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from penstock.guards.connect import VettedConnector, parse_server_address
from penstock.model.places.ports import PlaceAddress, PlaceLimits
from penstock.places.credentials import check_credentials
from penstock.places.errors import timed_out

if TYPE_CHECKING:
    from penstock.places.sftp_server import SftpPlace

PORTS = {"sftp": 22}
SFTP_PORTS = frozenset(PORTS.values())


class SftpPlaces:
    def __init__(self, connector: VettedConnector) -> None:
        self._connector = connector

    async def check(self, address: PlaceAddress) -> str:
        check_credentials(
            address.credentials, ("user",), ("password", "privateKey", "passphrase", "hostKey")
        )
        from penstock.places.sftp_server import connect_options

        connect_options(address)
        server = parse_server_address(address.address, PORTS)
        await self._connector.check(server.host, server.port)
        return address.address.strip()

    @asynccontextmanager
    async def open(self, address: PlaceAddress, limits: PlaceLimits) -> AsyncIterator[SftpPlace]:
        from penstock.places.sftp_server import SftpPlace, connect, named_errors, public_key_text

        server = parse_server_address(address.address, PORTS)
        sock = await self._connector.connect(server.host, server.port, limits.wait_seconds)
        try:
            async with asyncio.timeout(limits.wait_seconds):
                connection = await connect(sock, server, address)
        except TimeoutError:
            sock.close()
            raise timed_out(limits.wait_seconds) from None
        try:
            with named_errors(server.path):
                async with asyncio.timeout(limits.wait_seconds):
                    client = await connection.start_sftp_client()
            key = connection.get_server_host_key()
            shown = None if key is None else public_key_text(key)
            yield SftpPlace(client, server.path or ".", limits, shown)
        finally:
            connection.abort()
