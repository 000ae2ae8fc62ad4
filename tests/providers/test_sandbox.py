"""The sandbox itself: it counts, fails on demand, and gives the same for the same seed."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest
from PIL import Image
from tests.providers.sandboxes import serving_sandbox

from penstock.providers.sandbox.catalog import catalog_of, ean13
from penstock.providers.sandbox.limits import Bucket, Rate
from penstock.providers.sandbox.pictures import picture
from penstock.providers.sandbox.server import Sandbox
from penstock.providers.woocommerce.signing import basic


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving_sandbox(products=40, seed=2) as made:
        yield made


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=sandbox.url, timeout=10) as made:
        yield made


def roastify_key(sandbox: Sandbox, shop: str = "demo") -> dict[str, str]:
    from penstock.providers.sandbox.roastify import credentials_of

    return {"x-api-key": credentials_of(sandbox.shop("roastify", shop))["apiKey"]}


def test_the_command_prints_one_line_and_serves_until_stopped() -> None:
    command = [sys.executable, "-m", "penstock", "sandbox", "--port", "0", "--products", "3",
               "--faults", "0", "--seed", "7", "--json"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            assert [one["provider"] for one in told["shops"]] == [
                "shopify", "woocommerce", "roastify"
            ]  # fmt: skip
            assert {one["format"] for one in told["sources"]} == {"json", "xml", "csv"}
            assert all(one["credentials"] for one in told["shops"])
            assert httpx2.get(f"{told['url']}/sandbox/stats").json()["calls"] == 0
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
        finally:
            process.kill()


def test_the_same_seed_gives_the_same_products() -> None:
    one, same, other = (catalog_of(seed, "demo", 50) for seed in (1, 1, 2))
    assert [one.product(n) for n in range(1, 51)] == [same.product(n) for n in range(1, 51)]
    assert one.product(1) != other.product(1)
    assert catalog_of(1, "acme-p12", 50).size == 12
    few = catalog_of(1, "acme-p60-i1", 50)
    assert few.size == 60
    assert {len(few.product(number).pictures) for number in range(1, 61)} == {0, 1}
    assert ean13(12, 34567) == "9521200345674"


def test_pictures_are_real_and_some_are_shared() -> None:
    image = Image.open(io.BytesIO(picture(1, "demo/1-1.jpg")))
    image.load()
    assert min(image.size) >= 400
    assert picture(1, "demo/1-1.jpg") != picture(1, "demo/1-2.jpg")
    assert picture(1, "demo/copy-of-shared-5.jpg") == picture(1, "demo/shared.jpg")


def test_a_bucket_lets_the_burst_pass_and_then_the_rate() -> None:
    bucket = Bucket(Rate(10, 5), jitter_seconds=0)
    assert [bucket.take() for _ in range(5)] == [0.0] * 5
    assert 0 < bucket.take() <= 0.1
    bucket.fill()
    assert bucket.take() == 0.0


async def test_calls_beyond_the_limit_are_counted(
    sandbox: Sandbox, client: httpx2.AsyncClient
) -> None:
    headers = roastify_key(sandbox)
    answers = [await client.get("/roastify/demo/v1/products", headers=headers) for _ in range(30)]
    refused = [one for one in answers if one.status_code == 429]
    assert 5 <= len(refused) <= 9
    assert all(int(one.headers["retry-after"]) >= 1 for one in refused)
    stats = (await client.get("/sandbox/stats")).json()
    assert stats["calls"] == 30
    assert stats["violations"] == len(refused)
    # The first was the first; all others that were answered were asked again.
    assert stats["repeated"] == 30 - len(refused) - 1
    # Another shop has a limit of its own.
    other = roastify_key(sandbox, "other")
    assert (await client.get("/roastify/other/v1/products", headers=other)).status_code == 200
    await client.post("/sandbox/stats/reset")
    assert (await client.get("/sandbox/stats")).json()["calls"] == 0


async def test_faults_are_switched_by_a_call(sandbox: Sandbox, client: httpx2.AsyncClient) -> None:
    headers = roastify_key(sandbox)

    async def switch(**plan: Any) -> None:
        answer = await client.post("/sandbox/faults", json=plan)
        assert answer.status_code == 200, answer.text

    async def ask() -> httpx2.Response:
        return await client.get("/roastify/demo/v1/products", headers=headers)

    await switch(share=1, kinds=["500"])
    assert (await ask()).status_code == 500
    await switch(share=1, kinds=["429"])
    assert (await ask()).headers["retry-after"] == "1"
    await switch(share=1, kinds=["expired"])
    assert (await ask()).status_code == 401
    await switch(share=1, kinds=["reset"])
    with pytest.raises(httpx2.TransportError):
        await ask()
    await switch(share=1, kinds=["truncated"])
    with pytest.raises(httpx2.TransportError):
        await ask()
    await switch(share=1, kinds=["malformed"])
    assert (await ask()).text.startswith("<html>")
    await switch(share=1, kinds=["slow"], count=1)
    began = time.monotonic()
    assert (await ask()).status_code == 200
    assert time.monotonic() - began > 1.5
    await switch(share=1, kinds=["hang"])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await ask()
    await switch(down=True, providers=["shopify"])
    assert (await ask()).status_code == 200
    await switch()
    assert (await ask()).status_code == 200
    assert (await client.post("/sandbox/faults", json={"share": 2})).status_code == 400
    stats = (await client.get("/sandbox/stats")).json()
    assert set(stats["faultKinds"]) == {
        "500", "429", "expired", "reset", "truncated", "malformed", "slow", "hang"
    }  # fmt: skip
    # Faults are no violations.
    assert stats["violations"] == 0


async def test_a_share_of_calls_fails(sandbox: Sandbox, client: httpx2.AsyncClient) -> None:
    await client.post("/sandbox/faults", json={"share": 0.2, "kinds": ["500", "429"]})
    for number in range(500):
        await client.get(f"/pictures/demo/{number}-1.jpg")
    stats = (await client.get("/sandbox/stats")).json()
    assert 60 <= stats["faults"] <= 140


async def test_products_can_be_changed_and_deleted(
    sandbox: Sandbox, client: httpx2.AsyncClient
) -> None:
    shop = sandbox.shop("roastify")
    before = shop.product(3)
    told = {"provider": "roastify", "change": [3], "delete": [5]}
    assert (await client.post("/sandbox/products", json=told)).json() == {
        "changed": 1, "deleted": 1
    }  # fmt: skip
    after = shop.product(3)
    assert before is not None
    assert after is not None
    assert after.variants[0].price == before.variants[0].price + 1
    assert shop.product(5) is None
    assert shop.count() == 39


async def test_woocommerce_also_takes_basic_authentication(
    sandbox: Sandbox, client: httpx2.AsyncClient
) -> None:
    from penstock.providers.sandbox.woocommerce import credentials_of

    given = credentials_of(sandbox.shop("woocommerce"))
    headers = {"Authorization": basic(given["consumerKey"], given["consumerSecret"])}
    answer = await client.get(
        "/woocommerce/demo/wp-json/wc/v3/products?per_page=15", headers=headers
    )
    assert answer.headers["x-wp-totalpages"] == "3"
    assert len(answer.json()) == 15


async def test_the_sources_answer_json_xml_and_csv(
    sandbox: Sandbox, client: httpx2.AsyncClient
) -> None:
    told = {one["format"]: one for one in sandbox.description()["sources"]}
    bearer = {"Authorization": f"Bearer {told['json']['credentials']['bearer']}"}
    answer = await client.get(told["json"]["url"], headers=bearer)
    found = answer.json()
    assert found["total"] > 10
    key = {"X-Api-Key": told["xml"]["credentials"]["key"]}
    articles = ElementTree.fromstring((await client.get(told["xml"]["url"], headers=key)).content)
    given = told["csv"]["credentials"]
    pair = (given["user"], given["password"])
    page = await client.get(told["csv"]["url"], auth=pair, params={"rows": 100})
    rows = list(csv.DictReader(io.StringIO(page.text), delimiter=";"))
    # The same products are in several sources, recognisable by their GTIN.
    gtins = [
        {one["ean"] for one in found["results"]},
        {one.findtext("gtin") for one in articles},
        {row["EAN"] for row in rows},
    ]
    assert all(gtins)
    assert gtins[0] & gtins[2]
    assert (await client.get(told["json"]["url"])).status_code == 401
    word = found["results"][0]["name"].split()[-1]
    narrowed = await client.get(told["json"]["url"], headers=bearer, params={"q": word})
    assert 0 < narrowed.json()["total"] < found["total"]
