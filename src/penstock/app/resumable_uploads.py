"""Uploads in several requests: begin, continue, and become a file once they are complete."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from uuid import UUID

from penstock.app.uploads import Upload, keep_upload
from penstock.engine.runtime import Runtime
from penstock.model.errors import NotThere, PermanentError
from penstock.model.ports import PartialUpload
from penstock.store import uploads
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Transaction
from penstock.store.uploads import UploadRow

# The media type by the first bytes; refuses a file that is not what it claims to be.
DetectMediaType = Callable[[str, str, bytes], str]


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes from an offset on, perhaps with a checksum."""

    offset: int
    chunks: AsyncIterator[bytes]
    checksum: tuple[str, bytes] | None = None


async def find(conn: Connection, upload_id: UUID) -> UploadRow:
    row = await uploads.get(conn, upload_id)
    if row is None:
        raise no_such_upload()
    return row


def no_such_upload() -> NotThere:
    """The same for one that is unknown, of another user, or has expired."""
    return NotThere("NOT_FOUND", "There is no such upload, or it has expired. Begin a new one.")


async def offset_of(
    runtime: Runtime,
    transaction: Transaction,
    caller: Caller,
    row: UploadRow,
    judge: DetectMediaType,
) -> int:
    """The number of bytes received. An upload that is complete, but whose last request died,
    becomes a file now."""
    if row.finished_at is not None:
        return row.length
    offset = await runtime.blobs.partials.offset(row.id.hex)
    if offset < row.length:
        return offset
    async with runtime.blobs.partials.hold(row.id.hex) as partial:
        await _finish(runtime, transaction, caller, row, partial, judge)
    return offset


async def go_on(
    runtime: Runtime,
    transaction: Transaction,
    caller: Caller,
    row: UploadRow,
    piece: Piece,
    judge: DetectMediaType,
) -> int:
    """Write the bytes, and make the upload a file once it is complete; return the new offset."""
    length = row.length
    if row.finished_at is not None:
        _check_offset(piece.offset, length)
        return length
    async with runtime.blobs.partials.hold(row.id.hex) as partial:
        _check_offset(piece.offset, partial.offset)
        offset = await partial.append(piece.chunks, length - partial.offset, piece.checksum)
        runtime.failpoints.reach("after_piece")
        if offset == length:
            await _finish(runtime, transaction, caller, row, partial, judge)
    return offset


async def give_up(runtime: Runtime, conn: Connection, upload_id: UUID) -> None:
    """Forget the upload in the caller's transaction, if no request is writing to it."""
    async with runtime.blobs.partials.hold(upload_id.hex):
        if not await uploads.drop(conn, upload_id):
            raise no_such_upload()
        await runtime.blobs.partials.remove(upload_id.hex)


async def _finish(
    runtime: Runtime,
    transaction: Transaction,
    caller: Caller,
    row: UploadRow,
    partial: PartialUpload,
    judge: DetectMediaType,
) -> None:
    """Store the blob, then its row, then delete the upload's own bytes: after a crash in between,
    the next request continues."""
    blob = await partial.finish()
    media_type = judge(row.name, row.media_type, blob.head)
    runtime.failpoints.reach("after_whole")
    owner = replace(caller.who, user_id=row.user_id, org_id=row.org_id)
    async with transaction() as conn:
        if await uploads.finish(conn, row.id):
            upload = Upload(row.id, row.name, media_type, blob)
            await keep_upload(runtime, conn, owner, upload, caller.ip)
    await runtime.blobs.partials.remove(row.id.hex)


def _check_offset(given: int, found: int) -> None:
    if given != found:
        raise PermanentError(
            "OFFSET_MISMATCH",
            f"The upload is at {found:,}, not at {given:,}. Continue from there; HEAD answers the"
            " offset, too.",
            offset=found,
        )
