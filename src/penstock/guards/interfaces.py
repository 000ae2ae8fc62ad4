"""The addresses of this machine, on all its interfaces."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Container

import psutil

from penstock.model.network.addresses import Address

# Seconds to cache, since interfaces of containers and tunnels change.
_SECONDS_KEPT = 10.0
_cached: tuple[float, frozenset[Address]] = (0.0, frozenset())


def own_addresses() -> Container[Address]:
    """All addresses, public ones included, cached for a few seconds. Addresses that a router
    translates are on no interface and therefore missing."""
    global _cached
    if not _cached[1] or time.monotonic() - _cached[0] > _SECONDS_KEPT:
        _cached = (time.monotonic(), _addresses())
    return _cached[1]


def _addresses() -> frozenset[Address]:
    return frozenset(
        ipaddress.ip_address(one.address.partition("%")[0])
        for listed in psutil.net_if_addrs().values()
        for one in listed
        if one.family in (socket.AF_INET, socket.AF_INET6)
    )
