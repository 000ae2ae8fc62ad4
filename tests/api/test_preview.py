"""A preview shows what a job would do, and writes nothing but the file."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import httpx2
import openpyxl
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob, Preview
from penstock.guards.concurrency import Work
from penstock.settings import Settings
from penstock.store.database import to_json

GOODS = b"Artikelnr;Bezeichnung;Preis\nA-1;Hammer;9,90\nA-2;;abc\nA-1;Hammer again;1,00\n"


async def test_a_preview_and_then_the_job(client: httpx2.AsyncClient, bench: Bench) -> None:
    answer = await client.post("/api/jobs/preview", files=file_of(GOODS))
    shown = shaped(Preview, answer)
    assert {one["column"]: one["target"] for one in shown.mapping} == {
        "Artikelnr": "identifiers.sku", "Bezeichnung": "title", "Preis": "price.amount",
    }  # fmt: skip
    assert shown.rows[0].cells == ["A-1", "Hammer", "9,90"]
    assert [row.verdict for row in shown.rows] == ["valid", "invalid", "valid"]
    assert (shown.rows[2].match, shown.rows[2].duplicate_of) == ("duplicate", 1)
    assert shown.summary["duplicatesEstimate"] == 1
    assert shown.columns[-1] == "match"
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 0
        assert await conn.fetchval("SELECT count(*) FROM products") == 0
    made = await client.post("/api/jobs", json={"fileId": str(shown.file_id)})
    await bench.work()
    job = shaped(FullJob, await client.get(made.headers["location"]))
    assert job.header == ["Artikelnr", "Bezeichnung", "Preis"]
    assert job.columns == shown.columns
    assert job.mapping == shown.mapping
    counters = job.counters
    assert (counters.done, counters.error, counters.skipped) == (1, 1, 1)
    assert job.summary is not None
    assert (job.summary["new"], job.summary["duplicates"]) == (1, 1)
    [price] = [one for one in job.summary["columns"] if one["column"] == "Preis"]
    assert 2 in {one["example"]["rowNo"] for one in price["problems"]}


async def test_a_preview_follows_the_config(client: httpx2.AsyncClient) -> None:
    config = {"config": '{"mapping": {"Preis": null}}'}
    shown = shaped(
        Preview, await client.post("/api/jobs/preview", files=file_of(GOODS), data=config)
    )
    assert {one["column"]: one["target"] for one in shown.mapping}["Preis"] is None
    again = await client.post(
        "/api/jobs/preview", json={"fileId": str(shown.file_id), "config": {"decimal": "comma"}}
    )
    assert shaped(Preview, again).rows[0].result == {
        "sourceId": "A-1", "sku": "A-1", "title": "Hammer", "price": "9.90",
        "unit": "piece",
    }  # fmt: skip


async def test_parts_of_a_product_are_counted_as_the_job_will(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    goods = (
        b"Handle,Title,Variant SKU,Option1 Name,Option1 Value,Variant Price\n"
        b"cap,Cap,C-1,Size,S,9.00\ncap,,C-2,Size,M,9.00\nmug,Mug,M-1,Size,L,5.00\n"
    )
    shown = shaped(Preview, await client.post("/api/jobs/preview", files=file_of(goods)))
    assert [(row.match, row.part_of) for row in shown.rows] == [
        ("new", None), ("part", 1), ("new", None),
    ]  # fmt: skip
    assert (shown.summary["new"], shown.summary["part"]) == (2, 1)
    made = await client.post("/api/jobs", json={"fileId": str(shown.file_id)})
    await bench.work()
    job = shaped(FullJob, await client.get(made.headers["location"]))
    assert job.summary is not None
    assert job.summary["new"] == 2


async def test_rows_that_name_no_product_are_told_before_and_after(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    letter = file_of(b"Dear customer\nplease find the list attached\nKind regards\n")
    titled = {"mapping": {"Dear customer": "title"}}
    check = {"config": to_json(titled)}
    checked = shaped(Preview, await client.post("/api/jobs/preview", files=letter, data=check))
    assert checked.summary["valid"] == 2
    assert any("which product a row is" in note for note in checked.notes)
    create = {"config": to_json({"intent": "create", **titled})}
    shown = shaped(Preview, await client.post("/api/jobs/preview", files=letter, data=create))
    assert [row.verdict for row in shown.rows] == ["invalid", "invalid"]
    assert shown.summary["problems"] == {"REQUIRED_MISSING": 2}
    made = await client.post("/api/jobs", files=letter, data=create)
    await bench.work()
    job = shaped(FullJob, await client.get(made.headers["location"]))
    assert job.counters.error == 2
    assert job.summary is not None
    [problem] = job.summary["problems"]
    assert (problem["code"], problem["count"], problem["severity"]) == (
        "REQUIRED_MISSING", 2, "error",
    )  # fmt: skip


async def test_a_workbook_with_a_header_alone_has_nothing_to_show(
    client: httpx2.AsyncClient,
) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].append(["SKU", "Title"])
    kept = io.BytesIO()
    book.save(kept)
    answer = await client.post("/api/jobs/preview", files=file_of(kept.getvalue(), "list.xlsx"))
    refused(answer, 422, "NO_ROWS")


async def test_what_no_job_could_be_made_of_has_no_preview(caller: Caller) -> None:
    client, other = await caller(), await caller("other")
    refused(await client.post("/api/jobs/preview", files=file_of(b"")), 422, "EMPTY_FILE")
    bad = {"config": '{"mapping": {"Preis": "nonsense"}}'}
    refused(
        await client.post("/api/jobs/preview", files=file_of(GOODS), data=bad),
        422, "INVALID_CONFIG",
    )  # fmt: skip
    refused(
        await client.post("/api/jobs/preview", json={"pipeline": "noop"}), 422, "INVALID_PARAMETERS"
    )
    shown = shaped(Preview, await client.post("/api/jobs/preview", files=file_of(GOODS)))
    theirs = await other.post("/api/jobs/preview", json={"fileId": str(shown.file_id)})
    refused(theirs, 404, "FILE_NOT_FOUND")


async def test_an_import_is_applied_and_undone(client: httpx2.AsyncClient, bench: Bench) -> None:
    config = {"config": '{"intent": "merge"}'}
    made = await client.post("/api/jobs", files=file_of(), data=config)
    await bench.work()
    async with bench.runtime.db.acquire() as conn:
        titles = await conn.fetch("SELECT data->>'title' AS title FROM products ORDER BY sku")
    assert [row["title"] for row in titles] == ["Hammer", "=Nail"]
    answer = await client.post(f"{made.headers['location']}/undo")
    assert (answer.json()["deleted"], answer.json()["refusedCount"]) == (2, 0)
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM products") == 0


def quick(bench: Bench, seconds: float) -> Settings:
    return bench.runtime.settings.model_copy(update={"preview_seconds": seconds})


async def test_previews_wait_for_their_turn_but_not_for_ever(
    client: httpx2.AsyncClient, bench: Bench, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One at a time, three in line, the fifth is refused; a long wait is refused, too."""
    turns = app.state.api.turns
    one_at_a_time = Work("preview", 1, 1, 2, waiting_per_org=3, wait_s=0.5)
    monkeypatch.setitem(turns._kinds, "preview", one_at_a_time)
    monkeypatch.setitem(bench.runtime.__dict__, "settings", quick(bench, 1.5))
    inside = asyncio.Event()
    leave = asyncio.Event()

    async def slow(self: Any, job: Any, ctx: Any) -> dict[str, Any]:
        inside.set()
        await leave.wait()
        return {}

    monkeypatch.setattr("penstock.pipelines.extraction.pipeline.Extraction.preview", slow)

    async def asked() -> httpx2.Response:
        return await client.post("/api/jobs/preview", files=file_of(GOODS))

    tasks = [asyncio.create_task(asked())]
    await inside.wait()
    tasks += [asyncio.create_task(asked()) for _ in range(5)]
    answers = await asyncio.gather(*tasks)
    codes = sorted(answer.json()["error"]["code"] for answer in answers)
    assert codes == ["PREVIEW_TIMEOUT"] + ["TOO_MANY_AT_ONCE"] * 5
    for answer in answers:
        if answer.json()["error"]["code"] == "TOO_MANY_AT_ONCE":
            refused(answer, 429, "TOO_MANY_AT_ONCE")
            assert int(answer.headers["retry-after"]) > 0
        else:
            refused(answer, 504, "PREVIEW_TIMEOUT")


async def test_a_preview_that_takes_too_long_leaves_no_child_behind(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(bench.runtime.__dict__, "settings", quick(bench, 0.001))
    refused(await client.post("/api/jobs/preview", files=file_of(GOODS)), 504, "PREVIEW_TIMEOUT")
    monkeypatch.undo()
    shaped(Preview, await client.post("/api/jobs/preview", files=file_of(GOODS)))
