"""One queue measured once: `python -m benchmarks.peers.drive '{"module": …}'` in the peers' own
environment. Prints one line of JSON.

Workers are started, warmed up and stopped (SIGSTOP) while the backlog goes in, so that neither
their start nor the enqueue is part of the time it takes to work it off."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.peers.marks import ENVIRONMENT, Marks
from benchmarks.peers.shape import Peer

CLIENTS = 8
_PATIENCE_S = 120.0
_LOOK_S = 0.0005
_PAUSE_S = 0.02
_WARM = 10
_MOST_WARM = 2_000


@dataclass
class Drive:
    peer: Peer
    marks: Marks
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    next: int = 0
    found: dict[str, Any] = field(default_factory=dict)

    def numbers(self, count: int) -> range:
        self.next += count
        return range(self.next - count, self.next)

    def until_done(self, numbers: range) -> float:
        """When all have begun and the queue itself has nothing left of them."""
        deadline = time.monotonic() + _PATIENCE_S
        while not self.marks.all_begun(numbers.start, numbers.stop) or not self.peer.is_drained():
            if time.monotonic() > deadline:
                raise TimeoutError(f"not done after {_PATIENCE_S:.0f} s")
            if any(worker.poll() is not None for worker in self.workers):
                raise RuntimeError("a worker ended by itself")
            time.sleep(_LOOK_S)
        return time.monotonic()

    def warm_up(self, processes: int) -> None:
        """Jobs until every process has had one."""
        first = self.next
        while len(self.marks.processes(first, self.next)) < processes:
            if self.next - first >= _MOST_WARM:
                raise TimeoutError(f"fewer than {processes} processes took part")
            numbers = self.numbers(_WARM)
            self.peer.send(numbers, 1)
            self.until_done(numbers)
        time.sleep(0.5)

    def backlog(self, jobs: int) -> float:
        """Jobs per second."""
        _signal(self.workers, signal.SIGSTOP)
        numbers = self.numbers(jobs)
        began = time.monotonic()
        self.peer.enqueue(numbers)
        self.found["enqueue"] = jobs / (time.monotonic() - began)
        began = time.monotonic()
        _signal(self.workers, signal.SIGCONT)
        return jobs / (self.until_done(numbers) - began)

    def live(self, jobs: int) -> float:
        """Jobs per second from the first submit to the last one done."""
        numbers = self.numbers(jobs)
        began = time.monotonic()
        self.peer.send(numbers, CLIENTS)
        return jobs / (self.until_done(numbers) - began)

    def dispatch(self, count: int) -> list[float]:
        """Milliseconds from the call of enqueue to the begin of the handler, worker idle."""
        found = []
        for _ in range(count):
            numbers = self.numbers(1)
            began = time.monotonic()
            self.peer.send(numbers, 1)
            self.until_done(numbers)
            found.append((self.marks.time_of(numbers.start) - began) * 1000)
            time.sleep(_PAUSE_S)
        return found


@contextmanager
def _workers(peer: Peer, processes: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    started = [
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True
        )
        for command in peer.workers(processes)
    ]
    try:
        yield started
    finally:
        _signal(started, signal.SIGCONT)
        for one in started:
            one.terminate()
        for one in started:
            try:
                one.wait(10)
            except subprocess.TimeoutExpired:
                _signal([one], signal.SIGKILL)
                one.wait()


def _signal(workers: list[subprocess.Popen[bytes]], number: int) -> None:
    """To each with its children: all are in the session we gave it."""
    for one in workers:
        if one.poll() is None:
            os.killpg(one.pid, number)


def measure(spec: dict[str, Any]) -> dict[str, Any]:
    jobs, live, samples = spec["jobs"], spec["live"], spec["samples"]
    most = 2 * jobs + live + samples + 3 * _MOST_WARM
    marks = Marks.create(Path(os.environ[ENVIRONMENT]), most)
    peer: Peer = importlib.import_module(f"benchmarks.peers.{spec['module']}").peer(spec["variant"])
    drive = Drive(peer, marks)
    peer.prepare()
    for processes in (1, 2):
        with _workers(peer, processes) as drive.workers:
            drive.warm_up(processes)
            drive.found[f"backlog {processes}"] = drive.backlog(jobs)
            if live and processes == 1:
                drive.found["dispatch"] = drive.dispatch(samples)
            elif live:
                drive.found["live"] = drive.live(live)
    return drive.found


def main() -> None:
    # Told to go, it still ends its workers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))
    found = measure(json.loads(sys.argv[1]))
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
