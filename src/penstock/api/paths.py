"""Files of the server's own, named by their path and taken in like an upload."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import PurePosixPath

from penstock.api.forms import safe_name
from penstock.api.media_types import media_type_of
from penstock.engine.parts import Parts
from penstock.engine.uploads import Upload, forget_upload
from penstock.guards.paths import open_under
from penstock.model.ids import new_id
from penstock.store.accounts import Principal

_PIECE_BYTES = 1024 * 1024


@asynccontextmanager
async def taken_in(parts: Parts, who: Principal, path: str) -> AsyncIterator[Upload]:
    """A copy of the file as it is now, gone again if the job is refused."""
    roots = [root.replace("{org}", who.org) for root in parts.settings.import_roots]
    number = open_under(roots, path)
    name = safe_name(os.fsencode(PurePosixPath(path).name))
    blob = await parts.blobs.put(_pieces(number), parts.settings.max_file_bytes)
    upload = Upload(new_id(), name, "", blob)
    try:
        kind = media_type_of(name, "", blob.head)
        yield Upload(upload.id, name, kind, blob)
    except BaseException:
        await asyncio.shield(forget_upload(parts, upload))
        raise


async def _pieces(number: int) -> AsyncIterator[bytes]:
    try:
        while piece := await asyncio.to_thread(os.read, number, _PIECE_BYTES):
            yield piece
    finally:
        os.close(number)
