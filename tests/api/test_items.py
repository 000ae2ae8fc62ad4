"""The grid: every item once, in order, as it is stored."""

from __future__ import annotations

import asyncio
import base64
from uuid import UUID

import httpx2
import orjson
from tests.api.conftest import Caller, Gate, file_of, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.schemas import ItemPage, ItemShape
from penstock.api.live.schemas import EventPage


async def all_items(client: httpx2.AsyncClient, job: str, query: str) -> list[ItemShape]:
    seen: list[ItemShape] = []
    after = ""
    while True:
        address = f"/api/jobs/{job}/items?{query}&after={after}"
        page = shaped(ItemPage, await client.get(address))
        seen += page.items
        if page.next is None:
            return seen
        assert page.items
        after = page.next


async def test_pages_from_first_to_last(client: httpx2.AsyncClient, bench: Bench) -> None:
    config = {"items": 777, "failEvery": 7, "failHow": "fail", "failCode": "VALIDATION_ERROR"}
    job = await submit_noop(client, config=config)
    await bench.work()
    for size in (37, 111, 777, 1000):
        rows = [item.row_no for item in await all_items(client, job, f"pageSize={size}")]
        assert rows == list(range(1, 778))
    failed = await all_items(client, job, "pageSize=10&statuses=ERROR")
    assert [item.row_no for item in failed] == list(range(7, 778, 7))
    both = await all_items(client, job, "pageSize=100&statuses=DONE,ERROR")
    assert [item.row_no for item in both] == list(range(1, 778))
    late = await all_items(client, job, "pageSize=10&fromRow=770")
    assert [item.row_no for item in late] == list(range(770, 778))
    assert await all_items(client, job, "statuses=NOT_FOUND") == []
    default = shaped(ItemPage, await client.get(f"/api/jobs/{job}/items"))
    assert len(default.items) == 100
    one = failed[0]
    assert (one.id, one.status, one.stage, one.attempts) == (f"{job}:7", "ERROR", "stage1", 1)
    assert one.error is not None
    assert one.error["code"] == "VALIDATION_ERROR"
    assert (one.input, one.job_type, one.locked_by) == ({"row": 6}, "noop", None)


async def test_rows_with_a_problem_in_a_cell(client: httpx2.AsyncClient, bench: Bench) -> None:
    content = (
        b"sku,title,gtin,stock\n1,Hammer,4006381333931,1\n2,Nail,4006381333932,2\n3,Saw,,many\n"
    )
    answer = await client.post("/api/jobs", files=file_of(content))
    await bench.work()
    job = answer.json()["jobId"]

    async def rows(query: str) -> list[int]:
        return [item.row_no for item in await all_items(client, job, query)]

    assert await rows("problem=GTIN_CHECK_DIGIT") == [2]
    assert await rows("problem=*") == [2, 3]
    assert await rows("problem=*&statuses=ERROR") == []
    assert await rows("problem=PRICE_NEGATIVE") == []


async def test_cells_carry_the_names_of_their_columns(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    content = b"sku,title\n007,Hammer\n8,Nail,extra\n9\n"
    answer = await client.post("/api/jobs", files=file_of(content))
    await bench.work()
    items = await all_items(client, answer.json()["jobId"], "pageSize=10")
    assert [item.input for item in items] == [
        {"sku": "007", "title": "Hammer"},
        {"sku": "8", "title": "Nail", "Column 3": "extra"},
        {"sku": "9", "title": ""},
    ]
    assert items[0].result == {
        "sourceId": "007", "sku": "007", "title": "Hammer", "match": "new",
    }  # fmt: skip
    assert [item.status for item in items] == ["DONE", "ERROR", "ERROR"]
    assert [(item.error or {}).get("code") for item in items[1:]] == [
        "ROW_TOO_LONG", "REQUIRED_MISSING",
    ]  # fmt: skip
    assert items[0].stage == "match"


async def test_what_waits_and_runs_by_its_age(
    client: httpx2.AsyncClient, bench: Bench, gate: Gate
) -> None:
    job = await submit_noop(client, 250)
    async with bench.runtime.db.acquire() as conn:
        # The ingest alone; of equal times the row decides.
        await bench.work(turns=1)
        await conn.execute(
            "UPDATE job_items SET updated_at = now() - row_no % 3 * interval '1 hour'"
        )
    items = await all_items(client, job, "sort=updated&pageSize=40")
    assert len(items) == 250
    assert [(i.updated_at, i.row_no) for i in items] == sorted(
        (i.updated_at, i.row_no) for i in items
    )
    assert await all_items(client, job, "sort=updated&statuses=PROCESSING") == []
    for query in ("statuses=DONE", "statuses=PENDING,DONE", "fromRow=2"):
        refused(
            await client.get(f"/api/jobs/{job}/items?sort=updated&{query}"), 400, "INVALID_SORT"
        )


async def test_an_item_shows_who_works_on_it(
    client: httpx2.AsyncClient, bench: Bench, gate: Gate
) -> None:
    job = await submit_noop(client, pipeline="gate", config={"items": 2})
    worker = bench.worker()
    async with worker:
        running = asyncio.create_task(worker.run_once())
        await gate.begun.wait()
        items = await all_items(client, job, "statuses=PROCESSING")
        assert [(item.status, item.locked_by, item.stage) for item in items] == [
            ("PROCESSING", worker.id, "wait")
        ] * 2
        assert all(item.locked_at is not None for item in items)
        gate.open.set()
        await running


async def test_a_pipeline_that_is_gone_still_shows_its_items(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await submit_noop(client)
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE jobs SET pipeline = 'gone'")
    assert [item.stage for item in await all_items(client, job, "")] == [None] * 3


async def test_parameters_and_cursors_are_checked(client: httpx2.AsyncClient) -> None:
    job, other = await submit_noop(client), await submit_noop(client)
    address = f"/api/jobs/{job}/items"
    for query in (
        *("statuses=NOPE", "pageSize=0", "pageSize=1001", "fromRow=0", "fromRow=99999999999"),
        *("sort=name", "pageSize=1e3"),
    ):
        refused(await client.get(f"{address}?{query}"), 422, "INVALID_PARAMETERS")
    refused(await client.get(f"{address}?offset=3"), 422, "UNKNOWN_FIELD")
    cursor = (await client.get(f"{address}?pageSize=1")).json()["next"]
    signature, place = (raw := base64.urlsafe_b64decode(cursor + "=="))[:16], raw[16:]
    assert (await client.get(f"{address}?after={cursor}")).status_code == 200

    def forged(signed: bytes, *said: object) -> str:
        return base64.urlsafe_b64encode(signed + orjson.dumps(said)).decode().rstrip("=")

    when = orjson.loads(place)[0]
    forgeries = [
        forged(signature, when, 2),
        forged(signature, when),
        forged(b"\0" * 16, *orjson.loads(place)),
        forged(b""),
        base64.urlsafe_b64encode(signature).decode().rstrip("="),
        base64.urlsafe_b64encode(signature + b"[" * 100).decode().rstrip("="),
    ]
    for bad in (*forgeries, cursor[:-3], cursor + "A", "!", "{}", "bnVsbA", "A" * 600):
        refused(await client.get(f"{address}?after={bad}"), 400, "INVALID_CURSOR")
    refused(await client.get(f"/api/jobs/{other}/items?after={cursor}"), 400, "INVALID_CURSOR")
    refused(await client.get(f"{address}?statuses=DONE&after={cursor}"), 400, "INVALID_CURSOR")
    refused(await client.get(f"{address}?sort=updated&after={cursor}"), 400, "INVALID_CURSOR")


async def test_events_are_numbered_and_go_on_from_next(
    client: httpx2.AsyncClient, bench: Bench, caller: Caller
) -> None:
    job = await submit_noop(client)
    await bench.work()
    address = f"/api/jobs/{job}/events"
    page = shaped(EventPage, await client.get(address))
    assert [event.seq for event in page.items] == list(range(1, len(page.items) + 1))
    names = [event.event for event in page.items]
    assert (names[0], names[-1]) == ("job.queued", "job.completed")
    assert {event.job_id for event in page.items} == {UUID(job)}
    assert page.next == len(page.items)
    first = shaped(EventPage, await client.get(f"{address}?limit=1"))
    rest = shaped(EventPage, await client.get(f"{address}?since={first.next}"))
    assert first.items + rest.items == page.items
    over = shaped(EventPage, await client.get(f"{address}?since={page.next}"))
    assert (over.items, over.next) == ([], page.next)
    for query in ("since=-1", "since=99999999999999999999", "limit=0", "limit=1001"):
        refused(await client.get(f"{address}?{query}"), 422, "INVALID_PARAMETERS")
