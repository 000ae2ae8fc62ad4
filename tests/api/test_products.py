"""The catalog over the API: pages, filters, search, and where every value came from."""

from __future__ import annotations

import csv
import io
from typing import Any
from uuid import UUID

import httpx2
import orjson
import pytest
from python_calamine import CalamineWorkbook
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.fixtures import Bench

from penstock.api.catalog import product_files
from penstock.api.catalog.product_schemas import (
    FullProduct,
    ListedProduct,
    ProductChange,
    ProductHistory,
    ProductPage,
)
from penstock.api.jobs.schemas import Undone
from penstock.store.catalog import catalog
from penstock.store.database import to_json

TOOLS = (
    b"SKU;EAN;Title;Brand;Price\n"
    b"T-1;4006381333931;Claw hammer;Hultafors;9,90\n"
    b"T-2;;Round pliers;Knipex;19,00\n"
    b"T-3;;Hammer handle 50%;Hultafors;3,10\n"
)


async def applied(client: httpx2.AsyncClient, bench: Bench, content: bytes, **config: Any) -> str:
    """A job that has written its rows into the catalog."""
    form = {"config": to_json({"intent": "merge", **config})}
    made = await client.post("/api/jobs", files=file_of(content), data=form)
    assert made.status_code == 202, made.text
    await bench.work()
    return str(made.json()["jobId"])


async def listed(client: httpx2.AsyncClient, **query: Any) -> list[ListedProduct]:
    """All of it, page by page."""
    found: list[ListedProduct] = []
    while True:
        page = shaped(ProductPage, await client.get("/api/products", params=query))
        found += page.items
        if page.next is None:
            return found
        query["after"] = page.next


async def skus(client: httpx2.AsyncClient, **query: Any) -> list[str | None]:
    return [one.sku for one in await listed(client, **query)]


async def one(client: httpx2.AsyncClient, **query: Any) -> FullProduct:
    (found,) = await listed(client, **query)
    return shaped(FullProduct, await client.get(f"/api/products/{found.id}"))


async def test_filters(client: httpx2.AsyncClient, bench: Bench) -> None:
    first = await applied(client, bench, TOOLS, source="acme")
    again = TOOLS.replace(b"19,00", b"20,00").replace(b"3,10", b"3,20")
    second = await applied(client, bench, again, source="acme")
    third = await applied(client, bench, b"SKU;Title\nX-1;Saw\n", source="saws")
    assert set(await skus(client)) == {"T-1", "T-2", "T-3", "X-1"}
    assert (await skus(client))[0] == "X-1"
    assert await skus(client, source="saws") == ["X-1"]
    assert await skus(client, sku="T-2") == ["T-2"]
    assert await skus(client, gtin="4006381333931") == ["T-1"]
    assert await skus(client, gtin="04006381333931", source="saws") == []
    assert sorted(map(str, await skus(client, jobId=first))) == ["T-1", "T-2", "T-3"]
    assert sorted(map(str, await skus(client, jobId=second))) == ["T-2", "T-3"]
    (saw,) = await listed(client, jobId=third)
    assert (saw.title, saw.status, str(saw.job_id), saw.row_no) == ("Saw", "published", third, 1)
    moment = saw.updated_at.isoformat()
    assert await skus(client, updatedAfter=moment) == ["X-1"]
    assert set(await skus(client, updatedBefore=moment)) == {"T-1", "T-2", "T-3"}
    assert await skus(client, status="unpublished") == []
    assert len(await skus(client, status="published", pageSize=1)) == 4


async def test_search(client: httpx2.AsyncClient, bench: Bench) -> None:
    await applied(client, bench, TOOLS)
    # What begins with it comes first; each product once, on pages of any size.
    assert await skus(client, q="hammer", pageSize=1) == await skus(client, q="hammer")
    assert set(await skus(client, q="hammer")) == {"T-1", "T-3"}
    assert await skus(client, q="HULTAFORS handle") == ["T-3"]
    assert await skus(client, q="50%") == ["T-3"]
    assert await skus(client, q="5_%") == []
    assert set(await skus(client, q="t-", pageSize=1)) == {"T-1", "T-2", "T-3"}
    assert len(await skus(client, q="t-", pageSize=1)) == 3
    assert await skus(client, q="400638") == ["T-1"]
    assert await skus(client, q="  knipex ", source="other") == []


async def test_every_value_says_where_it_came_from(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    first = await applied(client, bench, TOOLS)
    second = await applied(client, bench, b"SKU;Price\nT-2;21,50\n")
    product = await one(client, sku="T-2")
    assert product.product["title"] == "Round pliers"
    assert product.price == product.product["price"]
    title, price = product.lineage["title"], product.lineage["price.amount"]
    assert (title.column, title.raw, str(title.job_id), title.row_no) == (
        "Title", "Round pliers", first, 2,
    )  # fmt: skip
    assert (price.column, price.raw, str(price.job_id), price.row_no) == (
        "Price", "21,50", second, 1,
    )  # fmt: skip
    assert price.rule
    assert price.confidence
    # A third job leaves both as they are, and does not claim them.
    third = await applied(client, bench, b"SKU;Brand\nT-2;Wera\n")
    product = await one(client, sku="T-2")
    jobs = [str(product.lineage[name].job_id) for name in ("title", "price.amount", "brand")]
    assert jobs == [first, second, third]


async def test_who_sees_what(caller: Caller, bench: Bench) -> None:
    client, other = await caller(), await caller("other", plan="basic")
    await applied(client, bench, TOOLS)
    colleague = await caller(email="colleague@acme")
    viewer, admin = await caller(role="viewer"), await caller("default", role="admin")
    (product,) = await listed(client, sku="T-1")
    for who in (colleague, viewer):
        assert len(await skus(who)) == 3
        shaped(FullProduct, await who.get(f"/api/products/{product.id}"))
    assert await skus(other) == []
    refused(await other.get(f"/api/products/{product.id}"), 404, "NOT_FOUND")
    refused(await other.get("/api/products?org=acme"), 403, "INSUFFICIENT_PERMISSIONS")
    refused(await client.get("/api/products/7"), 404, "NOT_FOUND")
    assert await skus(admin) == []
    assert len(await skus(admin, org="acme")) == 3
    shaped(FullProduct, await admin.get(f"/api/products/{product.id}"))
    refused(await admin.get("/api/products?org=nobody"), 404, "RESOURCE_NOT_FOUND")


async def test_bad_questions(client: httpx2.AsyncClient) -> None:
    for query in (
        "q=a%00",
        "gtin=12x",
        "status=gone",
        "jobId=7",
        "updatedAfter=soon",
        "pageSize=0",
    ):
        refused(await client.get(f"/api/products?{query}"), 422, "INVALID_PARAMETERS")
    refused(await client.get("/api/products?colour=red"), 422, "UNKNOWN_FIELD")
    refused(await client.get("/api/products?after=xyz"), 400, "INVALID_CURSOR")


async def test_a_page_ends_when_its_time_is_up(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = b"".join(b"R-%d;Thing %d\n" % (n, n) for n in range(1000))
    await applied(client, bench, b"SKU;Title\n" + rows)
    monkeypatch.setattr(catalog, "_PATIENCE_S", 0)
    page = shaped(ProductPage, await client.get("/api/products?q=absent"))
    assert page.items == []
    assert page.next is not None
    assert await skus(client, q="Thing 777") == ["R-777"]


async def history(client: httpx2.AsyncClient, product: object, **query: Any) -> list[ProductChange]:
    found: list[ProductChange] = []
    while True:
        answer = await client.get(f"/api/products/{product}/history", params=query)
        page = shaped(ProductHistory, answer)
        found += page.items
        if page.next is None:
            return found
        query["after"] = page.next


def told(change: ProductChange) -> tuple[str, str, int | None, bool, list[tuple[str, Any, Any]]]:
    fields = [(one.field, one.before, one.after) for one in change.changes or ()]
    return (str(change.job_id), change.kind, change.row_no, change.undone_at is not None, fields)


async def test_history(client: httpx2.AsyncClient, bench: Bench) -> None:
    made = await applied(client, bench, TOOLS)
    (product,) = await listed(client, sku="T-2")
    dearer = await applied(client, bench, b"SKU;Price\nT-1;1\nT-2;21,50\n")
    brand = await applied(client, bench, b"SKU;Brand\nT-2;Wera\n")
    price = ("price.amount", "19.00", "21.50")
    changes = await history(client, product.id, pageSize=1)
    assert [one.version for one in changes] == [3, 2, 1]
    assert told(changes[0]) == (brand, "changed", 1, False, [("brand", "Knipex", "Wera")])
    assert told(changes[1]) == (dearer, "changed", 2, False, [price])
    assert changes[2].kind == "created"
    assert ("title", None, "Round pliers") in told(changes[2])[-1]
    # What was undone stays in the history, with what it had done.
    for job in (brand, dearer):
        shaped(Undone, await client.post(f"/api/jobs/{job}/undo"))
    changes = await history(client, product.id)
    assert [told(one)[3:] for one in changes[:2]] == [
        (True, [("brand", "Knipex", "Wera")]), (True, [price]),
    ]  # fmt: skip
    third = await applied(client, bench, b"SKU;Price\nT-2;25\n")
    last = (await history(client, product.id))[0]
    assert (told(last)[0], last.version, told(last)[-1]) == (
        third, 4, [("price.amount", "19.00", "25.00")],
    )  # fmt: skip
    for job in (third, made):
        shaped(Undone, await client.post(f"/api/jobs/{job}/undo"))
    refused(await client.get(f"/api/products/{product.id}"), 404, "NOT_FOUND")
    changes = await history(client, product.id)
    assert len(changes) == 4
    assert all(one.undone_at and one.changes for one in changes)


async def test_who_sees_a_history(caller: Caller, bench: Bench) -> None:
    client, other = await caller(), await caller("other")
    await applied(client, bench, TOOLS)
    (product,) = await listed(client, sku="T-1")
    colleague = await caller(email="colleague@acme")
    assert [one.job_name for one in await history(client, product.id)] == ["goods.csv"]
    assert [one.job_name for one in await history(colleague, product.id)] == [None]
    refused(await other.get(f"/api/products/{product.id}/history"), 404, "NOT_FOUND")
    refused(await client.get("/api/products/x/history"), 404, "NOT_FOUND")
    unknown = await client.get(f"/api/products/{UUID(int=7)}/history")
    refused(unknown, 404, "NOT_FOUND")


async def test_the_catalog_as_a_file(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product_files, "PAGE_PRODUCTS", 2)
    job = await applied(client, bench, TOOLS, source="tools")
    await applied(client, bench, b"SKU;Title;Colour\nX-1;=Saw;red\n", source="saws")

    async def exported(query: str) -> httpx2.Response:
        answer = await client.post(f"/api/products/export?{query}")
        assert answer.status_code == 200, answer.text
        return answer

    lines = list(csv.DictReader(io.StringIO((await exported("")).text, newline="")))
    assert [line["sku"] for line in lines] == ["X-1", "T-1", "T-2", "T-3"]
    assert lines[0]["title"] == "'=Saw"
    assert (lines[1]["gtin"], lines[1]["price"]) == ("4006381333931", "9.90")
    assert {line["status"] for line in lines} == {"published"}
    documents = (await exported("format=json")).json()
    saw = await one(client, sku="X-1")
    assert {name: value for name, value in documents[0].items() if value is not None} == {
        **saw.product, "status": "published", "updatedAt": documents[0]["updatedAt"],
    }  # fmt: skip
    for query, found in (
        ("source=saws", {"X-1"}),
        ("sku=T-2", {"T-2"}),
        (f"jobId={job}", {"T-1", "T-2", "T-3"}),
        ("q=hammer", {"T-1", "T-3"}),
        ("status=unpublished", set()),
    ):
        answer = await exported(f"format=ndjson&{query}")
        rows = [orjson.loads(line) for line in answer.content.splitlines()]
        assert {row["identifiers"]["sku"] for row in rows} == found, query
    sheet = CalamineWorkbook.from_filelike(io.BytesIO((await exported("format=xlsx")).content))
    assert len(sheet.get_sheet_by_index(0).to_python()) == 5
    refused(await client.post("/api/products/export?format=pdf"), 422, "INVALID_PARAMETERS")
    for shop, column, delimiter in (
        ("shopify", "Variant SKU", ","),
        ("woocommerce", "SKU", ","),
        ("magento", "sku", ","),
        ("prestashop", "Reference #", ";"),
        ("akeneo", "sku", ";"),
    ):
        answer = await exported(f"format={shop}&source=tools")
        assert 'filename="products.csv"' in answer.headers["content-disposition"]
        csv.field_size_limit(100_000)  # the reader of another file may have lowered it
        lines = list(csv.DictReader(io.StringIO(answer.text, newline=""), delimiter=delimiter))
        assert [line[column] for line in lines] == ["T-1", "T-2", "T-3"], shop
