"""Pictures as attackers and accidents make them: they fail alone, and reach nothing."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from PIL import Image
from tests.guards.servers import answering, serving
from tests.guards.ssrf_urls import hostile_urls
from tests.pipelines.context import TrialContext, job_of, trial_context

from penstock.model.effects import StorePicture
from penstock.model.outcomes import Done, Fail, Outcome, Retry
from penstock.model.pipeline import Item, Job
from penstock.pipelines.shop_import.images import download, make_thumbnails
from penstock.pipelines.shop_import.pipeline import ShopImport


@pytest_asyncio.fixture
async def ctx(tmp_path: Path) -> AsyncIterator[TrialContext]:
    async with trial_context(tmp_path) as made:
        yield made


async def job_in(ctx: TrialContext) -> Job:
    return await job_of(ShopImport(), ctx, {"connectionId": str(uuid4()), "all": True}, None)


async def test_no_address_of_a_picture_reaches_the_canary(ctx: TrialContext) -> None:
    job = await job_in(ctx)
    async with serving(answering(body=jpeg())) as canary:
        urls = list(hostile_urls(canary.port))
        assert len(urls) >= 300
        items = [
            Item(job, number, {"kind": "image", "url": url})
            for number, url in enumerate(urls, start=1)
        ]
        outcomes = await download(items, ctx)
        assert canary.connections == 0
    refused = {one.error.code for one in outcomes if isinstance(one, Fail)}
    assert refused == {"URL_NOT_ALLOWED"}
    assert all(isinstance(one, Fail | Retry) for one in outcomes)


def jpeg(width: int = 40, height: int = 30) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(out, "JPEG")
    return out.getvalue()


def bomb() -> bytes:
    """A PNG of some kilobytes that claims a billion pixels."""
    row = zlib.compress(b"\0" * 1000)
    size = struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", size), (b"IDAT", row), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


async def shrink(ctx: TrialContext, content: bytes) -> Outcome | None:
    async def pieces() -> AsyncIterator[bytes]:
        yield content

    blob = await ctx.blobs.put(pieces(), 10**7)
    told: dict[str, Any] = {"blob": blob.key, "sha256": blob.sha256, "size": blob.size}
    item = Item(await job_in(ctx), 1, {"kind": "image", "url": "https://a.example/1.jpg"}, told)
    [outcome] = await make_thumbnails([item], ctx)
    return outcome


@pytest.mark.parametrize(
    "content",
    [b"not a picture", jpeg()[:200], bomb(), b"\xff\xd8\xff"],
    ids=["text", "truncated", "bomb", "head"],
)
async def test_what_is_no_picture_fails_by_name(ctx: TrialContext, content: bytes) -> None:
    outcome = await shrink(ctx, content)
    assert isinstance(outcome, Fail)
    assert outcome.error.code == "PICTURE_UNREADABLE"


async def test_a_picture_gets_its_thumbnails(ctx: TrialContext) -> None:
    outcome = await shrink(ctx, jpeg(1000, 500))
    assert isinstance(outcome, Done)
    assert isinstance(outcome.result, dict)
    assert outcome.result["thumbnails"] == 3
    [picture] = [one for one in outcome.effects if isinstance(one, StorePicture)]
    assert (picture.width, picture.height) == (1000, 500)
    for box, key in picture.thumbnails.items():
        async with ctx.blobs.local(key) as path:
            with Image.open(path) as small:
                assert small.format == "WEBP"
                assert small.size == (box, box // 2)
