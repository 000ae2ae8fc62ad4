"""What the pages show works as shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from penstock.model.pipeline import Pipeline
from penstock.settings import Settings
from penstock.store.database import Database, from_json
from penstock.wiring import engine_parts
from tests.fixtures import Bench, MakePrincipal

HOWTO = Path(__file__).resolve().parent.parent / "docs" / "howto"


def code_of(page: str) -> dict[str, Any]:
    block = re.search(r"```python\n(.*?)```", (HOWTO / page).read_text("utf-8"), re.DOTALL)
    assert block is not None
    names: dict[str, Any] = {}
    exec(block[1], names)
    return names


async def test_the_pipeline_of_the_howto_runs(
    settings: Settings, owner_dsn: str, db: Database, principal: MakePrincipal
) -> None:
    squares: Pipeline = code_of("write-a-pipeline.md")["Squares"]()
    async with engine_parts(
        settings, owner_dsn, name="docs", pipelines={"squares": squares}
    ) as parts:
        bench = Bench(parts, await principal())
        job_id = await bench.submit("squares", {"upto": 10})
        await bench.work()
        async with db.acquire() as conn:
            await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at > now()")
            await conn.execute("UPDATE job_stages SET ready_at = now() WHERE pending > 0")
            await conn.execute("UPDATE jobs SET ready_at = now()")
        await bench.work()
        job = await bench.job(job_id)
        assert (job["state"], job["done"], job["error"]) == ("done", 9, 1)
        items = await bench.items(job_id)
        assert from_json(items[2]["result"]) == {"n": 3, "square": 9}
        assert from_json(items[6]["error"])["column"] == "text"
