"""Thousands of products applied, twenty changed since, the import undone: through the real
pipeline, with the process that undoes killed in the middle."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.fixtures import Bench

from penstock.app.undo import undo
from penstock.app.uploads import Upload, keep_upload
from penstock.model.ids import new_id
from penstock.settings import Settings

pytestmark = pytest.mark.slow

CHANGED = 20
# Every column of every row, as PostgreSQL itself writes it.
DUMP = "SELECT id, to_jsonb(p)::text AS line FROM products p ORDER BY id"
ROOT = Path(__file__).resolve().parents[2]
UNDO = """
import asyncio, os, sys
from uuid import UUID
from penstock.app.undo import undo
from penstock.settings import Settings
from penstock.wiring import open_runtime

async def main():
    async with open_runtime(Settings(), os.environ["DSN"], name="undo", listens=False) as runtime:
        await undo(runtime, runtime.db.transaction, UUID(sys.argv[1]), 60)

asyncio.run(main())
"""


async def imported(bench: Bench, lines: list[str]) -> UUID:
    content = "\n".join(["SKU;Title;Price;Note", *lines]).encode()

    async def whole() -> Any:
        yield content

    runtime = bench.runtime
    blob = await runtime.blobs.put(whole(), len(content))
    upload = Upload(new_id(), "goods.csv", "text/csv", blob)
    async with runtime.db.transaction() as conn:
        await keep_upload(runtime, conn, bench.who, upload)
    config = {"intent": "merge", "priceGuard": 0}
    job = await bench.submit("extraction", config, file_id=upload.id)
    await bench.work()
    row = await bench.job(job)
    assert (row["state"], row["done"]) == ("done", len(lines))
    return job


async def dumped(bench: Bench) -> dict[UUID, str]:
    async with bench.runtime.db.acquire() as conn:
        return {row["id"]: row["line"] for row in await conn.fetch(DUMP)}


def killed_at(failpoint: str, settings: Settings, dsn: str, job: UUID) -> int:
    environment = {name: value for name, value in os.environ.items() if "PENSTOCK" not in name}
    environment |= {
        "PYTHONPATH": str(ROOT / "src"), "DSN": dsn, "PENSTOCK_FAILPOINT": failpoint,
        "PENSTOCK_DATA_DIR": str(settings.data_dir), "PENSTOCK_TEST_PIPELINES": "1",
        "PENSTOCK_DATABASE_SCHEMA": settings.database_schema,
    }  # fmt: skip
    return subprocess.run([sys.executable, "-c", UNDO, str(job)], env=environment).returncode


@pytest.mark.parametrize("rows", [2_000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_all_is_as_before_but_what_was_changed_since(
    bench: Bench, settings: Settings, owner_dsn: str, rows: int
) -> None:
    await imported(bench, [f"S-{n};Thing {n};{n},50;old" for n in range(1, rows + 1)])
    before = await dumped(bench)
    assert len(before) == rows
    dearer = [f"S-{n};Thing {n};{n + 1},75;new" for n in range(1, rows + 1)]
    new = [f"N-{n};New {n};1;new" for n in range(1, 101)]
    job = await imported(bench, [*dearer, *new])
    since = [f"S-{n * rows // CHANGED};Changed {n};3;by hand" for n in range(1, CHANGED + 1)]
    await imported(bench, since)
    after = await dumped(bench)
    changed = {one for one, line in after.items() if "by hand" in line}
    assert len(changed) == CHANGED

    assert killed_at("undo_before_commit:kill:3", settings, owner_dsn, job) == -9
    halfway = await dumped(bench)
    assert before != halfway != after
    assert all(line in (before.get(one), after[one]) for one, line in halfway.items())
    assert killed_at("undo_after_commit:kill:2", settings, owner_dsn, job) == -9

    answer = await undo(bench.runtime, bench.runtime.db.transaction, job, 60)
    assert not answer["more"]
    assert {UUID(one["productId"]) for one in answer["refused"]} == changed
    assert (answer["refusedCount"], answer["refused"][0]["reason"]) == (
        CHANGED, "It was changed since.",
    )  # fmt: skip
    now = await dumped(bench)
    assert now.keys() == before.keys()
    assert {one for one in now if now[one] != before[one]} == changed
    assert all(now[one] == after[one] for one in changed)
