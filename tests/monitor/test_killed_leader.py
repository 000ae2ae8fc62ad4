"""A leader that is killed between deciding and sending: the notice is sent once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest
from tests.fixtures import Bench
from tests.monitor import test_notifications as shared
from tests.monitor.support import Receiver, notify, sent
from tests.monitor.test_notifications import add, later
from tests.monitor.test_service import monitor_of

from penstock.engine.failpoints import FAILPOINT
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Database

box, receiver, settings, admin = shared.box, shared.receiver, shared.settings, shared.admin
pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "place", ["monitor_before_commit", "monitor_after_commit", "notify_before_commit"]
)
async def test_the_next_leader_sends_it_once(
    bench: Bench, db: Database, receiver: Receiver, admin: Principal, place: str
) -> None:
    await add(bench.runtime, admin, "slack", receiver.url)
    await later(bench)
    made = bench.runtime.settings
    given = {
        "data_dir": str(made.data_dir), "database_schema": made.database_schema,
        "webhook_allow": made.webhook_allow,
    }  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.monitor.dying_leader", json.dumps({"settings": given}),
        cwd=Path(__file__).parents[2], env={**os.environ, FAILPOINT: f"{place}:kill"},
    )  # fmt: skip
    assert await process.wait() == -signal.SIGKILL
    for _ in range(2):
        await monitor_of(bench.runtime, depth=0).run_once()
        await notify(bench.runtime, bench.work)
    assert await sent(db) == [("health.warning", "opened", "sent")]
    assert len(receiver.got) == 1
