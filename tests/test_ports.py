"""Ports of servers that tests start belong to one test."""

from __future__ import annotations

import socket
import subprocess
import sys

from tests.ports import _RANGE, free_port


def test_no_connection_gets_a_port_that_was_taken() -> None:
    lowest_given_out = int(_RANGE.read_text().split()[0])
    ports = [free_port() for _ in range(50)]
    assert len(set(ports)) == 50
    assert max(ports) < lowest_given_out
    with socket.create_server(("127.0.0.1", ports[0])):
        pass


def test_two_processes_take_different_ports() -> None:
    port = free_port()
    program = (
        "import sys; from tests import ports; ports.random.SystemRandom.randint = "
        f"lambda *_, told=iter([{port}, {port + 1}, *range(20_000, 20_100)]): next(told); "
        "print(ports.free_port())"
    )
    told = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True)
    assert int(told.stdout) != port
