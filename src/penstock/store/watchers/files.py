"""Files that watchers have seen, and which of them are taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.ids import new_ids
from penstock.model.places.ports import PlaceFile
from penstock.store.database import Connection, to_json
from penstock.store.queries import load

_sql = load("watched_files")


@dataclass(frozen=True, slots=True)
class KnownFile:
    """``seen_seconds`` is since this version was first seen. ``takeable``: it is not taken yet, and
    no scanner works on it."""

    id: UUID
    name: str
    version: str
    state: str
    finished: bool
    attempts: int
    seen_seconds: float
    takeable: bool


@dataclass(frozen=True, slots=True)
class WatchedFileRow:
    """``error`` is JSON."""

    id: UUID
    watcher_id: UUID
    name: str
    size: int
    modified_at: datetime | None
    state: str
    attempts: int
    next_try_at: datetime | None
    error: str | None
    job_id: UUID | None
    finished: bool
    first_seen_at: datetime
    updated_at: datetime


async def record_seen(
    conn: Connection, org_id: int, watcher_id: UUID, found: Sequence[PlaceFile]
) -> list[KnownFile]:
    """Add files that are new, forget versions they replaced, and return what is known of all."""
    names, versions = [one.name for one in found], [one.version for one in found]
    known = await _known(conn, watcher_id, names, versions)
    ids = {(one.name, one.version) for one in known}
    new = [one for one in found if (one.name, one.version) not in ids]
    if new:
        await conn.execute(
            _sql.add_files, watcher_id, org_id, new_ids(len(new)), [one.name for one in new],
            [one.version for one in new], [one.size for one in new],
            [one.modified for one in new],
        )  # fmt: skip
        await conn.execute(
            _sql.drop_replaced, watcher_id, [one.name for one in new], [one.version for one in new]
        )
        known = await _known(conn, watcher_id, names, versions)
    await conn.execute(_sql.mark_seen, [one.id for one in known])
    return known


async def _known(
    conn: Connection, watcher_id: UUID, names: Sequence[str], versions: Sequence[str]
) -> list[KnownFile]:
    rows = await conn.fetch(_sql.known_files, watcher_id, names, versions)
    return [KnownFile(**row) for row in rows]


async def claim(conn: Connection, file_id: UUID, claim_id: UUID, seconds: float) -> bool:
    """Whether this scanner may read the file."""
    return bool(await conn.fetch(_sql.claim_file, file_id, claim_id, seconds))


async def renew(conn: Connection, file_id: UUID, claim_id: UUID, seconds: float) -> bool:
    return bool(await conn.fetch(_sql.renew_claim, file_id, claim_id, seconds))


async def lock_claim(conn: Connection, file_id: UUID, claim_id: UUID) -> bool:
    """Whether the claim still holds; it does until the end of the transaction."""
    return bool(await conn.fetch(_sql.lock_claim, file_id, claim_id))


async def record_submit(conn: Connection, file_id: UUID, job_id: UUID, *, finished: bool) -> None:
    await conn.execute(_sql.file_submitted, file_id, job_id, finished)


async def record_failure(
    conn: Connection, file_id: UUID, claim_id: UUID, error: Mapping[str, Any], *, counted: bool,
    retry_seconds: float | None,
) -> int | None:  # fmt: skip
    """Returns the number of attempts; None if the claim was lost."""
    found = await conn.fetchval(
        _sql.file_failed, file_id, claim_id, to_json(error), int(counted), retry_seconds
    )
    return None if found is None else int(found)


async def forget_version(conn: Connection, file_id: UUID, claim_id: UUID) -> None:
    await conn.execute(_sql.file_changed, file_id, claim_id)


async def claim_finish(conn: Connection, file_id: UUID, seconds: float) -> bool:
    """Whether this scanner may move or delete a file that another one has submitted, which did
    nothing for so many seconds."""
    return bool(await conn.fetch(_sql.claim_finish, file_id, seconds))


async def finish_missing(
    conn: Connection, watcher_id: UUID, names: Sequence[str], seconds: float
) -> None:
    """Submitted files whose names are not in the place any more are moved or deleted."""
    await conn.execute(_sql.finish_missing, watcher_id, names, seconds)


async def record_finish(
    conn: Connection, file_id: UUID, done: bool, error: Mapping[str, Any] | None = None
) -> None:
    await conn.execute(_sql.file_finished, file_id, done, None if error is None else to_json(error))


async def list_files(
    conn: Connection, watcher_id: UUID, after: UUID | None, state: str | None, limit: int
) -> list[WatchedFileRow]:
    """Newest first."""
    rows = await conn.fetch(_sql.list_files, watcher_id, after, state, limit)
    return [WatchedFileRow(**row) for row in rows]


async def count_files(conn: Connection, watcher_id: UUID) -> dict[str, int]:
    """By state."""
    rows = await conn.fetch(_sql.count_files, watcher_id)
    return {row["state"]: row["files"] for row in rows}


async def retry(conn: Connection, watcher_id: UUID, file_id: UUID) -> str | None:
    """The name of the failed file that is tried again; None if there is no such one."""
    found: str | None = await conn.fetchval(_sql.retry_file, watcher_id, file_id)
    return found


async def forget(conn: Connection, days: float, most: int) -> int:
    done = await conn.execute(_sql.forget_files, days, most)
    return int(done.removeprefix("DELETE "))
