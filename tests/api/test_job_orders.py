"""What a job may be asked for with: a time to begin, and several files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from uuid import uuid4

import httpx2
import pytest
from tests.api.conftest import file_of, refused
from tests.fixtures import Bench

from penstock.engine.runtime import Runtime
from penstock.model.outcomes import Done
from penstock.model.pipeline import Config, Item, Job, Pipeline, Row, RowBatch, Stage, each
from penstock.model.ports import Context


class ManyFiles(Pipeline):
    """One row for each of its files."""

    name: ClassVar[str] = "many-files"
    Config: ClassVar[type[Config]] = Config
    needs_file: ClassVar[bool] = True
    max_files: ClassVar[int] = 3

    def stages(self, config: Any) -> tuple[Stage, ...]:
        async def show(item: Item, ctx: Context) -> Done:
            return Done({"name": item.input})

        return (Stage("show", run=each(show)),)

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        if cursor is None:
            yield RowBatch([Row(file.name) for file in job.files], {"read": True})


@pytest.fixture
def many_files(runtime: Runtime) -> None:
    assert isinstance(runtime.pipelines, dict)
    runtime.pipelines["many-files"] = ManyFiles()


async def uploaded(client: httpx2.AsyncClient, name: str) -> str:
    answer = await client.post("/api/files", files=file_of(name.encode(), name))
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def test_a_job_begins_when_it_is_asked_to(client: httpx2.AsyncClient, bench: Bench) -> None:
    due = datetime.now(UTC) + timedelta(hours=1)
    body = {"pipeline": "noop", "config": {"items": 1}, "dueAt": due.isoformat()}
    answer = await client.post("/api/jobs", json=body)
    assert answer.status_code == 202, answer.text
    job = answer.json()["jobId"]
    assert 3_500_000 < answer.json()["estimatedWaitMs"] <= 3_600_000
    await bench.work()
    shown = (await client.get(f"/api/jobs/{job}")).json()
    assert shown["state"] == "delayed"
    assert datetime.fromisoformat(answer.json()["delayedUntil"]) == due
    assert datetime.fromisoformat(shown["dueAt"]) == due
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE jobs SET ready_at = now() WHERE id::text = $1", job)
        await conn.execute("UPDATE job_stages SET ready_at = now() WHERE job_id::text = $1", job)
    await bench.work()
    assert (await client.get(f"/api/jobs/{job}")).json()["state"] == "done"


async def test_a_form_may_say_when_to_begin(client: httpx2.AsyncClient) -> None:
    due = datetime.now(UTC) + timedelta(hours=1)
    answer = await client.post(
        "/api/jobs",
        files=file_of(b"sku,title\n1,Nail\n"),
        data={"dueAt": due.isoformat(), "priority": "high"},
    )
    assert answer.status_code == 202, answer.text
    assert datetime.fromisoformat(answer.json()["delayedUntil"]) == due


@pytest.mark.parametrize(
    ("due", "says"),
    [("2500-01-01T00:00:00Z", "within a year"), ("tomorrow", "dueAt"),
     ("2030-01-01T08:00", "dueAt"),
     (5, "dueAt")],
)  # fmt: skip
async def test_a_time_that_cannot_be(client: httpx2.AsyncClient, due: Any, says: str) -> None:
    body = {"pipeline": "noop", "config": {"items": 1}, "dueAt": due}
    answer = await client.post("/api/jobs", json=body)
    refused(answer, 422, "INVALID_PARAMETERS")
    assert says in answer.text


async def test_a_job_of_several_files(
    client: httpx2.AsyncClient, bench: Bench, many_files: None
) -> None:
    ids = [await uploaded(client, name) for name in ("b.txt", "a.txt", "c.txt")]
    body = {"pipeline": "many-files", "fileIds": ids}
    answer = await client.post("/api/jobs", json=body)
    assert answer.status_code == 202, answer.text
    job = answer.json()["jobId"]
    again = (await client.post(f"/api/jobs/{job}/clone", json={})).json()["jobId"]
    await bench.work()
    for one in (job, again):
        items = (await client.get(f"/api/jobs/{one}/items")).json()["items"]
        assert [item["result"]["name"] for item in items] == ["b.txt", "a.txt", "c.txt"]


async def test_more_files_than_a_pipeline_takes(
    client: httpx2.AsyncClient, many_files: None
) -> None:
    ids = [await uploaded(client, f"{n}.txt") for n in range(4)]
    answer = await client.post("/api/jobs", json={"pipeline": "many-files", "fileIds": ids})
    refused(answer, 422, "INVALID_PARAMETERS")
    assert "takes 3 of your 4 files" in answer.text
    ids = [ids[0], str(uuid4())]
    answer = await client.post("/api/jobs", json={"pipeline": "many-files", "fileIds": ids})
    refused(answer, 404, "FILE_NOT_FOUND")
    answer = await client.post("/api/jobs", json={"pipeline": "many-files", "fileIds": ids[:1] * 2})
    refused(answer, 422, "INVALID_PARAMETERS")
    assert "names a file twice" in answer.text
