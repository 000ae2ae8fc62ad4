"""Uploads in several requests: begun, gone on with, and at last a file like any other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from penstock.app.uploads import Upload, keep_upload
from penstock.engine.runtime import Runtime
from penstock.model.errors import NotThere, PermanentError
from penstock.model.ports import PartialUpload
from penstock.store import uploads
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Transaction

# What the file is, by its first bytes; refuses one that is not what it says.
Judge = Callable[[str, str, bytes], str]


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that go on at an offset, and perhaps what they must add up to."""

    offset: int
    chunks: AsyncIterator[bytes]
    checksum: tuple[str, bytes] | None = None


async def find(conn: Connection, upload_id: UUID) -> Any:
    row = await uploads.get(conn, upload_id)
    if row is None:
        raise no_such_upload()
    return row


def no_such_upload() -> NotThere:
    """The same for one that is unknown, someone else's, or has run out."""
    return NotThere("NOT_FOUND", "There is no such upload, or it has run out. Begin a new one.")


async def offset_of(
    runtime: Runtime, transaction: Transaction, caller: Caller, row: Any, judge: Judge
) -> int:
    """How far it is. One whose last request died just before the end is brought there."""
    if row["finished_at"] is not None:
        return int(row["length"])
    offset = await runtime.blobs.partials.offset(row["id"].hex)
    if offset < row["length"]:
        return offset
    async with runtime.blobs.partials.hold(row["id"].hex) as partial:
        await _finish(runtime, transaction, caller, row, partial, judge)
    return offset


async def go_on(
    runtime: Runtime, transaction: Transaction, caller: Caller, row: Any, piece: Piece, judge: Judge
) -> int:
    """Write what comes, and make it a file once it is whole; answers the new offset."""
    length = int(row["length"])
    if row["finished_at"] is not None:
        _check_offset(piece.offset, length)
        return length
    async with runtime.blobs.partials.hold(row["id"].hex) as partial:
        _check_offset(piece.offset, partial.offset)
        offset = await partial.append(piece.chunks, length - partial.offset, piece.checksum)
        runtime.failpoints.reach("after_piece")
        if offset == length:
            await _finish(runtime, transaction, caller, row, partial, judge)
    return offset


async def give_up(runtime: Runtime, conn: Connection, upload_id: UUID) -> None:
    """Forget the upload in the caller's transaction, if nobody writes to it."""
    async with runtime.blobs.partials.hold(upload_id.hex):
        if not await uploads.drop(conn, upload_id):
            raise no_such_upload()
        await runtime.blobs.partials.remove(upload_id.hex)


async def _finish(
    runtime: Runtime,
    transaction: Transaction,
    caller: Caller,
    row: Any,
    partial: PartialUpload,
    judge: Judge,
) -> None:
    """The blob, then the row that keeps it, then the upload's own bytes go: dying in between
    leaves something to finish."""
    blob = await partial.finish()
    media_type = judge(row["name"], row["media_type"], blob.head)
    runtime.failpoints.reach("after_whole")
    owner = replace(caller.who, user_id=row["user_id"], org_id=row["org_id"])
    async with transaction() as conn:
        if await uploads.finish(conn, row["id"]):
            upload = Upload(row["id"], row["name"], media_type, blob)
            await keep_upload(runtime, conn, owner, upload, caller.ip)
    await runtime.blobs.partials.remove(row["id"].hex)


def _check_offset(given: int, found: int) -> None:
    if given != found:
        raise PermanentError(
            "OFFSET_MISMATCH",
            f"The upload is at {found:,}, not at {given:,}. Go on from there: HEAD tells it, too.",
            offset=found,
        )
