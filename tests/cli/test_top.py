"""`penstock top` shows what happens, at a terminal, through a pipe and as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest
from tests.cli.conftest import Cli, environment

from penstock.accounts.bootstrap import FIRST_ORG
from penstock.cli.local_session import local_admin
from penstock.cli.operate.top_screen import duration
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, submit
from penstock.engine.worker.loop import Worker
from penstock.settings import Settings
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.wiring import open_runtime


@pytest.fixture
async def busy(served_folder: Settings) -> AsyncIterator[Runtime]:
    """A worker that has something in its hands."""
    owner = EmbeddedPostgres(served_folder.data_dir).owner_dsn
    async with open_runtime(served_folder, owner, name="test") as runtime:
        async with runtime.db.transaction() as conn:
            who = await local_admin(conn)
            order = Order("noop", {"items": 100, "workMs": 300}, name="Spring list")
            await submit(runtime, conn, who, order)
        async with Worker(runtime, sweeps=False) as worker:
            running = asyncio.create_task(worker.run())
            while not len(worker._running):
                await asyncio.sleep(0.01)
            yield runtime
            worker.stop()
            await running


async def test_one_look(cli: Cli, busy: Runtime) -> None:
    shown = (await asyncio.to_thread(cli, "top", "--once")).stdout
    assert "healthy" in shown
    assert "Spring list" in shown
    assert FIRST_ORG in shown
    view = json.loads((await asyncio.to_thread(cli, "top", "--once", "--json")).stdout)
    assert (view["queue"]["level"], view["queue"]["active"]) == ("healthy", 1)
    (job,) = view["jobs"]
    assert (job["name"], job["stage"]) == ("Spring list", "stage1")
    assert job["slices"] >= 1
    (worker,) = view["workers"]
    assert worker["slots"] == busy.settings.worker_slots
    (org,) = view["orgs"]
    assert (org["share"], org["slices"]) == (1.0, job["slices"])


async def test_looks_follow_each_other_through_a_pipe(cli: Cli) -> None:
    watching = cli.start("top", "--json", "--interval", "0.2")
    assert watching.stdout is not None
    for _ in range(3):
        line = await asyncio.to_thread(watching.stdout.readline)
        assert json.loads(line)["queue"]["level"] == "healthy"
    watching.send_signal(signal.SIGINT)
    assert await asyncio.to_thread(watching.wait, 10) == 0


async def test_a_reader_that_has_seen_enough_is_no_error(cli: Cli) -> None:
    watching = cli.start("top", "--interval", "0.2")
    assert watching.stdout is not None
    assert watching.stderr is not None
    await asyncio.to_thread(watching.stdout.readline)
    watching.stdout.close()
    assert await asyncio.to_thread(watching.wait, 10) == 0
    assert watching.stderr.read() == ""


async def test_at_a_terminal_the_screen_is_drawn_anew(cli: Cli) -> None:
    ours, theirs = pty.openpty()
    watching = subprocess.Popen(
        [sys.executable, "-m", "penstock", "top", "--interval", "0.2"],
        env=environment(cli.data_dir, TERM="xterm", COLUMNS="120", LINES="40"),
        stdout=theirs,
        stdin=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    drawn = b""
    while drawn.count(b"WORKERS") < 2:
        drawn += await asyncio.to_thread(os.read, ours, 65536)
    assert b"\x1b[?1049h" in drawn
    watching.send_signal(signal.SIGINT)
    assert await asyncio.to_thread(watching.wait, 10) == 0
    os.close(ours)


def test_durations_fit_a_column() -> None:
    assert [duration(ms) for ms in (None, 5, 1500, 65_000, 3_725_000)] == [
        *("?", "5 ms", "1.5 s", "1m05s"),
        "1h02m",
    ]
