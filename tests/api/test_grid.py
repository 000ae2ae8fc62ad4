"""The grid with filters and orders: what a page shows is what a sort of all rows would."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.schemas import ItemPage, ItemShape
from penstock.store.jobs import items

ROWS = 240
STATUSES = ("DONE", "DONE", "ERROR", "PENDING", "NOT_FOUND", "SKIPPED", "DONE")
# Rows of all kinds, with equal times among them; a title with a quote, and one in capitals.
MIX = """
UPDATE job_items SET status = ($2::text[])[1 + row_no % 7],
    updated_at = timestamptz '2026-01-01' + row_no % 5 * interval '1 hour',
    error = CASE WHEN row_no % 7 IN (2, 4) THEN
        jsonb_build_object('code', CASE WHEN row_no % 2 = 0 THEN 'EVEN' ELSE 'ODD' END) END,
    input = jsonb_build_object('title', CASE row_no % 4 WHEN 0 THEN 'Rohr 5" lang' WHEN 1 THEN
        'HAMMER' ELSE 'Schraube Ö' END, 'row', row_no)
WHERE job_id = $1
"""
COUNT = """
UPDATE jobs j SET total = $2, pending = c.pending, done = c.done, error = c.error,
    not_found = c.not_found, skipped = c.skipped
FROM (SELECT count(*) FILTER (WHERE status = 'PENDING') AS pending,
             count(*) FILTER (WHERE status = 'DONE') AS done,
             count(*) FILTER (WHERE status = 'ERROR') AS error,
             count(*) FILTER (WHERE status = 'NOT_FOUND') AS not_found,
             count(*) FILTER (WHERE status = 'SKIPPED') AS skipped
      FROM job_items WHERE job_id = $1) AS c
WHERE j.id = $1
"""


@pytest.fixture
async def job(client: httpx2.AsyncClient, bench: Bench) -> str:
    job = await submit_noop(client, ROWS)
    await bench.work(turns=1)
    async with bench.runtime.db.acquire() as conn:
        await conn.execute(MIX, UUID(job), list(STATUSES))
        await conn.execute(COUNT, UUID(job), ROWS)
    return job


async def pages(client: httpx2.AsyncClient, job: str, **params: Any) -> list[ItemShape]:
    seen: list[ItemShape] = []
    after = ""
    for _ in range(2000):
        answer = await client.get(f"/api/jobs/{job}/items", params=params | {"after": after})
        page = shaped(ItemPage, answer)
        seen += page.items
        if page.next is None:
            return seen
        after = page.next
    raise AssertionError("pages without end")


Test = Callable[[ItemShape], bool]
FILTERS: list[tuple[dict[str, Any], Test]] = [
    ({}, lambda item: True),
    ({"statuses": "ERROR"}, lambda item: item.status == "ERROR"),
    ({"statuses": "PENDING"}, lambda item: item.status == "PENDING"),
    ({"statuses": "ERROR,SKIPPED"}, lambda item: item.status in ("ERROR", "SKIPPED")),
    ({"statuses": "PENDING,ERROR"}, lambda item: item.status in ("PENDING", "ERROR")),
    ({"statuses": "PENDING,DONE"}, lambda item: item.status in ("PENDING", "DONE")),
    ({"statuses": "PROCESSING"}, lambda item: False),
    ({"code": "EVEN"}, lambda item: (item.error or {}).get("code") == "EVEN"),
    ({"code": "EVEN", "statuses": "ERROR"}, lambda i: i.status == "ERROR" and i.row_no % 2 == 0),
    ({"q": "hammer"}, lambda item: item.row_no % 4 == 1),
    ({"q": '5" LANG'}, lambda item: item.row_no % 4 == 0),
    ({"q": "schraube ö", "statuses": "ERROR"}, lambda i: i.row_no % 4 > 1 and i.status == "ERROR"),
    ({"q": "%"}, lambda item: False),
    (
        {"from": "2026-01-01T01:00:00Z", "to": "2026-01-01T03:00:00+00:00"},
        lambda item: item.row_no % 5 in (1, 2),
    ),
]


@pytest.mark.parametrize("sort", ["row", "-row", "updated", "-updated"])
async def test_every_filter_in_every_order(
    client: httpx2.AsyncClient, job: str, sort: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "_ROWS_READ", 17)
    monkeypatch.setattr(items, "_ROWS_SEEN", 23)
    everything = await pages(client, job, pageSize=100)
    assert [item.row_no for item in everything] == list(range(1, ROWS + 1))
    by_age = sort.endswith("updated")
    for params, test in FILTERS:
        if by_age and "statuses" not in params and "code" not in params:
            params = params | {"statuses": "PENDING"}
        if by_age and "DONE" in params.get("statuses", ""):
            continue
        asked = set(filter(None, params.get("statuses", "").split(",")))
        right = [i for i in everything if test(i) and (not asked or i.status in asked)]
        right.sort(
            key=lambda i: (i.updated_at, i.row_no) if by_age else (i.row_no,),
            reverse=sort.startswith("-"),
        )
        for size in (7, 100):
            found = await pages(client, job, sort=sort, pageSize=size, **params)
            assert [i.row_no for i in found] == [i.row_no for i in right], (params, size)
            assert found == right


async def test_a_grid_can_begin_anywhere(client: httpx2.AsyncClient, job: str) -> None:
    late = await pages(client, job, fromRow=230)
    assert [item.row_no for item in late] == list(range(230, ROWS + 1))
    early = await pages(client, job, fromRow=5, sort="-row", pageSize=2)
    assert [item.row_no for item in early] == [5, 4, 3, 2, 1]
    failed = await pages(client, job, fromRow=20, sort="-row", statuses="ERROR")
    assert [item.row_no for item in failed] == [16, 9, 2]
    assert await pages(client, job, fromRow=ROWS + 1) == []


async def test_a_search_that_finds_little_ends_its_page_and_goes_on(
    client: httpx2.AsyncClient, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items, "_TEXT_S", -1.0)
    monkeypatch.setattr(items, "_ROWS_READ", 50)
    first = shaped(ItemPage, await client.get(f"/api/jobs/{job}/items?q=nowhere"))
    assert first.items == []
    assert first.next is not None
    assert await pages(client, job, q="nowhere") == []
    found = await pages(client, job, q="hammer", pageSize=1000)
    assert [item.row_no for item in found] == list(range(1, ROWS + 1, 4))


async def test_wrong_filters_are_named(client: httpx2.AsyncClient, job: str) -> None:
    address = f"/api/jobs/{job}/items"
    for query in (
        *("sort=+row", "from=yesterday", "from=2026-01-01", "to=0001-01-01T00:00:00%2B14:00"),
        *("q=" + "x" * 201, "q=%00", "code=" + "X" * 101, "to=9999-12-31T23:59:59Z"),
    ):
        refused(await client.get(f"{address}?{query}"), 422, "INVALID_PARAMETERS")
    for query in ("sort=updated&statuses=DONE", "sort=-updated&fromRow=3"):
        refused(await client.get(f"{address}?{query}"), 400, "INVALID_SORT")


async def test_a_place_belongs_to_its_filters(client: httpx2.AsyncClient, job: str) -> None:
    address = f"/api/jobs/{job}/items"
    place = (await client.get(f"{address}?statuses=ERROR&pageSize=1")).json()["next"]
    for query in ("statuses=SKIPPED", "statuses=ERROR&sort=-row", "statuses=ERROR&q=a"):
        refused(await client.get(f"{address}?{query}&after={place}"), 400, "INVALID_CURSOR")
    on = f"{address}?statuses=ERROR&pageSize=5&after={place}"
    assert (await client.get(on)).status_code == 200


async def test_what_runs_is_found_by_who_holds_it(
    client: httpx2.AsyncClient, job: str, bench: Bench
) -> None:
    async with bench.runtime.db.acquire() as conn:
        await conn.execute(
            "UPDATE job_items SET status = 'PENDING', due_at = NULL WHERE job_id = $1", UUID(job)
        )
        await conn.execute(COUNT, UUID(job), ROWS)
        slice_id = await conn.fetchval(
            "INSERT INTO slices (id, kind, job_id, org_id, pipeline, stage, position, worker, "
            "row_nos, expires_at, expected_ms, vstart) SELECT gen_random_uuid(), 'items', id, "
            "org_id, 'noop', 'stage1', 0, 'w1', '{3,50,200,201}', now(), 1, 0 FROM jobs "
            "RETURNING id"
        )
        await conn.execute(
            "UPDATE job_items SET status = 'PROCESSING', slice_id = $1, updated_at = $2 "
            "WHERE row_no IN (3, 50, 200)",
            slice_id, datetime(2026, 2, 1, tzinfo=UTC),
        )  # fmt: skip
    for sort, right in (("row", [3, 50, 200]), ("-updated", [200, 50, 3])):
        found = await pages(client, job, statuses="PROCESSING", sort=sort, pageSize=2)
        assert [item.row_no for item in found] == right
        assert {item.locked_by for item in found} == {"w1"}
