"""Uploads: stored as they come, refused as early as can be, and nothing left behind."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from tests.api.conftest import CSV, MAX_FILE_BYTES, Caller, file_of, refused, shaped

from penstock.api.files.schemas import StoredFile
from penstock.api.http import bodies, multipart
from penstock.api.http.forms import FIELD_BYTES
from penstock.settings import Settings
from penstock.store.database import Database

FORM = {"Content-Type": "multipart/form-data; boundary=b"}


def part(name: str = "file", filename: str | None = "goods.csv", content: bytes = CSV) -> bytes:
    named = f'; filename="{filename}"' if filename is not None else ""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
    return head.encode() + content + b"\r\n"


def form(*parts: bytes) -> bytes:
    return b"".join(parts) + b"--b--\r\n"


async def in_pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


def files_on_disk(settings: Settings) -> list[str]:
    return [path.name for path in settings.blob_dir.rglob("*") if path.is_file()]


async def rows_of(db: Database, table: str) -> int:
    async with db.acquire() as conn:
        return int(await conn.fetchval(f"SELECT count(*) FROM {table}"))


async def test_a_file_is_stored_under_its_hash(
    client: httpx2.AsyncClient, settings: Settings, db: Database
) -> None:
    answer = await client.post("/api/files", files=file_of(name="Prüfliste 1.csv"))
    stored = shaped(StoredFile, answer, 201)
    digest = hashlib.sha256(CSV).hexdigest()
    assert (stored.name, stored.size, stored.sha256) == ("Prüfliste 1.csv", len(CSV), digest)
    assert stored.media_type == "text/csv"
    assert files_on_disk(settings) == [digest]
    assert await rows_of(db, "files") == 1


async def test_the_same_bytes_twice_are_two_files_in_one_blob(
    client: httpx2.AsyncClient, settings: Settings, db: Database
) -> None:
    first = await client.post("/api/files", files=file_of())
    second = await client.post("/api/files", files=file_of())
    assert first.json()["id"] != second.json()["id"]
    assert len(files_on_disk(settings)) == 1


async def test_the_largest_file_is_taken_and_one_byte_more_is_not(
    client: httpx2.AsyncClient, settings: Settings, db: Database
) -> None:
    fits = await client.post("/api/files", files=file_of(b"x" * MAX_FILE_BYTES))
    assert fits.status_code == 201
    over = await client.post("/api/files", files=file_of(b"y" * (MAX_FILE_BYTES + 1)))
    refused(over, 413, "FILE_TOO_LARGE")
    assert len(files_on_disk(settings)) == 1
    assert await rows_of(db, "files") == 1


async def test_what_the_length_says_is_refused_before_it_is_read(
    client: httpx2.AsyncClient,
) -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    headers = {**FORM, "Content-Length": str(MAX_FILE_BYTES * 100)}
    answer = await client.post("/api/files", content=never(), headers=headers)
    refused(answer, 413, "FILE_TOO_LARGE")


@pytest.mark.parametrize("length", [None, "10"])
async def test_bytes_are_counted_whatever_the_length_says(
    client: httpx2.AsyncClient, settings: Settings, length: str | None
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield part(content=b"").removesuffix(b"\r\n")
        while True:
            yield b"z" * 10_000

    headers = FORM if length is None else {**FORM, "Content-Length": length}
    answer = await client.post("/api/files", content=pieces(), headers=headers)
    refused(answer, 413, "FILE_TOO_LARGE")
    assert files_on_disk(settings) == []


BAD_FORMS = {
    "empty": b"",
    "garbage": b"not a form",
    "no parts": form(),
    "truncated at the end": form(part())[:-8],
    "truncated in a head": form(part())[:60],
    "two files": form(part(), part()),
    "no head": b"--b\r\n\r\n" + b"a" * 5_000_000 + b"\r\n--b--\r\n",
    "no name": b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n",
    "many headers": b"--b\r\n" + b"X-A: b\r\n" * 100_000 + b"\r\n--b--",
    "long header": b"--b\r\nX-A: " + b"b" * 100_000 + b"\r\n\r\n--b--",
    "long preamble": b"\r\n" + b"p" * 1_000_000 + form(part()),
    "long epilogue": form(part()) + b"e" * 1_000_000 + b"-",
}


@pytest.mark.parametrize("piece", [1 << 30, 7001])
async def test_bad_forms(
    client: httpx2.AsyncClient, settings: Settings, db: Database, piece: int
) -> None:
    for case, body in BAD_FORMS.items():
        pieces = in_pieces(body, piece)
        answer = await client.post("/api/files", content=pieces, headers=FORM)
        assert answer.status_code == 400, case
        refused(answer, 400, "BAD_MULTIPART")
        assert files_on_disk(settings) == [], case
    assert await rows_of(db, "files") == 0


@pytest.mark.parametrize("piece", [1, 3, 64])
async def test_a_form_is_the_same_in_any_pieces(client: httpx2.AsyncClient, piece: int) -> None:
    tricky = b"\r\n--\r\n--b \r\n--bb\r\n-" + CSV
    pieces = in_pieces(form(part(content=tricky)), piece)
    answer = await client.post("/api/files", content=pieces, headers=FORM)
    assert shaped(StoredFile, answer, 201).sha256 == hashlib.sha256(tricky).hexdigest()


async def test_more_parts_than_anyone_needs(client: httpx2.AsyncClient) -> None:
    pieces = [part("name", None, b"")] * (multipart.MOST_PARTS + 1)
    answer = await client.post("/api/jobs", content=form(*pieces), headers=FORM)
    assert "100 parts" in refused(answer, 400, "BAD_MULTIPART").detail


async def test_fields_are_small(client: httpx2.AsyncClient) -> None:
    body = form(part("config", None, b"x" * (FIELD_BYTES + 1)))
    answer = await client.post("/api/jobs", content=body, headers=FORM)
    assert "config" in refused(answer, 400, "BAD_MULTIPART").detail


async def test_other_content_types(client: httpx2.AsyncClient) -> None:
    for kind, status, code in (
        ("multipart/form-data", 400, "BAD_MULTIPART"),
        ("multipart/form-data; boundary=" + "b" * 300, 400, "BAD_MULTIPART"),
        ("text/csv", 415, "UNSUPPORTED_TYPE"),
        ("", 415, "UNSUPPORTED_TYPE"),
    ):
        answer = await client.post("/api/files", content=b"x", headers={"Content-Type": kind})
        refused(answer, status, code)


async def test_names_that_are_none(client: httpx2.AsyncClient, settings: Settings) -> None:
    for name in (
        *("../../x", "..", ".", "a/b.csv", "..\\x.csv", "a\0.csv", "a\tb.csv", "n" * 300, "", "  "),
    ):
        answer = await client.post("/api/files", content=form(part(filename=name)), headers=FORM)
        refused(answer, 422, "BAD_FILENAME")
    assert files_on_disk(settings) == []


async def test_a_file_part_needs_a_name(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/files", content=form(part(filename=None)), headers=FORM)
    refused(answer, 422, "BAD_FILENAME")


async def test_media_types_are_cleaned(client: httpx2.AsyncClient) -> None:
    for declared, kept in ((b"text/x y", "text/csv"), (b"a/b; c=d", "a/b")):
        body = form(part()).replace(b"\r\n\r\n", b"\r\nContent-Type: " + declared + b"\r\n\r\n", 1)
        answer = await client.post("/api/files", content=body, headers=FORM)
        assert shaped(StoredFile, answer, 201).media_type == kept


PICTURES = {
    "image/png": b"\x89PNG\r\n\x1a\n....",
    "image/jpeg": b"\xff\xd8\xff\xe0....",
    "image/webp": b"RIFF1234WEBPVP8 ",
}


async def test_pictures_are_what_they_call_themselves(
    client: httpx2.AsyncClient, settings: Settings
) -> None:
    for content in (b"<svg xmlns='x'><script/></svg>", b"  <!DOCTYPE html><p>", b"nothing", b""):
        for name, kind in (("a.jpg", "text/csv"), ("a", "image/png"), ("a.PNG", "image/png")):
            answer = await client.post("/api/files", files={"file": (name, content, kind)})
            refused(answer, 415, "UNSUPPORTED_TYPE")
    assert files_on_disk(settings) == []
    for kind, content in PICTURES.items():
        answer = await client.post("/api/files", files={"file": ("a.jpg", content, "image/gif")})
        assert shaped(StoredFile, answer, 201).media_type == kind
    page = {"file": ("a.csv", b"<html><script>", "text/csv")}
    kept = shaped(StoredFile, await client.post("/api/files", files=page), 201)
    assert kept.media_type == "text/html"


async def test_a_body_that_stops_coming_is_given_up(
    client: httpx2.AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE_SECONDS", 0.05)

    async def pieces() -> AsyncIterator[bytes]:
        yield part()[:80]
        await asyncio.Event().wait()

    answer = await client.post("/api/files", content=pieces(), headers=FORM)
    refused(answer, 408, "REQUEST_TIMEOUT")
    assert files_on_disk(settings) == []


async def test_viewers_upload_nothing(caller: Caller) -> None:
    viewer = await caller(role="viewer")
    answer = await viewer.post("/api/files", files=file_of())
    refused(answer, 403, "INSUFFICIENT_PERMISSIONS")


async def test_a_blob_taken_away_in_between_is_told(
    client: httpx2.AsyncClient, settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A refused upload of the same bytes may remove the blob before this one's row is written."""
    from penstock.blobs.local import LocalBlobs

    put = LocalBlobs.put

    async def put_and_lose(self: LocalBlobs, *args: Any) -> Any:
        blob = await put(self, *args)
        await self.remove(blob.key)
        return blob

    monkeypatch.setattr(LocalBlobs, "put", put_and_lose)
    answer = await client.post("/api/files", files=file_of())
    refused(answer, 503, "BLOB_UNAVAILABLE")
    assert answer.headers["retry-after"] == "5"
    assert await rows_of(db, "files") == 0


async def test_a_file_is_downloaded_as_it_was_uploaded(
    client: httpx2.AsyncClient, caller: Caller
) -> None:
    made = (await client.post("/api/files", files=file_of(CSV, "gründe.csv"))).json()["id"]
    answer = await client.get(f"/api/files/{made}/content")
    assert (answer.status_code, answer.content) == (200, CSV)
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''gr%C3%BCnde.csv"
    stranger = await caller("other")
    refused(await stranger.get(f"/api/files/{made}/content"), 404, "FILE_NOT_FOUND")
    refused(await client.get("/api/files/x/content"), 404, "FILE_NOT_FOUND")
