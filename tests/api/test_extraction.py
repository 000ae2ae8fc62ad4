"""Extraction jobs in the words of their older calls."""

from __future__ import annotations

import httpx2
from tests.api.conftest import file_of, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.extraction_schemas import ExtractionJob
from penstock.api.jobs.schemas import Receipt


async def test_a_job_from_upload_to_result(client: httpx2.AsyncClient, bench: Bench) -> None:
    upload = (await client.post("/api/files", files=file_of())).json()["id"]
    order = {"uploadId": upload, "priority": 10, "config": {"intent": "check"}}
    made = shaped(Receipt, await client.post("/api/extraction/jobs", json=order), 202)
    path = f"/api/extraction/jobs/{made.job_id}"
    queued = shaped(ExtractionJob, await client.get(path))
    assert (queued.status, queued.priority, str(queued.upload_id)) == ("queued", 10, upload)
    await bench.work()
    done = shaped(ExtractionJob, await client.get(path))
    assert (done.status, done.progress.percent_complete, done.progress.rows_total) == (
        *("completed", 100),
        2,
    )
    assert done.result_ref is not None
    assert (await client.get(done.result_ref)).status_code == 200


async def test_a_form_does_as_well(client: httpx2.AsyncClient, bench: Bench) -> None:
    form = {"config": '{"mapping": {"Preis": "price"}}'}
    answer = await client.post("/api/extraction/jobs", data=form, files=file_of())
    made = shaped(Receipt, answer, 202)
    await bench.work()
    failed = shaped(ExtractionJob, await client.get(f"/api/extraction/jobs/{made.job_id}"))
    assert failed.status == "failed"
    assert failed.error is not None
    assert failed.error.code == "INVALID_CONFIG"


async def test_other_jobs_are_none_of_these(client: httpx2.AsyncClient) -> None:
    job = await submit_noop(client)
    refused(await client.get(f"/api/extraction/jobs/{job}"), 404, "NOT_FOUND")
    other = {"pipeline": "noop"}
    refused(await client.post("/api/extraction/jobs", json=other), 422, "UNKNOWN_FIELD")
