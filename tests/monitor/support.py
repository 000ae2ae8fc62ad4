"""Receivers of notifications on this machine: HTTP and SMTP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from typing import Any

from aiosmtpd.smtp import SMTP
from tests.engine.receiving import Receiver, past_all, receiving

from penstock.engine.runtime import Runtime
from penstock.monitor.outbox import NotificationConfig, NotificationOutbox, links_of
from penstock.store.database import Database

__all__ = ["Mailbox", "Receiver", "mailbox", "notify", "outbox_of", "receiving", "sent"]


@dataclass
class Mailbox:
    """Mails that an SMTP server of another project accepted."""

    port: int = 0
    raw: list[bytes] = field(default_factory=list)
    refuses: str = ""
    hangs: bool = False

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}?from=penstock@example.com"

    @property
    def mails(self) -> list[Message]:
        return [message_from_bytes(one) for one in self.raw]

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.hangs:
            await asyncio.sleep(30)
        if self.refuses:
            return self.refuses
        self.raw.append(envelope.content)
        return "250 OK"


@contextlib.asynccontextmanager
async def mailbox() -> AsyncIterator[Mailbox]:
    box = Mailbox()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(box, loop=loop), "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    try:
        yield box
    finally:
        server.close()


def outbox_of(runtime: Runtime, *, group_ms: int = 0, per_hour: int = 60) -> NotificationOutbox:
    config = NotificationConfig(group_ms, per_hour, links_of(runtime.settings))
    return NotificationOutbox(runtime, config)


async def notify(runtime: Runtime, work: Any, **config: int) -> int:
    """Hand notices to workers, and let these work."""
    await past_all(runtime)
    made = await outbox_of(runtime, **config).run_once()
    await work()
    return made


async def sent(db: Database) -> list[tuple[str, str, str]]:
    async with db.acquire() as conn:
        rows = await conn.fetch("SELECT event, phase, state FROM notifications ORDER BY id")
    return [(row["event"], row["phase"], row["state"]) for row in rows]
