"""Uploads in several requests: what broke off goes on, and only one writes at a time."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from tests.api.conftest import CSV, MAX_FILE_BYTES, Caller, refused, shaped
from tests.api.test_files import files_on_disk, rows_of
from tests.fixtures import Bench

from penstock.api.files.schemas import UploadShape
from penstock.api.http import bodies
from penstock.engine.runtime import Runtime
from penstock.engine.services.tidy import Tidier
from penstock.settings import Settings
from penstock.store.database import Database

TUS = {"Tus-Resumable": "1.0.0"}
PIECE = {**TUS, "Content-Type": "application/offset+octet-stream"}


def named(name: str = "goods.csv", kind: str = "text/csv") -> str:
    pairs = (("filename", name), ("filetype", kind))
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs)


async def begin(client: httpx2.AsyncClient, length: int = len(CSV), **headers: str) -> str:
    sent = {**TUS, "Upload-Length": str(length), "Upload-Metadata": named(), **headers}
    answer = await client.post("/api/uploads", headers=sent)
    assert answer.status_code == 201, answer.text
    assert answer.headers["tus-resumable"] == "1.0.0"
    assert "GMT" in answer.headers["upload-expires"]
    return str(answer.headers["location"])


async def send(
    client: httpx2.AsyncClient, where: str, offset: int, body: Any, **headers: str
) -> httpx2.Response:
    sent = {**PIECE, "Upload-Offset": str(offset), **headers}
    return await client.patch(where, content=body, headers=sent)


async def offset_at(client: httpx2.AsyncClient, where: str) -> int:
    answer = await client.head(where, headers=TUS)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    return int(answer.headers["upload-offset"])


async def test_a_file_in_pieces_becomes_a_job(
    client: httpx2.AsyncClient, settings: Settings, bench: Bench
) -> None:
    where = await begin(client)
    assert await offset_at(client, where) == 0
    for start in range(0, len(CSV), 10):
        piece = CSV[start : start + 10]
        answer = await send(client, where, start, piece)
        assert answer.status_code == 204, answer.text
        assert int(answer.headers["upload-offset"]) == start + len(piece)
    shown = shaped(UploadShape, await client.get(where))
    assert (shown.offset, shown.file_id, shown.name) == (len(CSV), shown.id, "goods.csv")
    assert files_on_disk(settings) == [hashlib.sha256(CSV).hexdigest()]
    made = await client.post("/api/jobs", json={"fileId": str(shown.file_id)})
    assert made.status_code == 202, made.text
    await bench.work()
    job = (await client.get(f"/api/jobs/{made.json()['jobId']}")).json()
    assert (job["state"], job["counters"]["total"]) == ("done", 2)
    assert job["file"]["mediaType"] == "text/csv"
    again = await send(client, where, len(CSV), b"")
    assert again.status_code == 204
    refused(await send(client, where, 0, CSV), 409, "OFFSET_MISMATCH")


async def test_the_audit_knows_from_where_the_last_byte_came(
    client: httpx2.AsyncClient, db: Database
) -> None:
    where = await begin(client)
    await send(client, where, 0, CSV)
    async with db.acquire() as conn:
        ips = await conn.fetch("SELECT host(ip) FROM audit WHERE action = 'file.create'")
    assert [ip[0] for ip in ips] == ["127.0.0.1"]


async def test_the_first_piece_may_come_with_the_beginning(client: httpx2.AsyncClient) -> None:
    headers = {**PIECE, "Upload-Length": str(len(CSV)), "Upload-Metadata": named()}
    answer = await client.post("/api/uploads", headers=headers, content=CSV[:7])
    assert (answer.status_code, answer.headers["upload-offset"]) == (201, "7")
    assert (await send(client, answer.headers["location"], 7, CSV[7:])).status_code == 204


async def test_an_empty_file_is_whole_at_once(client: httpx2.AsyncClient, db: Database) -> None:
    where = await begin(client, 0)
    assert shaped(UploadShape, await client.get(where)).file_id is not None
    assert await rows_of(db, "files") == 1


async def test_what_broke_off_goes_on(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE_SECONDS", 0.05)
    where = await begin(client)

    async def stops() -> AsyncIterator[bytes]:
        yield CSV[:20]
        await asyncio.Event().wait()

    refused(await send(client, where, 0, stops()), 408, "REQUEST_TIMEOUT")
    assert await offset_at(client, where) == 20
    problem = refused(await send(client, where, 19, CSV[19:]), 409, "OFFSET_MISMATCH")
    assert problem.error.details == {"offset": 20}
    assert (await send(client, where, 20, CSV[20:])).status_code == 204
    assert await offset_at(client, where) == len(CSV)


async def test_one_writer_at_a_time(client: httpx2.AsyncClient) -> None:
    where, go_on, begun = await begin(client), asyncio.Event(), asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield CSV[:5]
        begun.set()
        await go_on.wait()
        yield CSV[5:]

    first = asyncio.create_task(send(client, where, 0, slowly()))
    await begun.wait()
    for answer in (
        await send(client, where, 0, CSV),
        await client.delete(where, headers=TUS),
    ):
        refused(answer, 423, "UPLOAD_BUSY")
        assert answer.headers["retry-after"] == "1"
    go_on.set()
    assert (await first).status_code == 204
    assert await offset_at(client, where) == len(CSV)


async def test_checksums(client: httpx2.AsyncClient) -> None:
    where = await begin(client)
    digest = base64.b64encode(hashlib.sha256(CSV).digest()).decode()
    wrong = await send(client, where, 0, CSV[::-1], **{"Upload-Checksum": f"sha256 {digest}"})
    refused(wrong, 460, "CHECKSUM_MISMATCH")
    assert await offset_at(client, where) == 0
    for bad in ("sha256 ???", "crc32 aaaa", "", "sha256"):
        answer = await send(client, where, 0, CSV, **{"Upload-Checksum": bad})
        assert answer.status_code in (400, 460), bad
        assert await offset_at(client, where) == 0
    right = await send(client, where, 0, CSV, **{"Upload-Checksum": f"sha256 {digest}"})
    assert right.status_code == 204


async def test_more_than_was_announced(client: httpx2.AsyncClient) -> None:
    where = await begin(client, 10)
    refused(await send(client, where, 0, CSV), 413, "FILE_TOO_LARGE")
    assert await offset_at(client, where) == 0


async def test_what_cannot_begin(client: httpx2.AsyncClient, caller: Caller) -> None:
    metadata = {"Upload-Metadata": named()}
    for headers, status, code in (
        ({}, 412, "UNSUPPORTED_TUS_VERSION"),
        ({"Tus-Resumable": "0.2"}, 412, "UNSUPPORTED_TUS_VERSION"),
        ({**TUS, **metadata}, 422, "INVALID_PARAMETERS"),
        ({**TUS, "Upload-Length": "-1", **metadata}, 422, "INVALID_PARAMETERS"),
        ({**TUS, "Upload-Length": str(MAX_FILE_BYTES + 1), **metadata}, 413, "FILE_TOO_LARGE"),
        ({**TUS, "Upload-Length": "5"}, 422, "BAD_FILENAME"),
        ({**TUS, "Upload-Length": "5", "Upload-Metadata": "filename ?"}, 422, "INVALID_PARAMETERS"),
        ({**TUS, "Upload-Length": "5", "Upload-Metadata": named("../x")}, 422, "BAD_FILENAME"),
    ):
        refused(await client.post("/api/uploads", headers=headers), status, code)
    viewer = await caller(role="viewer")
    sent = {**TUS, "Upload-Length": "5", **metadata}
    answer = await viewer.post("/api/uploads", headers=sent)
    refused(answer, 403, "INSUFFICIENT_PERMISSIONS")


async def test_nobody_else_sees_it(client: httpx2.AsyncClient, caller: Caller) -> None:
    where = await begin(client)
    stranger = await caller("other")
    for who, path in ((stranger, where), (client, "/api/uploads/x"), (client, where[:-4] + "0000")):
        refused(await who.get(path), 404, "NOT_FOUND")
        refused(await send(who, path, 0, CSV), 404, "NOT_FOUND")
        refused(await who.delete(path, headers=TUS), 404, "NOT_FOUND")


async def test_giving_up(client: httpx2.AsyncClient, settings: Settings, db: Database) -> None:
    where = await begin(client)
    await send(client, where, 0, CSV[:5])
    assert (await client.delete(where, headers=TUS)).status_code == 204
    refused(await client.get(where), 404, "NOT_FOUND")
    assert files_on_disk(settings) == []
    assert await rows_of(db, "uploads") == 0


async def test_what_ran_out_is_removed(
    client: httpx2.AsyncClient, runtime: Runtime, settings: Settings, db: Database
) -> None:
    where = await begin(client)
    await send(client, where, 0, CSV[:5])
    async with db.acquire() as conn:
        await conn.execute("UPDATE uploads SET expires_at = now()")
    refused(await send(client, where, 5, CSV[5:]), 404, "NOT_FOUND")
    assert (await Tidier(runtime).run_once()).half_made == 1
    assert [name for name in files_on_disk(settings) if name != "installation"] == []


async def test_dying_before_the_end_leaves_something_to_finish(
    client: httpx2.AsyncClient, runtime: Runtime, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = await begin(client)

    def dies(name: str) -> None:
        if name == "after_whole":
            raise KeyError(name)

    with monkeypatch.context() as patch:
        patch.setattr(type(runtime.failpoints), "reach", lambda self, name: dies(name))
        refused(await send(client, where, 0, CSV), 500, "INTERNAL_ERROR")
    assert await rows_of(db, "files") == 0
    assert await offset_at(client, where) == len(CSV)
    assert await rows_of(db, "files") == 1


async def test_what_uploads_can_do(client: httpx2.AsyncClient) -> None:
    answer = await client.options("/api/uploads")
    assert answer.status_code == 204
    assert answer.headers["tus-max-size"] == str(MAX_FILE_BYTES)
    assert "termination" in answer.headers["tus-extension"]


async def test_a_beginning_can_be_repeated(client: httpx2.AsyncClient, db: Database) -> None:
    key = {"Idempotency-Key": "up-1"}
    assert await begin(client, len(CSV), **key) == await begin(client, len(CSV), **key)
    assert await rows_of(db, "uploads") == 1
    sent = {**TUS, "Upload-Length": "1", "Upload-Metadata": named(), **key}
    refused(await client.post("/api/uploads", headers=sent), 422, "IDEMPOTENCY_MISMATCH")
