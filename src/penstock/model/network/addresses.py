"""Which addresses a fetch may reach: public ones, and those that the operator allows."""

from __future__ import annotations

import ipaddress
from collections.abc import Container, Iterable
from dataclasses import dataclass

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# Listed explicitly, because the standard library's categories miss some of these.
_REFUSED_V4 = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' own, and a cloud's metadata in it
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's wire server
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",  # relays from IPv6
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# Only global unicast IPv6 is allowed, which excludes loopback, link-local, unique local, multicast
# and prefixes that embed an IPv4 address for a translator.
_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_V6 = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
        "2001:db8::/32",
        "2002::/16",  # 6to4, with an IPv4 address inside
        "2620:4f:8000::/48",
        "3ffe::/16",
        "3fff::/20",
    )
)
# An embedded IPv4 address after these four bytes, in any prefix.
_ISATAP = (0x00005EFE, 0x02005EFE)
# Below 1024 only web ports; above, ports of services that do not speak HTTP are excluded.
_WEB = (80, 443)
_LOWEST_FREE = 1024
_OTHER_SERVICES = frozenset(
    {
        *(1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 3659),
        *(4045, 4190, 5060, 5061, 5432, 5672, 5900, 6000, 6379, 6443, 6566, *range(6665, 6670)),
        *(6679, 6697, 9042, 9092, 9200, 9300, 10080, 10250, 10255, 11211, 27017),
    }
)


def is_public(address: Address) -> bool:
    """Whether the address is on the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _REFUSED_V4)
    if address.scope_id is not None or address not in _GLOBAL_V6:
        return False
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return False
    return not any(address in network for network in _REFUSED_V6)


def is_web_port(port: int) -> bool:
    """Whether a web server could use this port."""
    return port in _WEB or (port >= _LOWEST_FREE and port not in _OTHER_SERVICES)


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A host name or network that may be reached although it is not public, on one port or any."""

    host: str | None
    network: Network | None
    port: int | None

    def covers(self, host: str, address: Address, port: int) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.network is None:
            return host == self.host
        return address.version == self.network.version and address in self.network

    def names(self, address: Address) -> bool:
        """Whether it names exactly this address. Any loopback network means this machine."""
        if self.network is None or self.network.num_addresses == 1:
            return True
        return address.is_loopback and self.network.is_loopback


def parse_exempt(text: str) -> tuple[AllowedHost, ...]:
    """Parse a list like ``hooks.internal, 10.1.0.0/16, 127.0.0.1:8080, [::1]:8080``. Raises
    ValueError."""
    return tuple(_exempt(part.strip()) for part in text.split(",") if part.strip())


def _exempt(text: str) -> AllowedHost:
    host, port = text, None
    bracketed = text.startswith("[")
    if bracketed or text.count(":") == 1:
        host, _, told = text.rpartition(":") if not text.endswith("]") else (text, "", "")
        if told:
            if not (told.isascii() and told.isdigit() and 0 < int(told) < 65536):
                raise ValueError(f"{text!r}: there is no port {told!r}")
            port = int(told)
        host = host.removeprefix("[").removesuffix("]")
    try:
        return AllowedHost(None, ipaddress.ip_network(host), port)
    except ValueError:
        pass
    name = host.lower().rstrip(".")
    plain = name and name.isascii() and all(c.isalnum() or c in "-._" for c in name)
    if not plain or name.replace(".", "").isdigit():
        raise ValueError(f"{text!r} is neither a host's name nor a network")
    return AllowedHost(name, None, port)


def refusal_reason(
    exempt: Iterable[AllowedHost],
    host: str,
    address: Address,
    port: int,
    own: Container[Address] = frozenset(),
    usual_ports: Container[int] = frozenset(),
) -> str | None:
    """Why this address of the host must not be reached; None if it may. ``own`` are the addresses
    of this machine: its other services are private, so an allowed network does not include them.
    ``usual_ports`` are allowed besides those of web servers."""
    covering = [one for one in exempt if one.covers(host, address, port)]
    if covering and (address not in own or any(one.names(address) for one in covering)):
        return None
    if not is_public(address):
        return "its host is not on the public internet"
    if address in own:
        return "its host is this server itself"
    return None if is_web_port(port) or port in usual_ports else f"port {port} is not"
