"""Files of jobs: their bytes are stored first, then the row that refers to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.model.errors import Unavailable
from penstock.model.ports import StoredBlob
from penstock.store.accounts import usage
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import audit
from penstock.store.database import Connection
from penstock.store.jobs import jobs


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that is stored but not recorded in the database yet."""

    id: UUID
    name: str
    media_type: str
    blob: StoredBlob
    # The host it was fetched from, if it did not come with the request.
    host: str = ""


async def keep_upload(
    runtime: Runtime, conn: Connection, who: Principal, upload: Upload, ip: str | None = None
) -> datetime:
    """Write the row of an upload, audited and within the org's quota. From the commit on the file
    is kept."""
    await usage.add_file(conn, who.org_id, upload.blob.size, runtime.settings.quota)
    created_at = await jobs.add_file(
        conn,
        file_id=upload.id,
        org_id=who.org_id,
        user_id=who.user_id,
        name=upload.name,
        media_type=upload.media_type,
        sha256=upload.blob.sha256,
        size=upload.blob.size,
        blob_key=upload.blob.key,
    )
    details = {"name": upload.name, "size": upload.blob.size, "sha256": upload.blob.sha256}
    if upload.host:
        details["host"] = upload.host
    await audit(
        conn, who.org_id, who.user_id, "file.create", f"file:{upload.id}", ip=ip, after=details
    )
    # A refused upload of the same bytes may have deleted the blob just before.
    if not await runtime.blobs.exists(upload.blob.key):
        raise Unavailable("BLOB_UNAVAILABLE", "The file could not be kept. Send it again.")
    return created_at


async def forget_upload(runtime: Runtime, upload: Upload) -> None:
    """Remove the bytes of an upload that was refused, unless another file has the same ones."""
    key = upload.blob.key
    try:
        async with runtime.db.transaction() as conn:
            if await jobs.take_blob(conn, key):
                await runtime.blobs.remove(key)
    except Exception as error:  # the caller gets the error before this one
        runtime.log.warning("a refused file could not be deleted", blob=key, error=repr(error))
