"""Open rows of many jobs in one list: whole, in order, small, and only for who may see them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import Caller, file_of, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.pending import PendingPage, PendingRow
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.jobs import pending

SPREAD = """
UPDATE job_items SET updated_at = timestamptz '2026-01-01'
    + (hashtext(job_id::text) % 7 + row_no * 13 % 11) * interval '1 minute'
"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"global_pending": True})


async def pages(client: httpx2.AsyncClient, **params: Any) -> list[PendingRow]:
    seen: list[PendingRow] = []
    after = ""
    for _ in range(500):
        answer = await client.get("/api/pending", params=params | {"after": after})
        page = shaped(PendingPage, answer)
        assert (page.counts is None) == (page.oldest is None) == bool(after)
        seen += page.items
        if page.next is None:
            return seen
        after = page.next
    raise AssertionError("pages without end")


def order(row: PendingRow) -> tuple[Any, ...]:
    return row.updated_at, row.job_id, row.row_no


async def test_all_open_rows_once_and_oldest_first(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, db: Database
) -> None:
    sizes = (30, 7, 1, 30)
    mine = [await submit_noop(client, items) for items in sizes]
    other = await caller("globex")
    theirs = await submit_noop(other, 5)
    admin = await caller("default", role="admin")
    async with db.acquire() as conn:
        await conn.execute(SPREAD)
    whole = await pages(client, pageSize=500)
    assert sorted((str(row.job_id), row.row_no) for row in whole) == sorted(
        (job, n)
        for job, items in zip(mine, (30, 7, 1, 30), strict=True)
        for n in range(1, items + 1)
    )
    assert whole == sorted(whole, key=order)
    for size in (1, 3, 10, 67, 68):
        assert await pages(client, pageSize=size) == whole
    assert {str(row.job_id) for row in await pages(other)} == {theirs}
    assert await pages(admin) == []
    everyone = await pages(admin, userId="all", pageSize=9)
    assert everyone == sorted(everyone, key=order)
    assert {row.org for row in everyone} == {"acme", "globex"}
    assert [row for row in everyone if row.org == "acme"] == whole
    first = shaped(PendingPage, await client.get("/api/pending?pageSize=1"))
    assert first.counts is not None
    assert (first.counts.pending, first.counts.processing) == (68, 0)
    assert first.oldest is not None
    assert first.oldest[0].job_id == whole[0].job_id
    assert {str(one.job_id) for one in first.oldest} == set(mine)
    assert first.oldest[0].age_ms > 0


async def test_filters(client: httpx2.AsyncClient, bench: Bench, db: Database) -> None:
    noop = await submit_noop(client, 12)
    gate = await submit_noop(client, pipeline="gate", config={"items": 4})
    async with db.acquire() as conn:
        await conn.execute(SPREAD)
    whole = await pages(client)
    assert len(whole) == 16
    assert await pages(client, jobId=gate) == [r for r in whole if str(r.job_id) == gate]
    assert await pages(client, jobType="noop") == [r for r in whole if str(r.job_id) == noop]
    middle = whole[5].updated_at
    assert await pages(client, **{"from": middle.isoformat()}) == [
        row for row in whole if row.updated_at >= middle
    ]
    assert await pages(client, pageSize=2, to=middle.isoformat()) == [
        row for row in whole if row.updated_at < middle
    ]
    assert await pages(client, statuses="PROCESSING") == []
    assert await pages(client, statuses="PENDING") == whole
    async with db.acquire() as conn:
        slice_id = await conn.fetchval(
            "INSERT INTO slices (id, kind, job_id, org_id, pipeline, stage, position, worker, "
            "row_nos, expires_at, expected_ms, vstart) SELECT gen_random_uuid(), 'items', id, "
            "org_id, 'noop', 'stage1', 0, 'w1', '{2,5,9}', now(), 1, 0 FROM jobs WHERE id = $1 "
            "RETURNING id", UUID(noop),
        )  # fmt: skip
        await conn.execute(
            "UPDATE job_items SET status = 'PROCESSING', slice_id = $1 "
            "WHERE job_id = $2 AND row_no IN (2, 5, 9)", slice_id, UUID(noop),
        )  # fmt: skip
        await conn.execute(
            "UPDATE jobs SET pending = pending - 3, processing = 3 WHERE id = $1", UUID(noop)
        )
    running = await pages(client, statuses="PROCESSING", pageSize=2)
    assert sorted(row.row_no for row in running) == [2, 5, 9]
    assert running == sorted(running, key=order)
    assert {(row.locked_by, row.status) for row in running} == {("w1", "PROCESSING")}
    assert len(await pages(client, statuses="PENDING")) == 13
    assert [order(row) for row in await pages(client)] == [order(row) for row in whole]


async def test_rows_show_a_little_of_their_input(client: httpx2.AsyncClient, bench: Bench) -> None:
    # Rows of one article number wait for each other.
    content = b"Artikelnummer,Bezeichnung,Marke,Preis\n007,Hammer,Acme,1\n007,Nagel,Boltz,2\n"
    await client.post("/api/jobs", files=file_of(content))
    await bench.work(turns=2)
    rows = {row.row_no: row for row in await pages(client)}
    assert [rows[n].input_summary.model_dump() for n in (1, 2)] == [
        {"title": "Hammer", "brand": "Acme", "sku": "007"},
        {"title": "Nagel", "brand": "Boltz", "sku": "007"},
    ]
    assert (rows[1].job_type, rows[1].attempts, rows[1].progress.rows_total) == ("extraction", 0, 2)


async def test_a_columns_own_name_does_until_the_mapping_is_known(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    await client.post("/api/jobs", files=file_of(b"SKU,Title,x\n1,Hammer,9\n1,Hammer,8\n"))
    await bench.work(turns=2)
    async with db.acquire() as conn:
        await conn.execute("UPDATE jobs SET context = '{}'")
    row, _ = await pages(client)
    assert row.input_summary.model_dump() == {"title": "Hammer", "brand": None, "sku": "1"}


async def test_whose_rows_is_decided_by_the_server(
    client: httpx2.AsyncClient, caller: Caller
) -> None:
    viewer = await caller("acme", role="viewer")
    for who in (client, viewer):
        refused(await who.get("/api/pending?userId=all"), 403, "INSUFFICIENT_PERMISSIONS")
    for query in ("userId=2", "statuses=DONE", "jobId=x", "pageSize=0", "from=now", "jobType=a b"):
        refused(await client.get(f"/api/pending?{query}"), 422, "INVALID_PARAMETERS")
    await submit_noop(client, 3)
    place = (await client.get("/api/pending?pageSize=1")).json()["next"]
    colleague = await caller(email="b@acme")
    for who, query in ((colleague, ""), (client, "&statuses=PENDING"), (client, "&jobType=noop")):
        answer = await who.get(f"/api/pending?pageSize=1{query}&after={place}")
        refused(answer, 400, "INVALID_CURSOR")


class TestSwitchedOff:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"global_pending": False})

    async def test_the_list_is_not_there(self, client: httpx2.AsyncClient) -> None:
        refused(await client.get("/api/pending"), 404, "FEATURE_DISABLED")


async def test_one_job_shows_its_open_rows_without_their_inputs(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    """By the time of their last change, page by page; also where the list of all jobs is off."""
    config = {"items": 5, "failEvery": 2, "failHow": "retry", "failTimes": 1}
    job = await submit_noop(client, config=config)
    await submit_noop(client, items=2)
    listed: list[dict[str, Any]] = []
    after = ""
    while True:
        page = shaped(
            PendingPage,
            answer := await client.get(
                f"/api/jobs/{job}/pending", params={"pageSize": 2, "after": after}
            ),
        )
        listed += answer.json()["items"]
        assert (page.counts is None) == bool(after)
        if page.next is None:
            break
        after = page.next
    assert {row["jobId"] for row in listed} == {job}
    assert sorted(row["rowNo"] for row in listed) == [1, 2, 3, 4, 5]
    changes = [(row["updatedAt"], row["rowNo"]) for row in listed]
    assert changes == sorted(changes)
    assert all("input" not in row and set(row["inputSummary"]) <= {"title", "brand", "sku"}
               for row in listed)  # fmt: skip
    open_items = (await client.get(f"/api/jobs/{job}/items?statuses=PENDING,PROCESSING")).json()
    assert [row["rowNo"] for row in open_items["items"]] == [row["rowNo"] for row in listed]
    other = await caller("globex")
    refused(await other.get(f"/api/jobs/{job}/pending"), 404, "NOT_FOUND")


async def test_open_rows_of_a_job_are_searched_by_their_labels(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page, in the same order, in steps of a few rows; other columns are not searched."""
    monkeypatch.setattr(pending, "_LOOKED_AT", 3)
    # Rows of one article number wait for each other.
    lines = [f"A7,{'Red' if n % 3 else 'BLUE'} lamp 100% {n},Acme,secret" for n in range(1, 21)]
    sent = "\n".join(["Artikelnummer,Bezeichnung,Marke,Notiz", *lines]).encode()
    job_id = (await client.post("/api/jobs", files=file_of(sent))).json()["jobId"]
    await bench.work(turns=2)

    async def found(q: str, size: int = 2) -> list[int]:
        rows: list[int] = []
        after = ""
        while True:
            page = shaped(PendingPage, await client.get(
                f"/api/jobs/{job_id}/pending", params={"q": q, "pageSize": size, "after": after}
            ))  # fmt: skip
            rows += [row.row_no for row in page.items]
            if page.next is None:
                return rows
            after = page.next

    assert await found("blue") == [3, 6, 9, 12, 15, 18]
    assert await found("blue lamp 100% 1", 100) == [12, 15, 18]
    assert await found("a7", 50) == list(range(1, 21))
    assert await found("17") == [17]
    assert await found("ACME", 7) == list(range(1, 21))
    assert await found("secret") == await found("100_") == []
    kept = shaped(PendingPage, await client.get(
        f"/api/jobs/{job_id}/pending", params={"q": "blue", "pageSize": 2}
    )).next  # fmt: skip
    other = await client.get(f"/api/jobs/{job_id}/pending", params={"q": "red", "after": kept})
    refused(other, 400, "INVALID_CURSOR")


async def test_errors_of_items_say_their_category_source_and_next_try(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await submit_noop(client, config={"items": 2, "failEvery": 2, "failHow": "fail"})
    waiting = await submit_noop(
        client, config={"items": 1, "failEvery": 1, "failHow": "retry", "failCode": "API_TIMEOUT"}
    )
    await bench.work()
    failed = (await client.get(f"/api/jobs/{job}/items?statuses=ERROR")).json()["items"]
    (error,) = (one["error"] for one in failed)
    assert (error["category"], error["source"], error["nextRetryAt"]) == (
        "permanent", "stage1", None,
    )  # fmt: skip
    (held,) = (await client.get(f"/api/jobs/{waiting}/items")).json()["items"]
    assert (held["error"]["category"], held["error"]["nextRetryAt"]) == ("transient", held["dueAt"])
