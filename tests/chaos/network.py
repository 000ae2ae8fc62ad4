"""A network between a worker and the server that can be cut: a namespace and a pair of devices."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@dataclass(frozen=True)
class Network:
    """The worker's side is a namespace of its own; the server's side is this machine."""

    name: str
    server: str
    worker: str

    @property
    def inside(self) -> list[str]:
        """What runs a command on the worker's side."""
        return ["ip", "netns", "exec", self.name]

    def cut(self, how: str) -> None:
        match how:
            case "link down":
                _ip("link", "set", f"{self.name}s", "down")
            case "blackhole":
                self._swallow_answers()
                self._swallow_requests()
            case "answers lost":
                self._swallow_answers()
            case "requests lost":
                self._swallow_requests()
            case _:
                raise ValueError(how)

    def _swallow_answers(self) -> None:
        _ip("route", "add", "blackhole", f"{self.worker}/32")

    def _swallow_requests(self) -> None:
        _ip("-n", self.name, "route", "add", "blackhole", f"{self.server}/32")

    def heal(self) -> None:
        _ip("link", "set", f"{self.name}s", "up")
        for side in ([], ["-n", self.name]):
            subprocess.run(
                ["ip", *side, "route", "flush", "type", "blackhole"],
                check=False,
                capture_output=True,
            )


@contextmanager
def network() -> Iterator[Network]:
    number = secrets.randbelow(60_000)
    net = f"10.{200 + number // 16_000}.{number // 64 % 250}.{number % 64 * 4}"
    first, _, last = net.rpartition(".")
    made = Network(f"pk{number}", f"{first}.{int(last) + 1}", f"{first}.{int(last) + 2}")
    _ip("netns", "add", made.name)
    try:
        _ip("link", "add", f"{made.name}s", "type", "veth", "peer", "name", "eth0",
            "netns", made.name)  # fmt: skip
        _ip("addr", "add", f"{made.server}/30", "dev", f"{made.name}s")
        _ip("link", "set", f"{made.name}s", "up")
        _ip("-n", made.name, "addr", "add", f"{made.worker}/30", "dev", "eth0")
        _ip("-n", made.name, "link", "set", "eth0", "up")
        _ip("-n", made.name, "link", "set", "lo", "up")
        yield made
    finally:
        made.heal()
        # The devices go with the namespace.
        _ip("netns", "del", made.name)
