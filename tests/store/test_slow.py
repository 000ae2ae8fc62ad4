"""A slow statement leaves a line with its name and where the page began, and no value of anyone."""

from __future__ import annotations

import asyncio

from structlog.contextvars import bound_contextvars
from structlog.testing import capture_logs
from tests.fixtures import Bench

from penstock.logs import get_logger
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.jobs import items
from penstock.store.jobs.items import ItemFilter
from penstock.store.slow_statements import SlowLog


async def test_a_slow_statement_is_named(bench: Bench, settings: Settings, owner_dsn: str) -> None:
    job_id = await bench.submit(config={"items": 3})
    for most_ms, lines in ((0.000001, 1), (60_000.0, 0)):
        slow = SlowLog(get_logger(), most_ms)
        db = await Database(owner_dsn, settings.database_schema, on_statement=slow).open()
        try:
            with capture_logs() as logged, bound_contextvars(after="1970 0"):
                async with db.acquire() as conn:
                    wanted = ItemFilter(text="a secret")
                    await items.page(conn, job_id, 3, wanted, wanted.start, 10)
                await asyncio.sleep(0)
        finally:
            await db.close()
        named = [line for line in logged if line.get("statement") == "items.items_of_rows"]
        assert len(named) == lines
        assert "a secret" not in str(logged)
