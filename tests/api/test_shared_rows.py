"""The same file again shares the rows of the first job: all that shows rows shows them, and a
change of one of the two jobs leaves the other as it was."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from tests.api.conftest import Caller, file_of
from tests.fixtures import Bench

from penstock.app.bulk_operations import BulkService
from penstock.app.retention.service import Retention
from penstock.engine.result_cache import SharedRows

ROWS = "".join(
    f"S-{n};Tool {n % 3};{price};{'Acme' if n % 2 else ''}\n"
    for n, price in enumerate(("9,90", "1O,50", "", "2,00", "12,9O", "10,50", "ask", "-1", "100"))
)
FILE = f"SKU;Title;Price;Brand\n{ROWS}".encode()
# Whatever shows rows of a job, or is counted from them.
READS = (
    "items?pageSize=4", "items?pageSize=50&sort=-row", "items?statuses=ERROR",
    "items?statuses=ERROR&sort=-updated", "items?statuses=DONE&pageSize=2", "items?q=tool%201",
    "items?sort=value&column=Price&view=input", "items?code=PRICE_UNREADABLE", "items?fromRow=3",
    "column-values?column=Price&view=input", "column-values?column=sku", "held", "links",
    "unread-values", "pending",
)  # fmt: skip
EXPORTS = (
    "format=csv",
    "format=json",
    "format=csv&which=errors",
    "format=csv&statuses=ERROR,DONE&q=tool",
)
PAID = {"kind": "replace", "column": "Price", "find": "O", "value": "0"}


async def sent(client: httpx2.AsyncClient, bench: Bench) -> str:
    made = await client.post("/api/jobs", files=file_of(FILE))
    await bench.work()
    return str(made.json()["jobId"])


async def shown(client: httpx2.AsyncClient, job: str) -> dict[str, Any]:
    """What users see of its rows, without the name of the job."""
    seen: dict[str, Any] = {}
    for path in READS:
        answer = await client.get(f"/api/jobs/{job}/{path}")
        assert answer.status_code == 200, (path, answer.text)
        found = answer.json()
        # Cursors are for one list.
        found.pop("next", None)
        seen[path] = str(found).replace(job, "JOB")
    for asked in EXPORTS:
        answer = await client.post(f"/api/jobs/{job}/export?{asked}")
        assert answer.status_code == 200, (asked, answer.text)
        seen[asked] = answer.text.replace(job, "JOB")
    told = (await client.get(f"/api/jobs/{job}")).json()
    return seen | {name: told[name] for name in ("counters", "summary") if name in told}


async def shares(bench: Bench, job: str) -> bool:
    async with bench.runtime.db.acquire() as conn:
        return bool(
            await conn.fetchval("SELECT shared_from IS NOT NULL FROM jobs WHERE id = $1::uuid", job)
        )


async def own_rows(bench: Bench, job: str) -> int:
    async with bench.runtime.db.acquire() as conn:
        return int(
            await conn.fetchval("SELECT count(*) FROM job_items WHERE job_id = $1::uuid", job)
        )


async def test_shared_rows_are_shown_as_ones_own(client: httpx2.AsyncClient, bench: Bench) -> None:
    first = await sent(client, bench)
    expected = await shown(client, first)
    assert "S-8" in expected["format=csv"]
    second, third = await sent(client, bench), await sent(client, bench)
    for job in (second, third):
        assert await shares(bench, job)
        assert await own_rows(bench, job) == 0
        assert await shown(client, job) == expected
    # Not while the job has just ended.
    assert await SharedRows(bench.runtime).run_once() == 0
    assert await SharedRows(bench.runtime, seconds=0, chunk=4).run_once() == 2
    for job in (second, third):
        assert not await shares(bench, job)
        assert await own_rows(bench, job) == 9
        assert await shown(client, job) == expected


async def test_rows_of_another_user_are_copied(caller: Caller, bench: Bench) -> None:
    one, other = await caller(), await caller(email="other@acme")
    first, second = await sent(one, bench), await sent(other, bench)
    assert not await shares(bench, second)
    assert await own_rows(bench, second) == 9
    assert await shown(other, second) == await shown(one, first)


async def fixed(client: httpx2.AsyncClient, bench: Bench, job: str) -> None:
    answer = await client.patch(f"/api/jobs/{job}/items/2", json={"input": {"Price": "10,50"}})
    assert answer.is_success, answer.text
    await bench.work()


async def edited(client: httpx2.AsyncClient, bench: Bench, job: str) -> None:
    order = {"select": {"problem": "PRICE_UNREADABLE"}, "change": PAID}
    answer = await client.post(f"/api/jobs/{job}/items/fix", json=order)
    assert answer.is_success, answer.text
    await BulkService(bench.runtime).run_once()
    await bench.work()


async def reprocessed(client: httpx2.AsyncClient, bench: Bench, job: str) -> None:
    answer = await client.post(f"/api/jobs/{job}/reprocess", json={"statuses": ["ERROR", "DONE"]})
    assert answer.is_success, answer.text
    await bench.work()


async def remapped(client: httpx2.AsyncClient, bench: Bench, job: str) -> None:
    answer = await client.post(f"/api/jobs/{job}/remap", json={"config": {"currency": "CHF"}})
    assert answer.is_success, answer.text
    await BulkService(bench.runtime).run_once()
    await bench.work()


async def pruned(client: httpx2.AsyncClient, bench: Bench, job: str) -> None:
    async with bench.runtime.db.acquire() as conn:
        await conn.execute(
            "UPDATE jobs SET finished_at = now() - interval '1 year' WHERE id = $1::uuid", job
        )
    await Retention(bench.runtime).run_once()


@pytest.mark.parametrize("change", [fixed, edited, reprocessed, remapped, pruned])
@pytest.mark.parametrize("changed", ["first", "second"])
async def test_a_change_of_one_leaves_the_other(
    client: httpx2.AsyncClient, bench: Bench, change: Any, changed: str
) -> None:
    first = await sent(client, bench)
    expected = await shown(client, first)
    second = await sent(client, bench)
    one, other = (first, second) if changed == "first" else (second, first)
    await change(client, bench, one)
    assert not await shares(bench, second)
    assert await own_rows(bench, other) == 9
    assert await shown(client, other) == expected
    if change is pruned:
        assert await own_rows(bench, one) == 0
    elif change is not reprocessed:
        assert await shown(client, one) != expected
