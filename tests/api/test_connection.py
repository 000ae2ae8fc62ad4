"""What only a real connection shows: bodies that break off, and answers before a body's end."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from tests.api.conftest import CSV, MAX_FILE_BYTES, submit_noop
from tests.api.test_files import files_on_disk, form, part, rows_of
from tests.fixtures import Bench

from penstock.api.http import server
from penstock.settings import Settings
from penstock.store.database import Database


def head(client: httpx2.AsyncClient, length: str, path: str = "/api/files") -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: penstock",
        f"Authorization: {client.headers['authorization']}",
        "Content-Type: multipart/form-data; boundary=b",
        length,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


async def test_an_upload_cut_off_leaves_nothing(
    client: httpx2.AsyncClient, port: int, settings: Settings, db: Database
) -> None:
    body = form(part(content=CSV * 500))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head(client, f"Content-Length: {len(body)}", "/api/jobs") + body[:9000])
    await writer.drain()
    temporary = settings.blob_dir / "tmp"
    while not (temporary.exists() and any(temporary.iterdir())):
        await asyncio.sleep(0.005)
    writer.transport.abort()
    while any(temporary.iterdir()):
        await asyncio.sleep(0.005)
    assert files_on_disk(settings) == []
    assert await rows_of(db, "files") == 0
    assert await rows_of(db, "jobs") == 0
    assert not await reader.read()


async def test_a_body_without_its_last_boundary(
    client: httpx2.AsyncClient, port: int, settings: Settings
) -> None:
    body = form(part())[:-8]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head(client, f"Content-Length: {len(body)}") + body)
    assert b"400 Bad Request" in await reader.readline()
    writer.close()
    assert files_on_disk(settings) == []


@pytest.mark.parametrize("chunked", [False, True])
async def test_whoever_sends_too_much_hears_of_it(
    client: httpx2.AsyncClient, port: int, settings: Settings, chunked: bool
) -> None:
    """A client that reads only after all is sent sees the answer, and may go on with it."""
    body = form(part(content=b"x" * (MAX_FILE_BYTES * 30)))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    if chunked:
        writer.write(head(client, "Transfer-Encoding: chunked"))
        writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
    else:
        writer.write(head(client, f"Content-Length: {len(body)}") + body)
    await writer.drain()
    answer = await reader.readuntil(b"\r\n\r\n")
    assert b"413 Content Too Large" in answer or b"413 Request Entity Too Large" in answer
    length = int(answer.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    assert b"FILE_TOO_LARGE" in await reader.readexactly(length)
    writer.write(b"GET /health HTTP/1.1\r\nHost: penstock\r\nConnection: close\r\n\r\n")
    assert b" 200 " in await reader.readline()
    writer.close()
    assert files_on_disk(settings) == []


async def test_an_export_streams(client: httpx2.AsyncClient, port: int, bench: Bench) -> None:
    job = await submit_noop(client, 5000)
    await bench.work()
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as real:
        real.headers["authorization"] = client.headers["authorization"]
        async with real.stream("POST", f"/api/jobs/{job}/export") as answer:
            assert answer.headers["transfer-encoding"] == "chunked"
            lines = [line async for line in answer.aiter_lines()]
    assert len(lines) == 5001


async def sent(port: int, *pieces: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for piece in pieces:
        writer.write(piece)
        await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer


async def test_heads_are_bounded(port: int) -> None:
    small = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-A: %b\r\n\r\n"
    assert (await sent(port, small % (b"a" * 60_000))).startswith(b"HTTP/1.1 200 ")
    for head in (
        small % (b"a" * 70_000),
        b"GET /" + b"p" * 70_000,
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000,
        b"GET / HTTP/1.1\r\nX-A: " + b"v" * 2_000_000,
    ):
        answer = await sent(port, head)
        assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n"), answer[:80]
        assert b"application/problem+json" in answer
        assert b"HEADERS_TOO_LARGE" in answer
        assert b"nosniff" in answer


async def test_a_body_beside_a_head_is_not_counted(client: httpx2.AsyncClient, port: int) -> None:
    body = form(part(content=CSV * 2000))
    answer = await sent(
        port, head(client, f"Content-Length: {len(body)}\r\nConnection: close") + body
    )
    assert answer.startswith(b"HTTP/1.1 201 ")


async def test_what_is_no_http(port: int) -> None:
    for noise in (b"\x16\x03\x01 hello\r\n\r\n", b"GET\r\n\r\n", b"get / http/1.1\r\n\r\n"):
        answer = await sent(port, noise)
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        assert b'"BAD_REQUEST"' in answer


async def test_heads_that_trickle_are_given_up(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.05)
    for begun in (b"", b"GET / HTTP/1.1\r\nX-A"):
        answer = await sent(port, begun)
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"REQUEST_TIMEOUT" in answer
