"""Storage usage of each org in bytes and rows, as counters, and its quota."""

from __future__ import annotations

from penstock.model.errors import BadInput, PermanentError
from penstock.model.quota import Quota, Usage
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("usage")
QUOTA = "STORAGE_QUOTA_EXCEEDED"
MOST_OPEN_UPLOADS = 100


async def get(conn: Connection, org_id: int) -> Usage:
    row = await conn.fetchrow(_sql.usage_of, org_id)
    return Usage() if row is None else Usage(row["file_bytes"], row["rows"], row["row_bytes"])


async def add_file(conn: Connection, org_id: int, size: int, quota: Quota) -> None:
    """Add a file to the org's usage, or raise STORAGE_QUOTA_EXCEEDED."""
    fits = quota.file_bytes is None or size <= quota.file_bytes
    if not fits or await conn.fetchval(_sql.add_file_bytes, org_id, size, quota.file_bytes) is None:
        raise _files_exceeded(quota)


async def require_room(conn: Connection, org_id: int, length: int, quota: Quota) -> None:
    """Refuse an upload that would exceed the quota or the number of open uploads."""
    row = await conn.fetchrow(_sql.open_uploads, org_id, MOST_OPEN_UPLOADS)
    assert row is not None
    if row["uploads"] >= MOST_OPEN_UPLOADS:
        raise BadInput(
            QUOTA,
            f"{MOST_OPEN_UPLOADS} of your uploads are not complete. Finish or delete some"
            " of them, or wait until they expire.",
        )
    used = (await get(conn, org_id)).file_bytes + row["bytes"]
    if quota.file_bytes is not None and used + length > quota.file_bytes:
        raise _files_exceeded(quota)


async def add_rows(conn: Connection, org_id: int, rows: int, size: int, quota: Quota) -> None:
    """Add rows to the org's usage, or raise STORAGE_QUOTA_EXCEEDED."""
    found = await conn.fetchrow(_sql.add_rows, org_id, rows, size, quota.rows, quota.row_bytes)
    if found is None or _exceeds(found["rows"], quota.rows):
        raise PermanentError(
            QUOTA,
            f"The org may keep {quota.rows or 0:,} rows of {quota.row_bytes or 0:,} bytes, and this"
            " file has more than there is room for. Have PENSTOCK_QUOTA_ROWS or"
            " PENSTOCK_QUOTA_ROW_BYTES raised, then reprocess the job: it goes on from there.",
        )


def _exceeds(used: int, most: int | None) -> bool:
    return most is not None and used > most


def _files_exceeded(quota: Quota) -> BadInput:
    return BadInput(
        QUOTA,
        f"Your org may keep {quota.file_bytes or 0:,} bytes of files, and has no room for this one."
        " Files that no job uses go after a day; or have PENSTOCK_QUOTA_FILE_BYTES raised.",
        limit=quota.file_bytes,
    )
