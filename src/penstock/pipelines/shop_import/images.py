"""The stages `download`, `upload` and `thumbnails`: pictures of products.

A picture is an item of its own, so that a bad one never fails its product. Downloads go to the blob
store as they come. The same URL is downloaded once, the same content is kept and shrunk once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

from penstock import __version__
from penstock.catalog.products.grid import MATCH
from penstock.formats.pictures import shrink_file
from penstock.model.effects import Effect, KeepBlob, StorePicture
from penstock.model.errors import (
    BadInput,
    ChildCrashed,
    ItemError,
    NotThere,
    PermanentError,
    RateLimited,
    Unavailable,
)
from penstock.model.network.fetching import (
    FetchLimits,
    FetchPurpose,
    FetchRequest,
    StreamedResponse,
)
from penstock.model.outcomes import Advance, Done, Fail, Outcome
from penstock.model.pipeline import Item, each
from penstock.model.ports import Context, InputFile, PictureIndex, StoredBlob
from penstock.model.products import KnownPicture
from penstock.pipelines.shop_import.again import soon_again
from penstock.pipelines.shop_import.mapping import KIND

DOWNLOADED_AT_ONCE = 16
# More than there are children: some wait for the disk.
SHRUNK_AT_ONCE = 8
_MAX_BYTES = 20 * 1024 * 1024
_LIMITS = FetchLimits(most_bytes=_MAX_BYTES, total_ms=30_000, silent_ms=10_000)
_HEADERS = {"Accept": "image/*", "User-Agent": f"Penstock-Pictures/{__version__}"}
DEFAULT_BOXES = (150, 400, 800)


def boxes_of(config: Any) -> tuple[int, ...]:
    """Sizes of thumbnails, the smallest first."""
    boxes = DEFAULT_BOXES if config.thumbnails is None else config.thumbnails
    return tuple(sorted(set(boxes)))


async def download(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Pictures that another job has downloaded meanwhile are not asked for again."""
    if not batch:
        return ()
    org_id = batch[0].job.org_id
    known = await ctx.port(PictureIndex).at_urls(org_id, [item.input["url"] for item in batch])
    return await each(partial(_download, known=known), DOWNLOADED_AT_ONCE)(batch, ctx)


async def _download(item: Item, ctx: Context, known: Mapping[str, KnownPicture]) -> Outcome:
    url = item.input["url"]
    found = known.get(url)
    if found is not None:
        told = {"blob": found.blob_key, "sha256": found.sha256, "size": found.size}
        return Advance(told, _cells(item, "reused"))
    try:
        blob = await soon_again(lambda: _store_picture(url, item.job.config, ctx), ctx)
    except PermanentError as error:
        return Fail(ItemError.of(error), _cells(item, "failed"))
    kept = KeepBlob(blob.key, "picture", _owner(url))
    told = {"blob": blob.key, "sha256": blob.sha256, "size": blob.size}
    return Advance(told, _cells(item, "downloaded"), effects=[kept])


async def _store_picture(url: str, config: Any, ctx: Context) -> StoredBlob:
    """Stream the picture into the blob store. Each shop has its own turns, also where many shops
    have their pictures on one host: one whose pictures are refused does not delay the others."""
    fetcher = ctx.fetchers[FetchPurpose.PROVIDER]
    host = urlsplit(url).hostname or ""
    request = FetchRequest(url, headers=_HEADERS, limits=_LIMITS)
    turn = ctx.calls(f"{config.provider or 'shop'} pictures", f"{host} {config.connection_id}")
    async with turn, fetcher.stream(request) as answer:
        _require_picture(answer)
        blob = await ctx.blobs.put(_pieces(answer), _MAX_BYTES)
        if blob.head.lstrip()[:1] in (b"<", b"{", b""):
            # A page or an error with the status of a success, as proxies send them.
            raise Unavailable("SERVICE_UNAVAILABLE", "The picture's server sent no picture.")
        return blob


def _require_picture(answer: StreamedResponse) -> None:
    status = answer.status
    if status == 200:
        return
    if status == 429:
        raise RateLimited(
            "API_RATE_LIMIT", "The picture's server asks for fewer requests (429).",
            retry_after_ms=answer.retry_after_ms,
        )  # fmt: skip
    if status >= 500 or status == 408:
        raise Unavailable(
            "SERVICE_UNAVAILABLE", f"The picture's server answers with {status}.",
            retry_after_ms=answer.retry_after_ms,
        )  # fmt: skip
    raise NotThere("PICTURE_UNAVAILABLE", f"The picture's server answers with {status}.")


async def _pieces(answer: StreamedResponse) -> AsyncIterator[bytes]:
    async for piece in answer.pieces:
        yield piece


async def upload(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Record where the pictures are. Content that is known brings its thumbnails along."""
    if not batch:
        return ()
    org_id = batch[0].job.org_id
    hashes = [_checkpoint(item)["sha256"] for item in batch]
    known = await ctx.port(PictureIndex).with_content(org_id, hashes)
    return [_upload_outcome(item, known.get(_checkpoint(item)["sha256"])) for item in batch]


def _upload_outcome(item: Item, same: KnownPicture | None) -> Outcome:
    told, url = _checkpoint(item), item.input["url"]
    made = {} if same is None else same.thumbnails
    picture = StorePicture(
        url, told["blob"], told["sha256"], told["size"],
        None if same is None else same.width, None if same is None else same.height, made,
        None if same is None else same.hashes,
    )  # fmt: skip
    checkpoint = {**told, "thumbnails": {str(box): key for box, key in made.items()}}
    kept = [KeepBlob(told["blob"], "picture", _owner(url)), *_keep(made, url)]
    return Advance(checkpoint, effects=[*kept, picture])


async def make_thumbnails(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    return await each(_make_thumbnails, SHRUNK_AT_ONCE)(batch, ctx)


async def _make_thumbnails(item: Item, ctx: Context) -> Outcome:
    told, url = _checkpoint(item), item.input["url"]
    have = {int(box): key for box, key in told.get("thumbnails", {}).items()}
    lacking = [box for box in boxes_of(item.job.config) if box not in have]
    if not lacking:
        return Done(_cells(item, "reused", thumbnails=len(have)))
    try:
        async with ctx.blobs.local(told["blob"]) as path:
            width, height, pictures, hashes = await ctx.children.call(
                shrink_file, InputFile(path), lacking
            )
    except (ChildCrashed, PermanentError) as error:
        return Fail(_unreadable(error), _cells(item, "unreadable"))
    blobs = await asyncio.gather(*(ctx.blobs.put(_as_stream(one), _MAX_BYTES) for one in pictures))
    made = {box: blob.key for box, blob in zip(lacking, blobs, strict=True)}
    picture = StorePicture(
        url, told["blob"], told["sha256"], told["size"], width, height, made,
        None if hashes is None else (hashes.phash, hashes.dhash),
    )  # fmt: skip
    cells = _cells(item, "stored", thumbnails=len(made) + len(have))
    return Done(cells, {**told, "thumbnails": {}}, effects=[*_keep(made, url), picture])


def _unreadable(error: Exception) -> ItemError:
    if isinstance(error, BadInput) and error.code == "PICTURE_UNREADABLE":
        return ItemError.of(error)
    return ItemError("PICTURE_UNREADABLE", "The picture is more than its decoder can take.")


async def _as_stream(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _checkpoint(item: Item) -> Mapping[str, Any]:
    assert item.normalized is not None
    return item.normalized


def _cells(item: Item, state: str, **more: Any) -> dict[str, Any]:
    told = item.input
    return {KIND: "image", "title": told.get("title"), "images": told["url"],
            "sourceId": told.get("sourceId"), MATCH: state, **more}  # fmt: skip


def _owner(url: str) -> str:
    return sha256(url.encode()).hexdigest()


def _keep(thumbnails: Mapping[int, str], url: str) -> list[Effect]:
    return [KeepBlob(key, "thumbnail", _owner(url)) for key in thumbnails.values()]
