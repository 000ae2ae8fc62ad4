"""Files of jobs that are named by bucket and key, in buckets that the org watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from urllib.parse import unquote, urlsplit

from penstock.app.uploads import Upload, forget_upload
from penstock.app.watchers.watchers import MOST_WATCHERS, address_of
from penstock.engine.runtime import Runtime
from penstock.model.errors import (
    BadInput,
    NotAllowed,
    NotThere,
    TransientError,
    file_too_large,
)
from penstock.model.ids import new_id
from penstock.model.places.names import check_name
from penstock.model.places.ports import PlaceAddress
from penstock.model.ports import StoredBlob
from penstock.model.text.media_types import media_type_of
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Transaction
from penstock.store.watchers import watchers as store

SCHEME = "s3://"


@asynccontextmanager
async def taken_from_bucket(
    runtime: Runtime, transaction: Transaction, who: Principal, url: str
) -> AsyncIterator[Upload]:
    """A copy of the object ``s3://bucket/key``, deleted again if the job is refused."""
    address, name = await _find(runtime, transaction, who, url)
    try:
        blob = await _copy_object(runtime, address, name)
    except NotAllowed as error:
        raise BadInput("URL_REFUSED", f"The bucket cannot be read: {error.message}") from error
    except TransientError as error:
        if error.code == "BLOB_UNAVAILABLE":
            raise
        raise TransientError(
            "URL_UNREACHABLE", f"The object could not be fetched. {error.message}",
            retry_after_ms=error.retry_after_ms,
        ) from error  # fmt: skip
    base = name.rpartition("/")[2][-255:]
    upload = Upload(new_id(), base, "", blob, host=urlsplit(url).netloc)
    try:
        kind = media_type_of(base, "", blob.head)
        yield Upload(upload.id, base, kind, blob, upload.host)
    except BaseException:
        await asyncio.shield(forget_upload(runtime, upload))
        raise


async def _copy_object(runtime: Runtime, address: PlaceAddress, name: str) -> StoredBlob:
    limit = runtime.settings.max_file_bytes
    async with runtime.places.open(address) as place:
        file = await place.find(name)
        if file is None:
            raise NotThere("FILE_NOT_FOUND", "There is no object with this key.")
        if file.size > limit:
            raise file_too_large(limit)
        async with aclosing(place.read(file)) as pieces:
            return await runtime.blobs.put(pieces, limit)


async def _find(
    runtime: Runtime, transaction: Transaction, who: Principal, url: str
) -> tuple[PlaceAddress, str]:
    """The org's watcher whose bucket and prefix contain the object, and its name below them."""
    asked = urlsplit(url)
    key = unquote(asked.path).lstrip("/")
    async with transaction() as conn:
        for row in await store.list_watchers(conn, None, MOST_WATCHERS, who.org_id):
            there = urlsplit(row.address)
            prefix = unquote(there.path).strip("/")
            prefix = f"{prefix}/" if prefix else ""
            if row.kind != "s3" or there.netloc != asked.netloc or not key.startswith(prefix):
                continue
            name = key.removeprefix(prefix)
            if check_name(name) is None:
                credentials = await store.open_credentials(conn, runtime.sealer, row.id)
                return address_of(row, credentials), name
    raise BadInput(
        "URL_NOT_ALLOWED",
        "This URL is not allowed: no watcher of your org reads this bucket and key.",
    )
