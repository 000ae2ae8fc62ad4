"""The API's address: checks that the port is free, and whether the API answers."""

from __future__ import annotations

import asyncio
import errno
import socket
from urllib.parse import urlsplit

from penstock.supervisor.errors import PortTaken

_ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104


def base_url(host: str, port: int) -> str:
    """As a browser on this machine would open it."""
    name = _ANYWHERE.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def require_free_port(host: str, port: int) -> None:
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except socket.gaierror as error:
        raise PortTaken(
            f"PENSTOCK_HOST={host} is not an address of this machine: {error.strerror}."
        ) from error
    for family, kind, protocol, _, address in found:
        with socket.socket(family, kind, protocol) as probe:
            # Connections of a predecessor that just closed do not count as taken.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(address)
            except OSError as error:
                raise _port_error(host, port, error) from error


def _port_error(host: str, port: int, error: OSError) -> PortTaken:
    if error.errno == errno.EADDRINUSE:
        why, how = "is taken by another program", f"e.g. PENSTOCK_PORT={_other_port(port)}"
    elif error.errno == errno.EACCES:
        why, how = "needs more rights than this user has", "e.g. PENSTOCK_PORT=8600"
    else:
        why, how = f"cannot be used ({error.strerror})", "or another address with PENSTOCK_HOST"
    return PortTaken(f"Port {port} on {host} {why}. Choose another with PENSTOCK_PORT, {how}.")


def _other_port(port: int) -> int:
    return port + 1 if port < 65535 else port - 1


async def answers_ok(url: str, timeout_s: float = 2.0) -> bool:
    """One GET without a library, since the supervisor imports none of those of the API."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
            try:
                request = f"GET {parts.path or '/'} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n"
                writer.write(request.encode())
                words = (await reader.readline()).split(maxsplit=2)
                return len(words) >= 2 and words[1] == b"200"
            finally:
                writer.close()
    except (OSError, TimeoutError, ValueError):
        return False
