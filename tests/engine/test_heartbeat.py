"""Leases that cannot be extended are given up before they are anyone else's."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest
from tests.checker.polling import until

from penstock.engine.context import StopSign
from penstock.engine.failpoints import Failpoints
from penstock.engine.runtime import Runtime
from penstock.engine.worker.heartbeat import Heartbeat, Report
from penstock.store.database import Database

pytestmark = pytest.mark.slow


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and says nothing, as behind a line that was cut."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as server:
        yield server


async def test_a_beat_that_waits_does_not_outlast_the_lease(
    runtime: Runtime, silent: socket.socket
) -> None:
    db = Database(f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/nothing", "public")
    patience_ms = 60_000
    heartbeat = Heartbeat(db, "w", runtime.log, patience_ms, Failpoints(), lambda: Report(1, 1, {}))
    stop = StopSign()
    lease_ms = 2000
    until_then = time.monotonic() + lease_ms / 1000
    heartbeat.hold([uuid4()], lease_ms, 60, stop)
    heartbeat.start()

    async def raised() -> bool:
        return stop.lost

    await until(raised, "the lease to be given up", timeout=60)
    assert stop.raised_at < until_then
    silent.close()
    await asyncio.to_thread(heartbeat.stop)
