"""Pictures of products, fetched for those who look: from nowhere private, nothing but pictures."""

from __future__ import annotations

import asyncio
import io
from dataclasses import replace
from uuid import uuid4

import httpx2
import pytest
from PIL import Image
from tests.api.conftest import Caller, refused
from tests.api.test_products import applied, listed
from tests.fixtures import Bench
from tests.guards.servers import Handle, Seen, answering, serving
from tests.guards.ssrf_urls import hostile_urls

from penstock.api.catalog import pictures
from penstock.api.catalog.pictures import Pictures
from penstock.guards.fetch import Fetcher
from penstock.model.errors import PenstockError
from penstock.model.network.fetching import FetchLimits, FetchPurpose
from penstock.settings import Settings

CLAIMED = "Content-Type: image/png\r\n"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """This machine is where the suppliers' servers are, but for one door."""
    return settings.model_copy(update={"fetch_allow": "127.0.0.1/32"})


def png(width: int = 300, height: int = 200) -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(made, "PNG")
    return made.getvalue()


def at(seen: Seen, path: str = "/saw.png") -> str:
    return f"http://127.0.0.1:{seen.port}{path}"


async def pictured(client: httpx2.AsyncClient, bench: Bench, *urls: str) -> str:
    """Where the pictures of a product with these URLs are to be had."""
    sku = uuid4().hex[:12]
    content = f"SKU;Title;Image\n{sku};Saw;{'|'.join(urls)}\n"
    await applied(client, bench, content.encode())
    (found,) = await listed(client, sku=sku)
    return f"/api/products/{found.id}/images"


async def test_a_picture_is_made_small_and_served_as_nothing_else(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    async with serving(answering(headers="Content-Type: text/html\r\n", body=png())) as server:
        where = await pictured(client, bench, at(server))
        for size, pixels in (("small", (96, 64)), ("large", (300, 200))):
            shown = await client.get(f"{where}/0", params={"size": size})
            assert shown.status_code == 200, shown.text
            assert Image.open(io.BytesIO(shown.content)).size == pixels
            assert shown.headers["content-type"] == "image/webp"
            assert shown.headers["x-content-type-options"] == "nosniff"
            assert "sandbox" in shown.headers["content-security-policy"]
            assert shown.headers["cache-control"].startswith("private")
    (asked,) = server.requests
    for told in (b"cookie", b"authorization", b"referer", b"127.0.0.1:8"):
        assert told not in asked.lower()


async def test_what_was_fetched_is_kept(client: httpx2.AsyncClient, bench: Bench) -> None:
    async with serving(answering(body=png())) as server:
        where = await pictured(client, bench, at(server))
        answers = await asyncio.gather(*(client.get(f"{where}/0") for _ in range(5)))
        assert {one.status_code for one in answers} == {200}
    # The server is gone, and so is nothing else.
    again = await client.get(f"{where}/0")
    assert again.status_code == 200
    tag = {"If-None-Match": again.headers["etag"]}
    assert (await client.get(f"{where}/0", headers=tag)).status_code == 304
    assert server.connections == 1


async def test_only_those_who_see_the_product_see_its_pictures(
    client: httpx2.AsyncClient, bench: Bench, caller: Caller
) -> None:
    async with serving(answering(body=png())) as server:
        where = await pictured(client, bench, at(server))
        stranger, admin = await caller("other"), await caller("house", role="admin")
        viewer = await caller(role="viewer")
        foreign = refused(await stranger.get(f"{where}/0"), 404, "NOT_FOUND")
        unknown = refused(await stranger.get(f"/api/products/{uuid4()}/images/0"), 404, "NOT_FOUND")
        assert foreign.detail == unknown.detail
        assert server.connections == 0, "nothing is fetched for those who may not see it"
        for who in (client, admin, viewer):
            assert (await who.get(f"{where}/0")).status_code == 200


async def test_a_place_without_a_picture(client: httpx2.AsyncClient, bench: Bench) -> None:
    where = await pictured(client, bench, "http://10.0.0.1/1.png", "http://10.0.0.1/2.png")
    assert "2 pictures" in (refused(await client.get(f"{where}/2"), 404, "NOT_FOUND").detail or "")
    refused(await client.get(f"{where}/-1"), 422, "INVALID_PARAMETERS")
    refused(await client.get(f"{where}/x"), 422, "INVALID_PARAMETERS")
    refused(await client.get(f"{where}/0", params={"size": "huge"}), 422, "INVALID_PARAMETERS")


async def test_no_picture_is_fetched_from_a_private_address(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    async def elsewhere(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/\r\n\r\n")

    async with serving(elsewhere) as server:
        for url in ("http://10.0.0.1/a.png", "http://169.254.169.254/a.png",
                    f"http://127.0.0.2:{server.port}/a.png", at(server)):  # fmt: skip
            where = await pictured(client, bench, url)
            refused(await client.get(f"{where}/0"), 422, "URL_NOT_ALLOWED")
    assert server.connections == 1, "only the one that leads on from an allowed address"


async def test_no_hostile_url_reaches_the_canary(bench: Bench) -> None:
    """Whatever stands in a catalog."""
    fetcher = Fetcher()
    strict = Pictures(replace(bench.runtime, fetchers={FetchPurpose.FILE: fetcher}))
    async with serving(answering(body=png())) as canary:
        for url in hostile_urls(canary.port):
            with pytest.raises(PenstockError):
                await strict.get(1, url, "small")
    await fetcher.close()
    assert canary.connections == 0


@pytest.mark.parametrize(
    ("handle", "status", "code"),
    [
        (answering("404 Not Found"), 502, "PICTURE_UNAVAILABLE"),
        (answering("500 Oh no", body=png()), 502, "PICTURE_UNAVAILABLE"),
        (answering(headers=CLAIMED, body=b"<html>"), 422, "PICTURE_UNREADABLE"),
        (answering(body=b'<svg xmlns="http://www.w3.org/2000/svg"/>'), 422, "PICTURE_UNREADABLE"),
        (answering(body=png()[:100]), 422, "PICTURE_UNREADABLE"),
        (answering(body=b"x" * 200_000), 422, "FETCH_TOO_LARGE"),
        (answering(headers="Content-Length: 999\r\n", body=png()), 502, "PICTURE_UNAVAILABLE"),
    ],
)  # fmt: skip
async def test_what_cannot_be_shown_is_said_and_not_tried_again_at_once(
    client: httpx2.AsyncClient,
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    handle: Handle,
    status: int,
    code: str,
) -> None:
    monkeypatch.setattr(pictures, "LIMITS", FetchLimits(most_bytes=100_000, total_ms=2000))
    async with serving(handle) as server:
        where = await pictured(client, bench, at(server))
        for _ in range(3):
            assert refused(await client.get(f"{where}/0"), status, code).detail
        assert server.connections == 1


async def test_what_failed_is_tried_again_later(bench: Bench) -> None:
    now = 0.0
    made = Pictures(bench.runtime, clock=lambda: now)
    answers = [answering("503 Busy"), answering(body=png())]

    async def handle(request: bytes, writer: asyncio.StreamWriter) -> None:
        await answers.pop(0)(request, writer)

    async with serving(handle) as server:
        for _ in range(2):
            with pytest.raises(PenstockError, match="answers with 503"):
                await made.get(1, at(server), "small")
        now = 301.0
        assert await made.get(1, at(server), "small")


async def test_a_server_that_never_answers_holds_up_nothing(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "LIMITS", FetchLimits(total_ms=300, silent_ms=300))

    async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async with serving(silent) as server:
        where = await pictured(client, bench, at(server))
        refused(await client.get(f"{where}/0"), 502, "PICTURE_UNAVAILABLE")
