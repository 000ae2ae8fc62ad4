"""Files of other servers, named by their URL and taken in like an upload."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from penstock.api.http.media_types import media_type_of
from penstock.app.downloads import download
from penstock.app.uploads import Upload, forget_upload
from penstock.engine.runtime import Runtime
from penstock.model.ids import new_id


@asynccontextmanager
async def fetched_from(runtime: Runtime, url: str) -> AsyncIterator[Upload]:
    """The file as it is now, gone again if the job is refused."""
    found = await download(runtime, url)
    upload = Upload(new_id(), found.name, found.media_type, found.blob, found.host)
    try:
        kind = media_type_of(found.name, found.media_type, found.blob.head)
        yield replace(upload, media_type=kind)
    except BaseException:
        await asyncio.shield(forget_upload(runtime, upload))
        raise
