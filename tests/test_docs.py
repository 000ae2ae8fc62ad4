"""What the pages show works as shown."""

from __future__ import annotations

import re
import time
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.guards.fetch import Fetcher
from penstock.guards.shop_calls import ShopCall
from penstock.model.errors import NotAllowed, NotThere
from penstock.model.network.addresses import parse_exempt
from penstock.model.network.webhooks import new_secret, secret_bytes, signature
from penstock.model.pipeline import Pipeline
from penstock.model.shops.provider import ShopConnection
from penstock.providers.sandbox.http import HttpServer, Request, Response
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


async def test_the_provider_of_the_howto_reads_a_shop() -> None:
    """Pages, one product and the errors, through the guarded client."""
    bakery = code_of("write-a-provider.md")["Bakery"]()
    goods = [
        {"id": n, "name": f"Loaf {n}", "sku": f"L-{n}", "price": "3.50", "picture": f"http://x/{n}"}
        for n in range(1, 6)
    ]

    async def answer(request: Request) -> Response:
        if request.headers.get("x-api-key") != "right":
            return Response.json({}, 401)
        if request.path == "/shop":
            return Response.json({"name": "Bakery", "currency": "EUR", "products": len(goods)})
        if request.path == "/products":
            page = int(request.query["page"])
            shown = goods[2 * page - 2 : 2 * page]
            return Response.json({"products": shown, "more": 2 * page < len(goods)})
        wanted = [one for one in goods if request.path == f"/products/{one['id']}"]
        return Response.json(wanted[0]) if wanted else Response.json({}, 404)

    server = HttpServer(answer)
    address = bakery.normalize_address(f"http://127.0.0.1:{await server.start(0)}/")
    fetcher = Fetcher(parse_exempt("127.0.0.1"))

    def enter(points: float) -> AbstractAsyncContextManager[Any]:
        return nullcontext()

    def call(key: str) -> ShopCall:
        shop = ShopConnection(uuid4(), 1, "bakery", address, {"apiKey": key})
        return ShopCall(shop, fetcher, enter)

    try:
        assert (await bakery.test(call("right"))).products == 5
        page = await bakery.list(call("right"))
        titles = [one.title for one in page.products]
        while page.next_cursor:
            page = await bakery.list(call("right"), page.next_cursor)
            titles += [one.title for one in page.products]
        assert titles == [f"Loaf {n}" for n in range(1, 6)]
        assert (await bakery.get(call("right"), "3")).variants[0].sku == "L-3"
        with pytest.raises(NotAllowed):
            await bakery.list(call("wrong"))
        with pytest.raises(NotThere):
            await bakery.get(call("right"), "9")
    finally:
        await fetcher.close()
        await server.close()
