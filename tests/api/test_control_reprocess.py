"""Priority and reprocessing over HTTP."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.api.test_control import audits, events_of, woken
from tests.api.test_items import all_items
from tests.fixtures import Bench

from penstock.api.jobs import control
from penstock.api.jobs.control_schemas import Reprocessed
from penstock.api.jobs.schemas import FullJob
from penstock.engine import reprocess
from penstock.engine.ending import fail
from penstock.model.errors import ItemError
from penstock.store.database import Database, from_json

__all__ = ["woken"]


async def set_priority(client: httpx2.AsyncClient, job: str, priority: Any) -> httpx2.Response:
    return await client.post(f"/api/jobs/{job}/priority", json={"priority": priority})


async def again(client: httpx2.AsyncClient, job: str, **order: Any) -> Reprocessed:
    return shaped(Reprocessed, await client.post(f"/api/jobs/{job}/reprocess", json=order))


async def failed_job(client: httpx2.AsyncClient, bench: Bench, **more: Any) -> str:
    """Rows 3, 6 and 9 of ten fail."""
    config = {"items": 10, "failEvery": 3} | more
    job = await submit_noop(client, config=config)
    await bench.work()
    return job


async def test_a_priority_is_changed_told_and_audited(
    client: httpx2.AsyncClient, db: Database, woken: list[str]
) -> None:
    first, second = await submit_noop(client), await submit_noop(client)
    for given, number in ((7, 7), ("high", 10), ("low", 0), ("42", 42)):
        shown = shaped(FullJob, await set_priority(client, second, given))
        assert (shown.priority, shown.state) == (number, "queued")
    assert (await set_priority(client, second, 42)).status_code == 200
    assert (await events_of(client, second)).count("job.status") == 4
    *_, last = await audits(db)
    assert (last["action"], last["target"]) == ("job.priority", f"job:{second}")
    assert (last["before"], last["after"]) == ('{"priority": 0}', '{"priority": 42}')
    changes = [one for one in await audits(db) if one["action"] == "job.priority"]
    assert len(changes) == 4
    for wrong in (-1, 101, 1.5, "urgent", None, True):
        refused(await set_priority(client, first, wrong), 422, "INVALID_PARAMETERS")
    refused(await client.post(f"/api/jobs/{first}/priority"), 422, "INVALID_PARAMETERS")
    refused(
        await client.post(f"/api/jobs/{first}/priority", json={"priority": 1, "state": "done"}),
        422, "UNKNOWN_FIELD",
    )  # fmt: skip


async def test_the_higher_priority_is_served_first(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    first, second = await submit_noop(client, 200), await submit_noop(client, 200)
    await set_priority(client, second, "high")
    await bench.work(turns=1)
    assert (await bench.job(UUID(second)))["started_at"] is not None
    assert (await bench.job(UUID(first)))["started_at"] is None


async def test_an_ended_job_has_no_priority_to_change(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await submit_noop(client)
    await bench.work()
    refused(await set_priority(client, job, 1), 409, "INVALID_STATE")


async def test_failed_items_run_again(
    client: httpx2.AsyncClient, bench: Bench, db: Database, woken: list[str]
) -> None:
    job = await failed_job(client, bench)
    woken.clear()
    answer = await client.post(f"/api/jobs/{job}/reprocess")
    made = shaped(Reprocessed, answer)
    assert (made.reprocessed, made.left_out, made.operation_id) == (3, 0, None)
    assert "operationId" not in answer.json()
    assert (made.job.state, made.job.counters.pending, made.job.errors) == ("queued", 3, {})
    assert woken == ["standard"]
    *_, audit = await audits(db)
    assert (audit["action"], audit["target"]) == ("job.reprocess", f"job:{job}")
    told = {"scope": "job", "state": "queued", "resetAttempts": False}
    assert from_json(audit["after"]) == told
    await bench.work()
    shown = shaped(FullJob, await client.get(f"/api/jobs/{job}"))
    assert (shown.state, shown.errors) == ("done", {"VALIDATION_ERROR": 3})
    assert (await events_of(client, job)).count("job.queued") == 2


async def test_items_are_chosen(client: httpx2.AsyncClient, bench: Bench) -> None:
    job = await failed_job(client, bench)
    for order, reprocessed, left_out in (
        ({"itemIds": [3, 4, 99]}, 1, 2),
        ({"scope": "items", "statuses": ["ERROR"]}, 3, 0),
        ({"codes": ["VALIDATION_ERROR"]}, 3, 0),
        ({"codes": ["OTHER"]}, 0, 0),
        ({}, 2, 1),
        ({}, 0, 3),
        ({"resetAttempts": True}, 3, 0),
        ({"itemIds": [1, 2], "statuses": ["DONE"], "fromStart": True}, 2, 0),
    ):
        made = await again(client, job, **order)
        assert (made.reprocessed, made.left_out) == (reprocessed, left_out), order
        await bench.work()
    generations = [row["generation"] for row in await bench.items(UUID(job))]
    assert generations == [2, 2, 5, 1, 1, 5, 1, 1, 5, 1]


async def test_what_makes_no_sense_is_refused(client: httpx2.AsyncClient, bench: Bench) -> None:
    job = await failed_job(client, bench)
    address = f"/api/jobs/{job}/reprocess"
    for order in (
        {"scope": "items"},
        {"scope": "job", "itemIds": [1]},
        {"scope": "everything"},
        {"itemIds": [0]},
        {"itemIds": ["3"]},
        {"itemIds": list(range(1, 5002))},
        {"statuses": ["PENDING"]},
        {"codes": ["lower case"]},
        {"resetAttempts": "maybe"},
    ):
        refused(await client.post(address, json=order), 422, "INVALID_PARAMETERS")
    refused(await client.post(address, json={"generation": 3}), 422, "UNKNOWN_FIELD")
    refused(await client.post(address, content=b"{"), 400, "INVALID_JSON")
    refused(await client.post(address, content=b"[]"), 400, "INVALID_JSON")
    assert (await bench.job(UUID(job)))["generation"] == 1


async def test_a_cancelled_job_is_taken_up_again(client: httpx2.AsyncClient, bench: Bench) -> None:
    job = await submit_noop(client, 300)
    await bench.work(turns=2)
    assert (await client.post(f"/api/jobs/{job}/cancel")).status_code == 200
    made = await again(client, job)
    assert made.reprocessed + (made.job.counters.done) == made.job.counters.total
    await bench.work()
    shown = shaped(FullJob, await client.get(f"/api/jobs/{job}"))
    assert (shown.state, shown.counters.done) == ("done", 300)
    assert {item.status for item in await all_items(client, job, "")} == {"DONE"}


async def test_a_failed_job_answers_its_dead_letter(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await submit_noop(client, 5)
    async with bench.runtime.db.transaction() as conn:
        await fail(conn, UUID(job), ItemError("JOB_TIMEOUT", "too long"), None)
    assert (await again(client, job)).reprocessed == 5
    (letter,) = (await client.get("/api/dead-letters?state=reprocessed")).json()["items"]
    assert (letter["jobId"], letter["newJobId"]) == (job, job)
    assert (await client.get("/api/dead-letters/groups")).json()["items"] == []


async def test_of_a_large_job_an_operation_goes_on(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reprocess, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(reprocess, "CHUNK", 2)
    job = await failed_job(client, bench)
    whole = await again(client, job)
    assert (whole.reprocessed, whole.job.state) == (3, "queued")
    assert whole.operation_id is not None
    await bench.work()
    monkeypatch.setattr(control, "_REPROCESS_SECONDS", -1)
    answer = await client.post(f"/api/jobs/{job}/reprocess")
    made = shaped(Reprocessed, answer, 202)
    assert (made.reprocessed, made.job.state) == (2, "queued")
    problem = refused(await client.post(f"/api/jobs/{job}/reprocess"), 409, "INVALID_STATE")
    assert problem.error.details["operationId"] == str(made.operation_id)


async def test_colleagues_and_strangers_reprocess_nothing(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    job = await failed_job(client, bench)
    for stranger in (await caller("other"), await caller(email="colleague@acme")):
        refused(await stranger.post(f"/api/jobs/{job}/reprocess"), 404, "NOT_FOUND")
    viewer = await caller(role="viewer")
    refused(await viewer.post(f"/api/jobs/{job}/reprocess"), 403, "INSUFFICIENT_PERMISSIONS")
    admin = await caller("house", role="admin")
    assert (await again(admin, job)).reprocessed == 3


async def test_an_empty_list_of_rows_is_refused(client: httpx2.AsyncClient, bench: Bench) -> None:
    """A client that has nothing selected must not run all rows, or accept all that are held."""
    job = await failed_job(client, bench)
    for more in ({}, {"accept": True}):
        answer = await client.post(f"/api/jobs/{job}/reprocess", json={"itemIds": [], **more})
        told = refused(answer, 422, "INVALID_PARAMETERS")
        assert told.detail == "itemIds: must not be empty"
    order = {"select": {"itemIds": []}, "change": {"kind": "fillDown", "column": "a"}}
    refused(await client.post(f"/api/jobs/{job}/items/fix", json=order), 422, "INVALID_PARAMETERS")
