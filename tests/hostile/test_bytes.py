"""Bytes are bounded, not only counts: configs, rows, pages and exports."""

from __future__ import annotations

import httpx2
import orjson
import pytest
from tests.api.conftest import Caller, file_of, refused, submit_noop
from tests.fixtures import Bench

from penstock.pipelines.registry import PIPELINES
from penstock.settings import Settings
from penstock.store.catalog import catalog
from penstock.store.jobs import export, items

KIBIBYTE = 1024


@pytest.fixture
def settings(settings: Settings) -> Settings:
    changes = {"max_file_bytes": 20 * KIBIBYTE * KIBIBYTE, "max_row_bytes": 300 * KIBIBYTE}
    return settings.model_copy(update=changes)


async def test_a_config_is_bounded(client: httpx2.AsyncClient) -> None:
    config = {"mapping": {f"column {n}": "title" for n in range(4000)}}
    order = {"pipeline": "extraction", "config": config}
    answer = await client.post("/api/jobs", json=order)
    assert len(orjson.dumps(config)) > 64 * KIBIBYTE
    refused(answer, 422, "INVALID_CONFIG")
    assert "64" in answer.json()["detail"] or "65,536" in answer.json()["detail"]


@pytest.mark.parametrize(
    "config",
    [
        {"items": 5_000_000, "payloadBytes": 1024 * 1024},
        {"items": 5_000_000, "childrenPer": 1000},
        {"workMs": 1e300},
        {"groups": 10**12},
        {"failCode": "X" * 1000},
    ],
)
async def test_work_for_tests_is_bounded(
    client: httpx2.AsyncClient, config: dict[str, object]
) -> None:
    answer = await client.post("/api/jobs", json={"pipeline": "noop", "config": config})
    refused(answer, 422, "INVALID_CONFIG")


async def test_a_page_ends_at_a_number_of_bytes_and_loses_no_row(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    """60 rows of 256 KiB, with their results twice that."""
    job = await submit_noop(
        client, config={"items": 60, "payloadBytes": 256 * KIBIBYTE, "inline": False}
    )
    await bench.work()
    for filters in ({}, {"statuses": "DONE"}, {"sort": "-row"}, {"q": "xxx"}):
        seen: list[int] = []
        after = ""
        while after is not None:
            query = {"pageSize": "1000", "after": after, **filters}
            answer = await client.get(f"/api/jobs/{job}/items", params=query)
            assert len(answer.content) <= items.PAGE_BYTES + 2 * 256 * KIBIBYTE + 10_000
            page = answer.json()
            seen += [row["rowNo"] for row in page["items"]]
            after = page["next"]
        assert sorted(seen) == list(range(1, 61)), filters
        assert len(set(seen)) == len(seen)


async def test_an_export_reads_no_more_than_a_page_of_bytes_at_once(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PAGE_BYTES", 1024 * KIBIBYTE)
    config = {"items": 30, "payloadBytes": 256 * KIBIBYTE, "inline": False}
    job = await submit_noop(client, config=config)
    await bench.work()
    read: list[int] = []
    window = export.window

    async def watched(*args: object, **more: object) -> object:
        found = await window(*args, **more)  # type: ignore[arg-type]
        read.append(len(found[0]))
        return found

    monkeypatch.setattr(export, "window", watched)
    for query in ({"format": "ndjson"}, {"format": "ndjson", "statuses": "DONE"}):
        read.clear()
        answer = await client.post(f"/api/jobs/{job}/export", params=query)
        rows = [orjson.loads(line)["row"] for line in answer.content.splitlines()]
        assert rows == list(range(30))
        assert max(read) <= 5
        assert len(read) >= 6


async def test_a_row_that_is_too_large_fails_its_job_and_says_so(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    record = {f"field {n}": "x" * 10_000 for n in range(40)} | {"sku": "1"}
    files = file_of(orjson.dumps([record]), "one.json")
    made = await client.post("/api/jobs", files=files)
    await bench.work()
    job = (await client.get(made.headers["location"])).json()
    assert (job["state"], job["lastError"]["code"]) == ("failed", "ROW_TOO_LARGE")


async def test_products_are_exported_in_bounded_pieces(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "EXPORT_BYTES", 100 * KIBIBYTE)
    rows = [{"sku": f"S-{n}", "title": "Saw", "description": f"{n} " * 8000} for n in range(30)]
    merge = {"config": '{"intent": "merge"}'}
    await client.post("/api/jobs", files=file_of(orjson.dumps(rows), "saws.json"), data=merge)
    await bench.work()
    read: list[int] = []
    documents = catalog.documents

    async def watched(*args: object) -> object:
        found = await documents(*args)  # type: ignore[arg-type]
        read.append(len(found[0]))
        return found

    monkeypatch.setattr(catalog, "documents", watched)
    answer = await client.post("/api/products/export", params={"format": "ndjson"})
    skus = {orjson.loads(line)["identifiers"]["sku"] for line in answer.content.splitlines()}
    assert skus == {f"S-{n}" for n in range(30)}
    assert max(read) <= 15


async def test_a_preview_of_wide_rows_is_bounded(client: httpx2.AsyncClient) -> None:
    rows = [{"sku": str(n), "title": "Saw", "description": "x" * 100_000} for n in range(150)]
    files = file_of(orjson.dumps(rows), "wide.json")
    answer = await client.post("/api/jobs/preview", files=files)
    assert answer.status_code == 200
    assert len(answer.content) < 10 * KIBIBYTE * KIBIBYTE
    assert 10 < len(answer.json()["rows"]) < 30


class TestWithoutTestPipelines:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"test_pipelines": False})

    @pytest.mark.parametrize("role", ["member", "admin"])
    async def test_noop_and_standing_jobs_are_not_submitted(
        self, caller: Caller, role: str
    ) -> None:
        client = await caller(role=role)
        for config in ({}, {"standing": True}):
            answer = await client.post("/api/jobs", json={"pipeline": "noop", "config": config})
            problem = refused(answer, 422, "INVALID_PARAMETERS")
            offered = {one.name for one in PIPELINES if not one.internal}
            assert problem.detail.endswith(f"Known: {', '.join(sorted({*offered, 'gate'}))}.")
            assert "noop" not in offered
