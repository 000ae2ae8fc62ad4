"""What the pages show works as shown."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from penstock.model.network.webhooks import new_secret, secret_bytes, signature
from penstock.model.pipeline import Pipeline
from penstock.settings import Settings
from penstock.store.database import Database, from_json
from penstock.wiring import open_runtime
from tests.fixtures import Bench, MakePrincipal

HOWTO = Path(__file__).resolve().parent.parent / "docs" / "howto"


def code_of(page: str, block: int = 0) -> dict[str, Any]:
    blocks = re.findall(r"```python\n(.*?)```", (HOWTO / page).read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(blocks[block], names)
    return names


def test_the_howto_of_webhooks_tells_true_requests_from_forged_ones() -> None:
    verify = code_of("webhooks.md", 1)["verify"]
    secret, now = new_secret(), int(time.time())

    def accepts(body: bytes, at: int = now) -> bool:
        signed = signature([secret_bytes(secret)], "msg_1", at, b"{}")
        headers = {
            "webhook-id": "msg_1",
            "webhook-timestamp": str(at),
            "webhook-signature": f"v1,other {signed}",
        }
        return bool(verify(secret, headers, body))

    assert accepts(b"{}")
    assert not accepts(b"[]")
    assert not accepts(b"{}", now - 360)


async def test_the_pipeline_of_the_howto_runs(
    settings: Settings, owner_dsn: str, db: Database, principal: MakePrincipal
) -> None:
    squares: Pipeline = code_of("write-a-pipeline.md")["Squares"]()
    async with open_runtime(
        settings, owner_dsn, name="docs", pipelines={"squares": squares}
    ) as runtime:
        bench = Bench(runtime, await principal())
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
