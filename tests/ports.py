"""Ports for servers that a test starts as processes, which are told theirs before they listen.

A port that the system gave out is free again once it is let go of: any connection of another test
may get it before the server listens, or while a server that was killed is down. These are below
the ones that the system gives out, and each is taken once in a run."""

from __future__ import annotations

import errno
import random
import socket
from pathlib import Path

_LOWEST = 10_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
# Locked until this process ends, so that no other process of tests takes the same port.
_taken: list[socket.socket] = []


def free_port() -> int:
    """A port of this machine that no other process of tests gets until this one ends."""
    highest = int(_RANGE.read_text().split()[0]) - 1
    assert highest > _LOWEST, "connections may get any port: see ip_local_port_range"
    while True:
        port = random.SystemRandom().randint(_LOWEST, highest)
        mark = socket.socket(socket.AF_UNIX)
        try:
            mark.bind(f"\0penstock-test-port-{port}")
            # As servers do, so that a connection that was just closed does not count.
            with socket.create_server(("127.0.0.1", port)):
                _taken.append(mark)
                return port
        except OSError as error:
            mark.close()
            if error.errno != errno.EADDRINUSE:
                raise
