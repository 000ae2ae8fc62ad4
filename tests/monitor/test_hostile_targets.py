"""Hostile notification targets are refused or bounded, and slow down nothing else."""

from __future__ import annotations

import asyncio
import time

from tests.fixtures import Bench
from tests.guards.servers import answering, serving
from tests.monitor import test_notifications as shared
from tests.monitor.support import Mailbox, Receiver, notify
from tests.monitor.test_notifications import add

from penstock.app import notifications as targets
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Database

box, receiver, settings, admin = shared.box, shared.receiver, shared.settings, shared.admin


async def test_redirects_are_not_followed_and_endless_answers_are_cut_off(
    bench: Bench, db: Database, receiver: Receiver, admin: Principal
) -> None:
    """A redirect to an address of this machine, headers without end, a body without end, and a
    server that says nothing; and a good target beside them."""
    written = 0

    async def endless_body(request: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(100_000):
            writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
            written += 1024
            await writer.drain()

    async def endless_head(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(100_000):
            writer.write(b"X-%d: y\r\n" % number)
            await writer.drain()

    async def silence(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with (
        serving(answering()) as inner,
        serving(
            answering("302 Found", f"Location: http://127.0.0.1:{inner.port}/admin\r\n")
        ) as hop,
        serving(endless_body) as body,
        serving(endless_head) as head,
        serving(silence) as silent,
    ):
        made = [
            await add(bench.runtime, admin, "webhook", f"http://127.0.0.1:{one.port}/")
            for one in (hop, body, head, silent)
        ]
        made.append(await add(bench.runtime, admin, "webhook", receiver.url))
        async with db.transaction() as conn:
            for target in made:
                await targets.send_test(bench.runtime, conn, Caller(admin, None), target)
        began = time.monotonic()
        await notify(bench.runtime, bench.work)
        took = time.monotonic() - began
        assert len(hop.requests) == 1
        assert inner.requests == []
    assert len(receiver.got) == 1
    # Deliveries are given four seconds here; one of them would take half a minute.
    assert took < 25
    assert written < 10_000_000
    async with db.acquire() as conn:
        rows = await conn.fetch("SELECT target_id, state FROM notifications")
    states = {row["target_id"]: row["state"] for row in rows}
    assert states[made[-1]] == "sent"
    assert "sent" not in {states[one] for one in (made[0], made[2], made[3])}


async def test_a_mail_server_that_hangs_is_left(
    bench: Bench, db: Database, receiver: Receiver, box: Mailbox, admin: Principal
) -> None:
    box.hangs = True
    mail = await add(bench.runtime, admin, "email", "ops@example.com")
    good = await add(bench.runtime, admin, "webhook", receiver.url)
    async with db.transaction() as conn:
        for target in (mail, good):
            await targets.send_test(bench.runtime, conn, Caller(admin, None), target)
    began = time.monotonic()
    await notify(bench.runtime, bench.work)
    # It hangs for half a minute.
    assert time.monotonic() - began < 25
    assert len(receiver.got) == 1
    async with db.acquire() as conn:
        states = await conn.fetch("SELECT target_id, state FROM notifications")
    assert {row["target_id"]: row["state"] for row in states}[mail] != "sent"
