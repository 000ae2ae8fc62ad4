"""Files of watched places are taken by scans that may be cancelled at any moment."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from penstock.app.watchers.take import FileTaker


async def test_a_cancel_while_the_last_renewal_ends_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ending = asyncio.Event()

    async def renew(*_: Any) -> None:
        try:
            await asyncio.sleep(600)
        finally:
            ending.set()
            await asyncio.sleep(0.01)

    monkeypatch.setattr(FileTaker, "_renew", renew)
    taking = FileTaker.__new__(FileTaker)

    async def take() -> None:
        async with taking._renewing_claim(uuid4(), uuid4()):
            await asyncio.sleep(0)
        await asyncio.sleep(600)

    scan = asyncio.create_task(take())
    async with asyncio.timeout(60):
        await ending.wait()
        scan.cancel()
        await asyncio.wait({scan}, timeout=5)
    assert scan.cancelled()
