"""Files of the server, named by their path and copied like an upload."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import PurePosixPath

from penstock.api.http.forms import safe_name
from penstock.app.uploads import Upload, forget_upload
from penstock.engine.runtime import Runtime
from penstock.guards.paths import open_under
from penstock.model.ids import new_id
from penstock.model.text.media_types import media_type_of
from penstock.store.accounts.accounts import Principal

_PIECE_BYTES = 1024 * 1024


@asynccontextmanager
async def taken_in(runtime: Runtime, who: Principal, path: str) -> AsyncIterator[Upload]:
    """A copy of the file, deleted again if the job is refused."""
    roots = [root.replace("{org}", who.org) for root in runtime.settings.import_roots]
    number = open_under(roots, path)
    name = safe_name(os.fsencode(PurePosixPath(path).name))
    blob = await runtime.blobs.put(_pieces(number), runtime.settings.max_file_bytes)
    upload = Upload(new_id(), name, "", blob)
    try:
        kind = media_type_of(name, "", blob.head)
        yield Upload(upload.id, name, kind, blob)
    except BaseException:
        await asyncio.shield(forget_upload(runtime, upload))
        raise


async def _pieces(number: int) -> AsyncIterator[bytes]:
    try:
        while piece := await asyncio.to_thread(os.read, number, _PIECE_BYTES):
            yield piece
    finally:
        os.close(number)
