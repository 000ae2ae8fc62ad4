"""Many jobs in one request: one answer for each, and one transaction for all."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from tests.api.conftest import file_of, refused
from tests.fixtures import Bench

from penstock.api.jobs.batch_schemas import MAX_JOBS, BatchAnswer
from penstock.engine.submit_queue import MAX_FILES_TOGETHER

pytestmark = pytest.mark.slow
NOOP: dict[str, Any] = {"pipeline": "noop", "config": {"items": 1}}


async def batch(client: httpx2.AsyncClient, *jobs: Any, **headers: str) -> BatchAnswer:
    answer = await client.post("/api/jobs/batch", json={"jobs": list(jobs)}, headers=headers)
    assert answer.status_code == 202, answer.text
    return BatchAnswer.model_validate_json(answer.text)


async def test_all_are_written_by_one_transaction(client: httpx2.AsyncClient, bench: Bench) -> None:
    names = [f"job {number}" for number in range(60)]
    found = await batch(client, *({**NOOP, "name": name} for name in names))
    assert (found.accepted, found.refused) == (60, 0)
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT id, name, ip, xmin::text AS transaction FROM jobs")
        audited = await conn.fetch("SELECT target FROM audit WHERE action = 'job.create'")
    assert {row["id"]: row["name"] for row in rows} == {
        one.job_id: name for one, name in zip(found.results, names, strict=True)
    }
    assert len({row["transaction"] for row in rows}) == 1
    assert {row["target"] for row in audited} == {f"job:{one.job_id}" for one in found.results}
    await bench.work()
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs WHERE state = 'done'") == 60


async def test_each_job_is_answered_by_itself(client: httpx2.AsyncClient, bench: Bench) -> None:
    found = await batch(
        client, NOOP, {"pipeline": "noop", "config": {"items": "many"}}, {"pipeline": "none"},
        {**NOOP, "colour": "red"}, 5, {**NOOP, "url": "https://supplier.example/a.csv"},
        {"fileId": "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d"}, {**NOOP, "priority": "high"},
    )  # fmt: skip
    assert [one.status for one in found.results] == [202, 422, 422, 422, 422, 422, 404, 202]
    assert [one.error and one.error.code for one in found.results] == [
        None, "INVALID_CONFIG", "INVALID_PARAMETERS", "UNKNOWN_FIELD", "INVALID_PARAMETERS",
        "INVALID_PARAMETERS", "FILE_NOT_FOUND", None,
    ]  # fmt: skip
    assert (found.accepted, found.refused) == (2, 6)
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 2


async def test_files_that_were_uploaded_before(client: httpx2.AsyncClient, bench: Bench) -> None:
    """Ten of them per transaction, since the head of each file is read meanwhile."""
    ids = []
    for name in "abcdefghijklm":
        content = f"sku,title,price\n{name}-1,Chair {name},10\n".encode()
        made = await client.post("/api/files", files=file_of(content, f"{name}.csv"))
        ids.append(made.json()["id"])
    found = await batch(client, *({"fileId": one} for one in ids))
    assert found.accepted == 13
    async with bench.runtime.db.acquire() as conn:
        most = "SELECT max(count) FROM (SELECT count(*) FROM jobs GROUP BY xmin::text) AS t"
        assert await conn.fetchval(most) <= MAX_FILES_TOGETHER
    await bench.work()
    for one in found.results:
        shown = (await client.get(f"/api/jobs/{one.job_id}")).json()
        assert (shown["state"], shown["counters"]["done"]) == ("done", 1)


async def test_keys_of_jobs(client: httpx2.AsyncClient, bench: Bench) -> None:
    keyed = {**NOOP, "idempotencyKey": "a"}
    first = await batch(client, keyed, {**NOOP, "idempotencyKey": "b"})
    again = await batch(client, {**NOOP, "idempotencyKey": "b"}, keyed, keyed, NOOP)
    assert [one.replayed for one in again.results] == [True, True, True, False]
    assert [one.job_id for one in again.results[:2]] == [
        first.results[1].job_id, first.results[0].job_id,
    ]  # fmt: skip
    other = await batch(client, {**keyed, "name": "another"})
    assert other.results[0].error is not None
    assert other.results[0].error.code == "IDEMPOTENCY_MISMATCH"
    # A single job has the same keys.
    single = await client.post("/api/jobs", json=NOOP, headers={"Idempotency-Key": "a"})
    assert single.json()["jobId"] == str(first.results[0].job_id)
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 3


async def test_the_key_of_the_request(client: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "monday"}
    jobs = [NOOP, {**NOOP, "idempotencyKey": "own"}, NOOP]
    first = await batch(client, *jobs, **key)
    again = await batch(client, *jobs, **key)
    assert [one.job_id for one in again.results] == [one.job_id for one in first.results]
    assert all(one.replayed for one in again.results)
    single = await client.post("/api/jobs", json=NOOP, headers={"Idempotency-Key": "monday/3"})
    assert single.json()["jobId"] == str(first.results[2].job_id)


@pytest.mark.parametrize(
    "body",
    [{}, {"jobs": []}, {"jobs": NOOP}, {"jobs": [NOOP] * (MAX_JOBS + 1)},
     {"jobs": [NOOP], "dryRun": True}],
)  # fmt: skip
async def test_what_is_no_batch(client: httpx2.AsyncClient, bench: Bench, body: Any) -> None:
    refused(await client.post("/api/jobs/batch", json=body), 422, "INVALID_PARAMETERS")
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 0
