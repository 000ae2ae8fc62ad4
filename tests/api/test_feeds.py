"""Feeds by a secret address: built, cached, rotated, revoked and limited."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import httpx2
import pytest
from tests.api.conftest import Caller, refused, shaped
from tests.api.test_products import applied
from tests.fixtures import Bench

from penstock.api.feeds.schemas import DeletedFeed, FeedList, FeedShape, FeedWithSecret
from penstock.store.database import Database

pytestmark = pytest.mark.slow
GOODS = (
    b"SKU;EAN;Title;Brand;Price;Currency;Image;Stock\n"
    b"T-1;4006381333931;Hammer & Co;Hultafors;9,90;EUR;https://shop.example/1.jpg;5\n"
    b"T-2;;Round pliers;Knipex;19,00;EUR;;3\n"
    b"T-3;;Saw;Bahco;7,00;EUR;https://shop.example/3.jpg;0\n"
)


async def test_a_feed_is_fetched_by_its_address(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    await applied(client, bench, GOODS)
    settings = {"link": "https://shop.example/p/{sku}", "title": "Tools"}
    order = {"name": "Google", "settings": settings}
    made = shaped(FeedWithSecret, await client.post("/api/feeds", json=order), 201)
    refused(await client.post("/api/feeds", json=order), 409, "INVALID_STATE")
    wrong = {"name": "Other", "settings": {"link": "ftp://x"}}
    refused(await client.post("/api/feeds", json=wrong), 422, "INVALID_PARAMETERS")
    secret = made.paths["xml"].rpartition("/")[2].removesuffix(".xml")
    async with db.acquire() as conn:
        row = await conn.fetchval("SELECT to_jsonb(f)::text FROM feeds f")
    assert secret not in row

    # Without a key.
    key = client.headers.pop("authorization")
    fetched = await client.get(made.paths["xml"])
    assert fetched.status_code == 200
    assert fetched.headers["content-type"].startswith("application/xml")
    items = ET.fromstring(fetched.content).findall("channel/item")
    space = "{http://base.google.com/ns/1.0}"
    assert [one.findtext(f"{space}id") for one in items] == ["T-1", "T-3"]
    assert [one.findtext(f"{space}availability") for one in items] == ["in_stock", "out_of_stock"]
    assert items[0].findtext(f"{space}title") == "Hammer & Co"
    same = await client.get(made.paths["xml"], headers={"If-None-Match": fetched.headers["etag"]})
    assert same.status_code == 304
    lines = (await client.get(made.paths["csv"])).text.splitlines()
    assert len(lines) == 3
    for unknown in ("0" * 48 + ".xml", "short.xml", secret, f"{secret}.pdf"):
        refused(await client.get(f"/feeds/{unknown}"), 404, "NOT_FOUND")
    client.headers["authorization"] = key

    shown = shaped(FeedShape, await client.get(f"/api/feeds/{made.id}"))
    [of_csv, of_xml] = shown.files
    assert (of_xml.included, of_xml.left_out.reasons) == (2, {"NO_IMAGE": 1})
    assert [one.title for one in of_csv.left_out.products] == ["Round pliers"]
    assert shown.read_at is not None

    # Products that are new are in the file once it is too old, or the feed changes.
    more = b"SKU;Title;Price;Currency;Image;Stock\nT-4;Axe;5;EUR;https://shop.example/4.jpg;2\n"
    await applied(client, bench, more)
    assert (await client.get(made.paths["xml"])).content == fetched.content
    order["settings"] = settings | {"condition": "used"}
    shaped(FeedShape, await client.put(f"/api/feeds/{made.id}", json=order))
    again = await client.get(made.paths["xml"])
    assert b"<g:condition>used</g:condition>" in again.content
    assert again.content.count(b"<item>") == 3
    built = shaped(FeedShape, await client.post(f"/api/feeds/{made.id}/build"))
    assert {one.included for one in built.files} == {3}


async def test_rotated_disabled_limited_and_deleted(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, db: Database
) -> None:
    await applied(client, bench, GOODS)
    order = {"name": "Google", "settings": {"link": "https://shop.example/p/{sku}"}}
    made = shaped(FeedWithSecret, await client.post("/api/feeds", json=order), 201)
    assert (await client.get(made.paths["xml"])).status_code == 200
    rotated = shaped(FeedWithSecret, await client.post(f"/api/feeds/{made.id}/rotate"))
    refused(await client.get(made.paths["xml"]), 404, "NOT_FOUND")
    assert (await client.get(rotated.paths["xml"])).status_code == 200
    await client.put(f"/api/feeds/{made.id}", json=order | {"enabled": False})
    refused(await client.get(rotated.paths["xml"]), 404, "NOT_FOUND")
    await client.put(f"/api/feeds/{made.id}", json=order)
    statuses = [(await client.get(rotated.paths["csv"])).status_code for _ in range(35)]
    assert (statuses[0], statuses[-1]) == (200, 429)
    stranger = await caller("other")
    assert shaped(FeedList, await stranger.get("/api/feeds")).items == []
    assert shaped(DeletedFeed, await client.delete(f"/api/feeds/{made.id}")).id == made.id
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM blob_refs WHERE kind = 'feed'") == 0
        assert await conn.fetchval("SELECT count(*) FROM feed_files") == 0
