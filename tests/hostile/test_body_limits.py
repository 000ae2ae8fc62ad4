"""What a body may cost, before and after its sender is known."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx2
import orjson
import pytest
from tests.api.conftest import Caller, refused, submit_noop

from penstock.api.accounts.schemas import UserOrder
from penstock.api.http.answers import MOST_VALUES, strict_json
from penstock.api.http.bodies import ANONYMOUS_BYTES, strictly
from penstock.api.http.errors import MOST_PROBLEMS
from penstock.api.http.middleware import MOST_PARAMETERS
from penstock.model.errors import BadInput

UNKNOWN: dict[str, object] = {f"field{number:05}": 1 for number in range(60_000)}


async def exchange(port: int, *pieces: bytes) -> bytes:
    """All that the server answers until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        async with asyncio.timeout(20):
            return await reader.read()
    finally:
        writer.close()


def head(method: str, path: str, *headers: str) -> bytes:
    lines = (f"{method} {path} HTTP/1.1", "Host: penstock", *headers)
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


JSON = "Content-Type: application/json"


async def test_a_large_sign_in_is_refused_by_its_declared_length(port: int) -> None:
    said = await exchange(port, head("POST", "/api/session", JSON, "Content-Length: 1000000"))
    assert said.startswith(b"HTTP/1.1 413 "), said
    assert b"BODY_TOO_LARGE" in said


async def test_a_large_sign_in_in_chunks_is_refused_once_it_is_too_large(port: int) -> None:
    chunk = b"%x\r\n%s\r\n" % (ANONYMOUS_BYTES, b" " * ANONYMOUS_BYTES)
    start = head("POST", "/api/session", JSON, "Transfer-Encoding: chunked")
    said = await exchange(port, start, chunk, b"1\r\n \r\n")
    assert said.startswith(b"HTTP/1.1 413 "), said


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("PUT", "/api/profiles/x", JSON),
        ("PUT", "/api/profiles/x", "Content-Type: application/toml"),
        ("POST", "/api/jobs", JSON),
        ("POST", "/api/jobs", "Content-Type: multipart/form-data; boundary=x"),
        ("POST", "/api/files", "Content-Type: multipart/form-data; boundary=x"),
        ("POST", "/api/webhooks", JSON),
    ],
)
async def test_bodies_of_strangers_are_not_read(
    port: int, method: str, path: str, kind: str
) -> None:
    """The answer comes although no byte of the body was sent, and ends the connection."""
    for length in ("Content-Length: 1000000000", "Transfer-Encoding: chunked"):
        said = await exchange(port, head(method, path, kind, length))
        assert said.startswith(b"HTTP/1.1 401 "), said
        wrong = await exchange(port, head(method, path, kind, length, "Authorization: Bearer x"))
        assert wrong.startswith(b"HTTP/1.1 401 "), wrong


async def test_a_large_upload_with_an_old_key_gets_its_answer(port: int) -> None:
    """It is told why, although it was still sending."""
    headers = {"Authorization": "Bearer pk_old", "Content-Type": "application/json"}
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        for _ in range(2):
            answer = await client.post("/api/jobs", content=b"x" * 20_000_000, headers=headers)
            refused(answer, 401, "AUTHENTICATION_FAILED")


async def test_small_requests_of_strangers_keep_their_connection(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(2):
        writer.write(head("POST", "/api/jobs", JSON, "Content-Length: 2") + b"{}")
        said = await reader.readuntil(b"\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 401 ")
        length = int(said.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()


def cpu_of(work: Any) -> float:
    """The least of three, in seconds of this thread alone."""
    taken = []
    for _ in range(3):
        began = time.thread_time()
        with pytest.raises(BadInput):
            work()
        taken.append(time.thread_time() - began)
    return min(taken)


def test_many_unknown_fields_cost_little() -> None:
    raw = orjson.dumps(UNKNOWN)
    assert cpu_of(lambda: strict_json(raw, "The body")) < 0.1
    some = dict(list(UNKNOWN.items())[: MOST_VALUES - 1])
    assert cpu_of(lambda: strictly(UserOrder, some)) < 0.02


async def test_answers_name_the_first_problems_only(caller: Caller) -> None:
    client = await caller(role="admin")
    job = "00000000-0000-7000-8000-000000000000"
    wrong = {"scope": "items", "itemIds": ["x"] * 4000}
    answer = await client.post(f"/api/jobs/{job}/reprocess", json=wrong)
    problem = refused(answer, 422, "INVALID_PARAMETERS")
    assert len(problem.error.details["problems"]) == MOST_PROBLEMS
    assert len(answer.content) < 10_000
    refused(await client.post("/api/jobs", json=UNKNOWN), 400, "INVALID_JSON")
    refused(await client.post("/api/jobs", json={"x" * 5000: 1}), 422, "UNKNOWN_FIELD")


async def test_addresses_with_nul_are_refused(caller: Caller) -> None:
    """Wherever it is, also where the answer would have begun already."""
    client = await caller()
    job = await submit_noop(client)
    for method, path in (
        ("GET", "/api/profiles/a%00b"),
        ("PUT", "/api/profiles/%00"),
        ("DELETE", "/api/profiles/%00"),
        ("POST", f"/api/jobs/{job}/export?q=%00"),
        ("GET", "/api/jobs?%00=1"),
    ):
        answer = await client.request(method, path, json={})
        code = (422, "INVALID_PARAMETERS") if "?" in path else (404, "NOT_FOUND")
        refused(answer, *code)


async def test_many_parameters_are_refused(caller: Caller) -> None:
    client = await caller()
    for name in ("x", "states", "pageSize"):
        query = "&".join([f"{name}=1"] * (MOST_PARAMETERS + 1))
        refused(await client.get(f"/api/jobs?{query}"), 422, "INVALID_PARAMETERS")
