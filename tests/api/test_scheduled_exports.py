"""Schedules that send exports to a watched place or a URL, and that scan a place."""

from __future__ import annotations

import base64
import csv
import hmac
import io
import os
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import orjson
import pytest
from tests.api.conftest import CSV, refused, shaped
from tests.api.test_products import TOOLS, applied
from tests.fixtures import Bench
from tests.guards.servers import Seen, answering, serving
from tests.places.servers import KEYS, USER, all_places, ftp_server, s3_server, sftp_server
from tests.places.servers import place as place_of

from penstock.api.schedules.schemas import FullSchedule, ScheduleRunShape
from penstock.app.schedules.service import Scheduler, SchedulerConfig
from penstock.engine.runtime import Runtime
from penstock.guards.fetch import Fetcher
from penstock.model.network.addresses import parse_exempt
from penstock.model.network.fetching import FetchPurpose
from penstock.model.places.ports import PlaceKind
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.wiring import with_exports

pytestmark = pytest.mark.slow


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.fixture
def settings(settings: Settings, place: Path) -> Settings:
    return settings.model_copy(
        update={
            "watch_roots": (str(place),),
            "watch_settle_ms": 5000,
            "watch_allow": "127.0.0.1",
        }
    )


@pytest.fixture
async def runtime(runtime: Runtime) -> AsyncIterator[Runtime]:
    """One that may send to this machine."""
    fetcher = Fetcher(parse_exempt("127.0.0.1/32"))
    fetchers = {**runtime.fetchers, FetchPurpose.WEBHOOK: fetcher}
    yield with_exports(replace(runtime, fetchers=fetchers))
    await fetcher.close()


async def watcher(client: httpx2.AsyncClient, place: Path) -> str:
    order = {
        "name": "Place", "kind": "folder", "address": str(place), "pattern": "*.in.csv",
        "job": {"pipeline": "extraction", "config": {"intent": "merge"}},
    }  # fmt: skip
    made = await client.post("/api/watchers", json=order)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def create(client: httpx2.AsyncClient, action: dict[str, Any]) -> FullSchedule:
    order = {"name": f"Export {time.monotonic()}", "cron": "@daily", "action": action}
    return shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)


async def run(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime, schedule: FullSchedule
) -> ScheduleRunShape:
    await client.post(f"/api/schedules/{schedule.id}/run")
    service = Scheduler(runtime, SchedulerConfig(wait_seconds=20))
    await service.run_once()
    await Bench(runtime, bench.who).work()
    await service.run_once()
    found = shaped(FullSchedule, await client.get(f"/api/schedules/{schedule.id}"))
    return found.runs[0]


async def test_products_and_results_go_to_a_place(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime, place: Path
) -> None:
    job_id = await applied(client, bench, TOOLS)
    to = {"watcherId": await watcher(client, place)}
    for format_name in ("csv", "xlsx", "json", "ndjson"):
        action = {
            "kind": "export",
            "format": format_name,
            "fileName": f"all.{format_name}",
            "to": to,
        }
        made = await create(client, action)
        ended = await run(client, bench, runtime, made)
        assert ended.state == "done", ended.error
        written = (place / f"all.{format_name}").read_bytes()
        asked = await client.post("/api/products/export", params={"format": format_name})
        if format_name != "xlsx":
            assert written == asked.content
        assert written[:2] == asked.content[:2]
    rows = list(csv.DictReader(io.StringIO((place / "all.csv").read_text("utf-8-sig"))))
    assert {row["sku"] for row in rows} == {"T-1", "T-2", "T-3"}
    made = await create(
        client, {"kind": "export", "what": "job", "jobId": job_id, "to": to, "format": "ndjson"}
    )
    assert (await run(client, bench, runtime, made)).state == "done"
    [name] = [one for one in os.listdir(place) if one.startswith("job-")]
    lines = (place / name).read_bytes().splitlines()
    assert [orjson.loads(line)["sku"] for line in lines] == ["T-1", "T-2", "T-3"]
    for what in ({}, {"what": "job", "jobId": job_id}):
        made = await create(client, {"kind": "export", "format": "shopify", "to": to, **what})
        assert (await run(client, bench, runtime, made)).state == "done"
    for start in ("products-shopify-", "job-shopify-"):
        [name] = [one for one in os.listdir(place) if one.startswith(start)]
        assert name.endswith(".csv")
        rows = list(csv.DictReader(io.StringIO((place / name).read_text(), newline="")))
        assert sorted(row["Variant SKU"] for row in rows) == ["T-1", "T-2", "T-3"]
    # Its own watcher would take this one.
    loop = {"kind": "export", "to": to, "fileName": "{date}.in.csv"}
    order = {"name": "Loop", "cron": "@daily", "action": loop}
    problem = refused(await client.post("/api/schedules", json=order), 422, "INVALID_PARAMETERS")
    assert "would take" in problem.detail


@pytest.mark.parametrize("kind", ["s3", "sftp", "ftp"])
async def test_products_go_to_servers(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime, tmp_path: Path, kind: str
) -> None:
    await applied(client, bench, TOOLS)
    async with AsyncExitStack() as stack:
        if kind == "s3":
            endpoint = stack.enter_context(s3_server())
            httpx2.put(f"{endpoint}/goods").raise_for_status()
            address, credentials = f"s3://goods/out?endpoint={endpoint}", KEYS
        else:
            (tmp_path / "served" / "out").mkdir(parents=True)
            port = (
                await stack.enter_async_context(sftp_server(tmp_path / "served"))
                if kind == "sftp"
                else stack.enter_context(ftp_server(tmp_path / "served"))
            )
            address, credentials = f"{kind}://127.0.0.1:{port}/out", USER
        order = {"name": kind, "kind": kind, "address": address, "credentials": credentials}
        made = await client.post("/api/watchers", json=order | {"pattern": "*.in.csv"})
        assert made.status_code == 201, made.text
        to = {"watcherId": made.json()["id"]}
        action = {"kind": "export", "format": "csv", "fileName": "new/all.csv", "to": to}
        for _ in range(2):
            ended = await run(client, bench, runtime, await create(client, action))
            assert ended.state == "done", ended.error
        if kind == "s3":
            opened = all_places().open(place_of(PlaceKind.S3, address, **KEYS))
            async with opened as there:
                file = await there.find("new/all.csv")
                assert file is not None
                written = b"".join([piece async for piece in there.read(file)])
        else:
            written = (tmp_path / "served" / "out" / "new" / "all.csv").read_bytes()
            assert os.listdir(tmp_path / "served" / "out" / "new") == ["all.csv"]
    assert written == (await client.post("/api/products/export")).content


async def test_an_export_to_a_url_is_signed_and_its_failure_counts(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime
) -> None:
    await applied(client, bench, TOOLS)
    secret = (await client.post("/api/webhooks/request-secret", json={})).json()["secret"]
    async with serving(answering("200 OK")) as seen:
        to = {"url": f"http://127.0.0.1:{seen.port}/upload", "method": "PUT"}
        made = await create(client, {"kind": "export", "to": to})
        ended = await run(client, bench, runtime, made)
        assert ended.state == "done", ended.error
        headers, body = _request(seen)
    assert body.startswith(b"\xef\xbb\xbf") or b"sku" in body
    told = headers["webhook-signature"].removeprefix("v1,")
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    assert base64.b64decode(told) == hmac.digest(key, signed, "sha256")
    async with serving(answering("403 Forbidden")) as seen:
        to = {"url": f"http://127.0.0.1:{seen.port}/upload"}
        made = await create(client, {"kind": "export", "to": to})
        ended = await run(client, bench, runtime, made)
    assert ended.state == "failed"
    assert ended.error is not None
    assert (ended.error.code, "403" in ended.error.message) == ("URL_REFUSED", True)


def _request(seen: Seen) -> tuple[dict[str, str], bytes]:
    head, _, body = seen.requests[-1].partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    assert lines[0].startswith("PUT /upload")
    return {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}, body


async def test_a_scan_takes_new_files(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime, place: Path, db: Database
) -> None:
    watcher_id = await watcher(client, place)
    made = await create(client, {"kind": "scan", "watcherId": watcher_id})
    path = place / "goods.in.csv"
    path.write_bytes(CSV)
    os.utime(path, (time.time() - 60, time.time() - 60))
    assert (await run(client, bench, runtime, made)).state == "done"
    async with db.acquire() as conn:
        await conn.execute(
            "UPDATE watched_files SET first_seen_at = first_seen_at - interval '1 hour'"
        )
    ended = await run(client, bench, runtime, made)
    assert (ended.state, ended.job_id) == ("done", None)
    listed = (await client.get("/api/jobs")).json()["items"]
    assert [(one["name"], one["state"]) for one in listed] == [("goods.in.csv", "done")]
    unknown = {"kind": "scan", "watcherId": "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d"}
    order = {"name": "Unknown", "cron": "@daily", "action": unknown}
    refused(await client.post("/api/schedules", json=order), 404, "NOT_FOUND")
