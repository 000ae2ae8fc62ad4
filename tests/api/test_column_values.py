"""Items by the values of a column, and the values that a column has."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.api.test_grid import pages
from tests.fixtures import Bench

from penstock.api.jobs import column_values as routes
from penstock.api.jobs.schemas import ColumnFigures, ColumnValues
from penstock.store.database import Database
from penstock.store.jobs import column_values as store

PRICES = ("9,90", "10,50", "", "2,00", "12,9O", "10,50", "ask", "-1", "100", "10,5")


async def job_of(client: httpx2.AsyncClient, bench: Bench) -> str:
    rows = "".join(f"S-{n};Tool {n % 3};{price}\n" for n, price in enumerate(PRICES))
    content = f"SKU;Title;Price\n{rows}".encode()
    made = await client.post("/api/jobs", files=file_of(content))
    await bench.work()
    return str(made.json()["jobId"])


async def values(client: httpx2.AsyncClient, job: str, **params: Any) -> list[str]:
    found = await pages(client, job, column="Price", view="input", **params)
    return [item.input["Price"] for item in found]


async def test_rows_are_sorted_by_a_column_page_by_page(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await job_of(client, bench)
    up = ["-1", "2,00", "9,90", "10,50", "10,50", "10,5", "100", "12,9O", "ask", ""]
    down = ["ask", "12,9O", "100", "10,50", "10,50", "10,5", "9,90", "2,00", "-1", ""]
    for size in (1, 3, 10):
        assert await values(client, job, sort="value", pageSize=size) == up
        assert await values(client, job, sort="-value", pageSize=size) == down
    errors = await pages(client, job, sort="value", column="Price", view="input", statuses="ERROR")
    bad = [item.input["Price"] for item in errors]
    assert bad == [one for one in up if one in {item.input["Price"] for item in errors}]
    assert {"12,9O", "-1"} <= set(bad)
    one = await pages(client, job, sort="value", column="sku", q="tool 1")
    assert [item.result and item.result["sku"] for item in one] == ["S-1", "S-4", "S-7"]


async def test_what_cannot_be_sorted(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await job_of(client, bench)
    address = f"/api/jobs/{job}/items"
    wrong: tuple[dict[str, Any], ...] = (
        {}, {"column": "sku", "fromRow": 3}, {"column": "sku", "from": "2026-01-01T00:00:00Z"},
    )  # fmt: skip
    for params in wrong:
        refused(await client.get(address, params={"sort": "value"} | params), 400, "INVALID_SORT")
    first = await client.get(address, params={"sort": "value", "column": "sku", "pageSize": 2})
    after = first.json()["next"]
    other = {"sort": "-value", "column": "sku", "after": after}
    refused(await client.get(address, params=other), 400, "INVALID_CURSOR")
    monkeypatch.setattr(routes, "MOST_SORTED", 5)
    asked = {"sort": "value", "column": "sku"}
    answer = await client.get(address, params=asked)
    refused(answer, 400, "INVALID_SORT")
    assert "10 rows" in answer.text
    # Rows with a problem are few.
    assert (await client.get(address, params=asked | {"statuses": "ERROR"})).is_success


async def test_the_values_of_a_column(
    caller: Caller, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, other = await caller(), await caller("other")
    job = await job_of(client, bench)
    address = f"/api/jobs/{job}/column-values"
    asked = {"column": "Price", "view": "input"}
    found = shaped(ColumnValues, await client.get(address, params=asked))
    assert (found.total, found.rows, found.is_sample) == (10, 10, False)
    assert (found.empty, found.distinct, found.numbers) == (1, 8, 7)
    assert (found.min, found.max) == ("-1", "100")
    assert [(one.value, one.rows) for one in found.top[:2]] == [("10,50", 2), ("-1", 1)]
    titles = shaped(ColumnValues, await client.get(address, params={"column": "title"}))
    assert (titles.numbers, titles.min) == (0, None)
    assert sum(one.rows for one in titles.top) + titles.empty == 10
    refused(await other.get(address, params=asked), 404, "NOT_FOUND")
    refused(await client.get(address), 422, "INVALID_PARAMETERS")
    # A large job is sampled.
    monkeypatch.setattr(store, "_STRETCH", 2)
    monkeypatch.setattr(store, "MOST_SAMPLED", 4)
    some = shaped(ColumnValues, await client.get(address, params=asked))
    assert (some.total, some.rows, some.is_sample) == (10, 4, True)


async def figures(client: httpx2.AsyncClient, job: str) -> ColumnFigures:
    return shaped(ColumnFigures, await client.get(f"/api/jobs/{job}/columns"))


FILE = (
    "SKU;Title;Price;Stock;EAN;Notes\n"
    "F-1;Hammer;9,90;5;4006381333931;a\n"
    "F-2;Saw;12,9O;n.v.;123;\n"
    "F-3;Axe;7,00;;;\n"
)


async def test_figures_of_each_column(client: httpx2.AsyncClient, bench: Bench) -> None:
    config = '{"intent": "merge", "source": "figures", "currency": "EUR"}'
    known = b"SKU;Title;Price\nF-1;Hammer;9,50\nF-3;Hatchet;7,00\n"
    await client.post("/api/jobs", files=file_of(known), data={"config": config})
    await bench.work()
    check = {"config": config.replace("merge", "check")}
    content = FILE.encode()
    looked = await client.post("/api/jobs/preview", files=file_of(content), data=check)
    made = await client.post("/api/jobs", files=file_of(content), data=check)
    before = await figures(client, made.json()["jobId"])
    assert before == ColumnFigures(items=[], rows=0, total=0)
    await bench.work()
    found = await figures(client, made.json()["jobId"])
    assert (found.rows, found.total) == (3, 3)
    told = {
        one.column: (one.filled, one.empty, one.warnings, one.errors, one.changed)
        for one in found.items
    }
    assert told == {
        "SKU": (3, 0, 0, 0, 0), "Title": (3, 0, 0, 0, 1), "Price": (3, 0, 0, 1, 1),
        "Stock": (2, 1, 0, 0, 1), "EAN": (2, 1, 1, 0, 1), "Notes": (1, 2, 0, 0, 1),
    }  # fmt: skip
    # The first rows of a small file are all of it.
    assert looked.json()["columnFigures"] == [one.model_dump(by_alias=True) for one in found.items]


async def test_a_column_that_the_file_lacks_is_refused(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    made = await client.post("/api/jobs", files=file_of(b"SKU;Title\nF-1;Hammer\n"))
    await bench.work()
    path = f"/api/jobs/{made.json()['jobId']}"
    wrong = {"column": "Titel", "view": "input"}
    told = refused(await client.get(f"{path}/column-values", params=wrong), 422, "UNKNOWN_FIELD")
    assert told.detail == "The file has no column 'Titel'."
    sort = {**wrong, "sort": "value"}
    refused(await client.get(f"{path}/items", params=sort), 422, "UNKNOWN_FIELD")


async def test_changes_of_a_job_that_has_written_its_products_are_not_known(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    config = '{"intent": "merge", "source": "figures", "currency": "EUR"}'
    for price in ("9,50", "9,90"):
        content = f"SKU;Title;Price\nF-1;Hammer;{price}\n".encode()
        made = await client.post("/api/jobs", files=file_of(content), data={"config": config})
        await bench.work()
    job = made.json()["jobId"]
    assert [one.changed for one in (await figures(client, job)).items] == [None, None, None]
    summary = (await client.get(f"/api/jobs/{job}")).json()["summary"]
    assert summary["changed"] == 1
    assert [one["changed"] for one in summary["columns"]] == [None, None, None]


async def test_figures_without_a_summary(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    rows = "".join(f"L-{n};Tool {n};{'12,9O' if n % 2 else '1,00'}\n" for n in range(10))
    made = await client.post("/api/jobs", files=file_of(f"SKU;Title;Price\n{rows}".encode()))
    job = made.json()["jobId"]
    await bench.work()
    async with db.acquire() as conn:
        await conn.execute("UPDATE jobs SET summary = NULL WHERE id = $1", job)
    found = await figures(client, job)
    assert [(one.column, one.filled, one.errors) for one in found.items] == [
        ("SKU", 10, 0), ("Title", 10, 0), ("Price", 10, 5),
    ]  # fmt: skip
    other = await client.post("/api/jobs", json={"pipeline": "noop", "config": {"items": 2}})
    await bench.work()
    assert (await figures(client, other.json()["jobId"])).items == []
