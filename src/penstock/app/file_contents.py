"""The content of an uploaded file: a signed address of the bucket, or the bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.model.errors import NotThere
from penstock.store.database import Connection
from penstock.store.jobs import jobs
from penstock.store.jobs.job_rows import FileRow

# A signed address is used at once; nothing of it is stored.
_SECONDS = 300
_PIECE_BYTES = 1024 * 1024


async def get_content(conn: Connection, file_id: UUID) -> FileRow:
    """The file, if it is in the scope of ``conn``."""
    found = await jobs.get_file(conn, file_id)
    if found is None:
        raise NotThere("FILE_NOT_FOUND", "There is no such file.")
    return found


async def signed_address(runtime: Runtime, file: FileRow) -> str | None:
    """Where the bucket gives out the file for some minutes; None if files are in a folder."""
    return await runtime.blobs.download_url(file.blob_key, _SECONDS)


async def pieces_of(runtime: Runtime, file: FileRow) -> AsyncIterator[bytes]:
    async with runtime.blobs.local(file.blob_key) as path:
        opened = await asyncio.to_thread(path.open, "rb")
        with opened:
            while piece := await asyncio.to_thread(opened.read, _PIECE_BYTES):
                yield piece
