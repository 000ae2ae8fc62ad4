"""Pictures of products, fetched by the server for its users: a supplier's server does not see their
addresses, and a browser gets only pictures that were decoded and encoded again here."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import Field

from penstock import __version__
from penstock.api.catalog.products import ProductId, no_such_product
from penstock.api.http.access import ApiParts, Reader
from penstock.api.http.disconnect import while_connected
from penstock.api.http.schemas import Shape
from penstock.engine.runtime import Runtime
from penstock.formats.pictures import MEDIA_TYPE, shrink
from penstock.guards.fair_slots import FairSlots
from penstock.model.errors import (
    BadInput,
    ChildCrashed,
    NotThere,
    PenstockError,
    PermanentError,
    Unavailable,
)
from penstock.model.network.fetching import FetchLimits, FetchPurpose, FetchRequest
from penstock.model.products import KnownPicture
from penstock.store.catalog import catalog
from penstock.store.catalog import pictures as stored
from penstock.store.database import from_json

router = APIRouter(tags=["products"])

PictureSize = Literal["small", "large"]
# Twice the size in lists and pages, for screens with a higher resolution.
_BOXES: dict[PictureSize, int] = {"small": 96, "large": 960}
LIMITS = FetchLimits(most_bytes=10 * 1024 * 1024, total_ms=10_000, silent_ms=5_000)
_ASKED = {"Accept": "image/*", "User-Agent": f"Penstock-Pictures/{__version__}"}
_AT_ONCE = 6
_AT_ONCE_PER_ORG = 4
_MOST_IN_LINE = 200
_MOST_IN_LINE_PER_ORG = 100
_BUSY_RETRY_MS = 2000
_MOST_FAILURES = 1000
_FAILED_FOR_S = 300.0
_SENT = {
    "Cache-Control": "private, max-age=300",
    "Content-Disposition": 'inline; filename="picture.webp"',
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}


@dataclass
class _Fetching:
    """A picture that is being fetched, and how many requests wait for it."""

    org_id: int
    task: asyncio.Task[None]
    waiting: int = 0


class Pictures:
    """Each picture is fetched once and then cached. A failed one is not tried again for some
    minutes: a page of products would ask a broken server for fifty pictures at once."""

    def __init__(self, runtime: Runtime, clock: Callable[[], float] = time.monotonic) -> None:
        self._runtime = runtime
        self._clock = clock
        self._places = FairSlots(_AT_ONCE, _AT_ONCE_PER_ORG)
        self._under_way: dict[str, _Fetching] = {}
        self._failed: OrderedDict[str, tuple[float, PenstockError]] = OrderedDict()

    async def get(self, org_id: int, url: str, size: PictureSize) -> bytes:
        # With the org, so that no org can find out by timing what another one has seen.
        name = hashlib.sha256(f"{org_id} {url}".encode()).hexdigest()
        kept = self._runtime.blobs.pictures
        found = await kept.get(f"{name}.{size}")
        if found is None:
            await self._obtain(org_id, name, url)
            found = await kept.get(f"{name}.{size}")
        if found is None:
            raise Unavailable("PICTURE_UNAVAILABLE", "The picture was lost. Ask for it again.")
        return found

    async def _obtain(self, org_id: int, name: str, url: str) -> None:
        at, failure = self._failed.get(name, (0.0, None))
        if failure is not None and self._clock() - at < _FAILED_FOR_S:
            raise failure.with_traceback(None)
        fetching = self._under_way.get(name)
        if fetching is None:
            self._refuse_a_long_line(org_id)
            task = asyncio.create_task(self._fetch(org_id, name, url))
            fetching = self._under_way[name] = _Fetching(org_id, task)
            task.add_done_callback(lambda ended: self._ended(name, ended))
        fetching.waiting += 1
        try:
            # A client that leaves must not cancel the fetch for other clients.
            await asyncio.shield(fetching.task)
        finally:
            fetching.waiting -= 1
            if not fetching.waiting and not fetching.task.done():
                # Removed at once: a new request must not join a fetch that is being cancelled.
                del self._under_way[name]
                fetching.task.cancel()

    def _refuse_a_long_line(self, org_id: int) -> None:
        own = sum(one.org_id == org_id for one in self._under_way.values())
        if len(self._under_way) >= _MOST_IN_LINE or own >= _MOST_IN_LINE_PER_ORG:
            raise Unavailable(
                "PICTURE_BUSY",
                "More pictures are asked for than can be fetched. Try again.",
                retry_after_ms=_BUSY_RETRY_MS,
            )

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        self._under_way.pop(name, None)
        self._failed.pop(name, None)
        failure = task.exception()
        if isinstance(failure, PenstockError):
            # Without its traceback, which would keep the fetched bytes in memory.
            plain = type(failure)(failure.code, failure.message)
            self._failed[name] = (self._clock(), plain)
            while len(self._failed) > _MOST_FAILURES:
                self._failed.popitem(last=False)

    async def _fetch(self, org_id: int, name: str, url: str) -> None:
        async with self._places.slot(org_id):
            content = await self._content(url)
            children = self._runtime.picture_children.for_owner(org_id)
            try:
                made = await children.call(shrink, content, list(_BOXES.values()))
            except ChildCrashed as error:
                raise BadInput(
                    "PICTURE_UNREADABLE", "The picture is more than its decoder can take."
                ) from error
            except PermanentError as error:
                if error.code != "TOO_SLOW":
                    raise
                raise BadInput(
                    "PICTURE_UNREADABLE", "The picture takes too long to decode."
                ) from error
        for size, picture in zip(_BOXES, made, strict=True):
            await self._runtime.blobs.pictures.put(f"{name}.{size}", picture)

    async def _content(self, url: str) -> bytes:
        fetcher = self._runtime.fetchers[FetchPurpose.FILE]
        try:
            answer = await fetcher.fetch(FetchRequest(url, headers=_ASKED, limits=LIMITS))
        except Unavailable as error:
            raise Unavailable("PICTURE_UNAVAILABLE", error.message) from error
        if answer.status != 200:
            raise Unavailable(
                "PICTURE_UNAVAILABLE", f"The picture's server answers with {answer.status}."
            )
        return answer.body


async def _pictures(request: Request) -> Pictures:
    return cast(Pictures, request.app.state.pictures)


class PictureQuery(Shape):
    size: PictureSize = Field(
        "large", description="`small` fits into 96 by 96 pixels, `large` into 960 by 960."
    )


@router.get(
    "/products/{product_id}/images/{place}",
    summary="Show a picture of a product",
    response_class=Response,
    responses={200: {"content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}},
)
async def show_picture(
    request: Request,
    api: ApiParts,
    who: Reader,
    product_id: ProductId,
    place: Annotated[int, Path(ge=0, le=10_000, description="Its place in `images`, from 0.")],
    query: Annotated[PictureQuery, Query()],
    pictures: Annotated[Pictures, Depends(_pictures)],
) -> Response:
    """The picture as WebP, whatever it is at its address: the thumbnail that an import made, or
    fetched by the server, decoded, made small and kept for a month. Pictures at private addresses
    are not fetched, vector graphics not shown."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        row = await catalog.get(conn, product_id)
        if row is None:
            raise no_such_product()
        url = _url(from_json(row.data), place)
        org_id = row.org_id
        known = (await stored.find(conn, org_id, [url])).get(url)
    picture = await _thumbnail(api.runtime, known, query.size)
    if picture is None:
        picture = await while_connected(request, pictures.get(org_id, url, query.size))
    headers = {**_SENT, "ETag": f'"{hashlib.sha256(picture).hexdigest()[:24]}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    return Response(picture, headers=headers, media_type=MEDIA_TYPE)


async def _thumbnail(
    runtime: Runtime, known: KnownPicture | None, size: PictureSize
) -> bytes | None:
    """The smallest stored thumbnail that is at least as large, else the largest; None if there is
    none."""
    boxes = sorted(known.thumbnails) if known is not None else []
    if known is None or not boxes:
        return None
    box = next((one for one in boxes if one >= _BOXES[size]), boxes[-1])
    key = known.thumbnails[box]
    if not await runtime.blobs.exists(key):
        return None
    async with runtime.blobs.local(key) as path:
        return await asyncio.to_thread(path.read_bytes)


def _url(product: dict[str, Any], place: int) -> str:
    images = product.get("images") or []
    if place >= len(images):
        raise NotThere("NOT_FOUND", f"The product has {len(images)} pictures, counted from 0.")
    return str(images[place].get("url") or "")
