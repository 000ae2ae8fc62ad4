"""Jobs of a file on the web: fetched under guard, as a whole or not at all."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx2
import pytest
from tests.api.conftest import CSV, MAX_FILE_BYTES, Caller, client_of, refused
from tests.api.test_files import files_on_disk, rows_of
from tests.fixtures import Bench
from tests.guards.servers import Handle, Seen, answering, serving

from penstock.api.app import create_app
from penstock.engine.runtime import Runtime
from penstock.guards.fetch import Fetcher
from penstock.model.network.addresses import parse_exempt
from penstock.model.network.fetching import FetchPurpose
from penstock.settings import Settings
from penstock.store.database import Database

_KEY = {"Idempotency-Key": "one"}


@pytest.fixture
async def near(
    runtime: Runtime, api_db: Database, client: httpx2.AsyncClient
) -> AsyncIterator[httpx2.AsyncClient]:
    """A caller of a server that may fetch from this machine, and waits for half a second."""
    fetcher = Fetcher(parse_exempt("127.0.0.1/32"))
    settings = runtime.settings.model_copy(update={"import_url_ms": 500})
    app = create_app(
        replace(
            runtime, settings=settings, fetchers={**runtime.fetchers, FetchPurpose.FILE: fetcher}
        ),
        api_db,
    )
    yield client_of(app, client.headers["authorization"].removeprefix("Bearer "))
    await fetcher.close()


def at(seen: Seen, path: str = "/goods.csv") -> str:
    return f"http://127.0.0.1:{seen.port}{path}"


async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def broken(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nsku,title\n1,Ham")
    await writer.drain()


def inward(request: bytes, writer: asyncio.StreamWriter) -> asyncio.Future[None]:
    return answering("302 Found", "Location: http://169.254.169.254/latest\r\n", b"")(
        request, writer
    )  # type: ignore[return-value]


def with_header(header: str, body: bytes = CSV) -> Handle:
    return answering(headers=f"{header}\r\n", body=body)


async def test_a_job_of_a_url(
    near: httpx2.AsyncClient, bench: Bench, db: Database, settings: Settings
) -> None:
    async with serving(answering(body=CSV)) as seen:
        asked = {"url": at(seen, "/list/goods.csv?token=canary-secret")}
        answer = await near.post("/api/jobs", json=asked)
        assert answer.status_code == 202, answer.text
        shown = await near.post("/api/jobs/preview", json=asked)
        assert (shown.json()["rowsSampled"], seen.connections) == (2, 2)
    await bench.work()
    job = (await near.get(answer.headers["location"])).json()
    assert (job["state"], job["counters"]["total"], job["file"]["name"]) == ("done", 2, "goods.csv")
    async with db.acquire() as conn:
        told = await conn.fetchval("SELECT after::text FROM audit WHERE action = 'file.create'")
    assert '"127.0.0.1"' in told
    assert "canary" not in told


@pytest.mark.parametrize(
    ("handle", "status", "code"),
    [
        (answering("404 Not Found"), 404, "FILE_NOT_FOUND"),
        (answering("401 Unauthorized"), 422, "URL_REFUSED"),
        (answering("503 Service Unavailable", "Retry-After: 7\r\n"), 424, "URL_UNREACHABLE"),
        (silent, 424, "URL_UNREACHABLE"),
        (broken, 424, "URL_UNREACHABLE"),
        (inward, 422, "URL_NOT_ALLOWED"),
        (answering(body=b"x" * (MAX_FILE_BYTES + 1)), 413, "FILE_TOO_LARGE"),
        # Small on its way, large once it is here.
        (with_header("Content-Encoding: gzip", gzip.compress(bytes(10**7))), 413, "FILE_TOO_LARGE"),
        (with_header("Content-Disposition: attachment; filename=a.png"), 415, "UNSUPPORTED_TYPE"),
        (answering(body=b""), 422, "EMPTY_FILE"),
    ],
)
async def test_of_a_file_that_does_not_come_nothing_stays(
    near: httpx2.AsyncClient,
    handle: Handle,
    status: int,
    code: str,
    settings: Settings,
    db: Database,
) -> None:
    async with serving(handle) as seen:
        answer = await near.post("/api/jobs", json={"url": at(seen)})
    told = refused(answer, status, code)
    assert (answer.headers.get("retry-after") == "7") == ("503" in told.detail)
    assert files_on_disk(settings) == []
    assert (await rows_of(db, "files"), await rows_of(db, "jobs")) == (0, 0)


async def test_nobody_answers(near: httpx2.AsyncClient) -> None:
    async with serving(answering()) as seen:
        pass
    refused(await near.post("/api/jobs", json={"url": at(seen)}), 424, "URL_UNREACHABLE")


async def test_urls_that_lead_inside_reach_nothing(client: httpx2.AsyncClient) -> None:
    async with serving(answering(body=CSV)) as seen:
        for url in (
            at(seen),
            f"http://localhost:{seen.port}/",
            f"http://[::1]:{seen.port}/",
            f"http://2130706433:{seen.port}/",
            "file:///etc/passwd",
            "ftp://supplier.example/goods.csv",
            "http://good.example@127.0.0.1/",
            "not a url",
        ):
            for call in ("/api/jobs", "/api/jobs/preview"):
                refused(await client.post(call, json={"url": url}), 422, "URL_NOT_ALLOWED")
        assert seen.connections == 0


async def test_one_file_at_a_time(client: httpx2.AsyncClient, caller: Caller) -> None:
    both = {"url": "https://supplier.example/x.csv", "path": "x.csv"}
    refused(await client.post("/api/jobs", json=both), 422, "INVALID_PARAMETERS")
    form = await client.post("/api/jobs", data={"url": "https://x.example"}, files={"file": CSV})
    refused(form, 422, "UNKNOWN_FIELD")
    viewer = await caller(role="viewer")
    answer = await viewer.post("/api/jobs", json={"url": "http://127.0.0.1/"})
    refused(answer, 403, "INSUFFICIENT_PERMISSIONS")


async def test_a_url_asked_for_again_is_not_fetched_again(near: httpx2.AsyncClient) -> None:
    """By then something else may be behind it, or nothing."""
    async with serving(answering(body=CSV)) as seen:
        first = await near.post("/api/jobs", json={"url": at(seen)}, headers=_KEY)
        other = await near.post("/api/jobs", json={"url": at(seen, "/other")}, headers=_KEY)
    again = await near.post("/api/jobs", json={"url": at(seen)}, headers=_KEY)
    assert (first.status_code, again.status_code) == (202, 202)
    assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
    refused(other, 422, "IDEMPOTENCY_MISMATCH")
    assert seen.connections == 1


@pytest.mark.parametrize(
    ("path", "header", "name"),
    [
        ("/", "X-Nothing: 1", "127.0.0.1"),
        ("/a%2Fb%00%2e.csv", "X-Nothing: 1", "a_b_..csv"),
        ("/get", 'Content-Disposition: inline; filename="../../prices.csv"', ".._.._prices.csv"),
        ("/get", "Content-Disposition: inline; filename*=UTF-8''Liste%20%C3%A4.csv", "Liste ä.csv"),
        (f"/{'x' * 300}.csv", "X-Nothing: 1", "x" * 251 + ".csv"),
        ("/a.csv", "Content-Disposition: inline; filename*=idna''%ff", "a.csv"),
        ("/a.csv", "Content-Disposition: inline; filename*0*=undefined''a; filename*1=b", "a.csv"),
        ("/a.csv", "Content-Disposition: inline; filename*5*=a; filename*=b", "a.csv"),
    ],
)  # fmt: skip
async def test_what_such_a_file_is_called(
    near: httpx2.AsyncClient, path: str, header: str, name: str
) -> None:
    async with serving(with_header(header)) as seen:
        answer = await near.post("/api/jobs", json={"url": at(seen, path)})
    assert answer.status_code == 202, answer.text
    assert (await near.get(answer.headers["location"])).json()["file"]["name"] == name
