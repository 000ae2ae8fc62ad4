"""A file whose columns name no product is stopped with a question, never imported."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from tests.api.conftest import file_of, refused, shaped
from tests.extraction.support import send_file
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob, Preview
from penstock.settings import Settings
from penstock.store.database import from_json, to_json

NAMELESS = b"Wotsit;Frobz;Price\nred hammer;X-1;9.90 EUR\nblue saw;X-2;5.00 EUR\n" + b"".join(
    b"thing number %d;X-%d;1.00 EUR\n" % (n, n) for n in range(3, 60)
)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"submit_look_seconds": 30})


@pytest.mark.parametrize("intent", ["check", "merge"])
async def test_submit_asks_and_keeps_nothing(
    client: httpx2.AsyncClient, bench: Bench, intent: str
) -> None:
    form = {"config": to_json({"intent": intent})}
    answer = await client.post("/api/jobs", files=file_of(NAMELESS), data=form)
    refused(answer, 422, "MAPPING_NEEDED")
    found = answer.json()["error"]["details"]["candidates"]
    assert {one["column"]: one["suggested"] for one in found} == {
        "Wotsit": "title", "Frobz": "sku",
    }  # fmt: skip
    assert found[0]["samples"]
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 0
        assert await conn.fetchval("SELECT count(*) FROM files") == 0
    form = {"config": to_json({"intent": intent, "mapping": {"Wotsit": "title", "Frobz": "sku"}})}
    answer = await client.post("/api/jobs", files=file_of(NAMELESS), data=form)
    assert answer.status_code == 202


async def test_submit_asks_for_a_file_that_was_uploaded_before(
    client: httpx2.AsyncClient,
) -> None:
    looked = shaped(Preview, await client.post("/api/jobs/preview", files=file_of(NAMELESS)))
    [asked] = looked.questions
    assert asked["code"] == "MAPPING_NEEDED"
    assert {one["column"] for one in asked["candidates"]} == {"Wotsit", "Frobz"}
    body: dict[str, Any] = {"fileId": str(looked.file_id)}
    refused(await client.post("/api/jobs", json=body), 422, "MAPPING_NEEDED")
    refused(await client.post("/api/extraction/jobs", json={"uploadId": str(looked.file_id)}), 422,
            "MAPPING_NEEDED")  # fmt: skip
    body["config"] = {"mapping": {"Frobz": "sku"}}
    answered = shaped(Preview, await client.post("/api/jobs/preview", json=body))
    assert [(one["target"], one["optional"]) for one in answered.questions] == [("title", True)]
    assert (await client.post("/api/jobs", json=body)).status_code == 202


async def test_a_job_that_began_without_the_question_fails_and_can_be_remapped(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job_id = await send_file(bench, NAMELESS, intent="merge")
    await bench.work(job_id)
    row = await bench.job(job_id)
    assert row["state"] == "failed"
    error = from_json(row["last_error"])
    assert error["code"] == "MAPPING_NEEDED"
    assert {one["column"] for one in error["details"]["candidates"]} == {"Wotsit", "Frobz"}
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM products") == 0
        assert await conn.fetchval("SELECT code FROM dead_letters") == "MAPPING_NEEDED"
    config = {"mapping": {"Wotsit": "title", "Frobz": "sku"}}
    made = await client.post(f"/api/jobs/{job_id}/remap", json={"config": config})
    assert made.status_code in (200, 202), made.text
    await bench.work(job_id)
    job = shaped(FullJob, await client.get(f"/api/jobs/{job_id}"))
    assert (job.state, job.counters.done, job.counters.error) == ("done", 59, 0)


async def test_a_title_or_an_identifier_is_enough(client: httpx2.AsyncClient) -> None:
    for head in (b"Title;Price", b"SKU;Price", b"EAN;Price", b"MPN;Price"):
        content = head + b"\n4006381333931;1.00 EUR\n"
        assert (await client.post("/api/jobs", files=file_of(content))).status_code == 202, head


async def test_a_saved_profile_answers_the_question(client: httpx2.AsyncClient) -> None:
    columns = {"Wotsit": "title", "Frobz": "sku", "Price": "price"}
    saved = await client.put("/api/profiles/odd", json={"columns": columns})
    assert saved.status_code == 200, saved.text
    assert (await client.post("/api/jobs", files=file_of(NAMELESS))).status_code == 202


async def test_the_same_key_is_answered_as_before(client: httpx2.AsyncClient) -> None:
    config = to_json({"mapping": {"Frobz": "sku"}})
    headers = {"Idempotency-Key": "once"}
    first = await client.post(
        "/api/jobs", files=file_of(NAMELESS), data={"config": config}, headers=headers
    )
    again = await client.post(
        "/api/jobs", files=file_of(NAMELESS), data={"config": config}, headers=headers
    )
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["jobId"] == again.json()["jobId"]
