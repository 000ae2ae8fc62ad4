"""Job postings that were extracted from pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID

from penstock.model.crawl.pages import KeepPosting
from penstock.model.ids import new_id
from penstock.store.database import Connection, to_json
from penstock.store.queries import load

_sql = load("postings")
_MAX_WORDS = 2000


@dataclass(frozen=True, slots=True)
class PostingRow:
    """A job posting; ``data`` and ``lineage`` are JSON."""

    id: UUID
    page_id: UUID
    company: str
    url: str
    title: str
    data: str
    lineage: str
    state: str
    job_id: UUID
    row_no: int
    created_at: datetime
    updated_at: datetime


async def save(
    conn: Connection, org_id: int, job_id: UUID, row_no: int, posting: KeepPosting
) -> None:
    data = posting.data
    title = str(data.get("title") or posting.url)
    words = " ".join(
        [title, str(data.get("company") or ""), *map(str, data.get("locations") or ())]
    )
    await conn.execute(
        _sql.save_posting, new_id(), org_id, posting.page_id, posting.company, posting.url, title,
        words.lower()[:_MAX_WORDS], to_json(data), to_json(posting.lineage),
        _day(data.get("datePosted")), _day(data.get("validThrough")), job_id, row_no,
    )  # fmt: skip


def _day(text: Any) -> date | None:
    """Dates are ISO, perhaps with a time."""
    try:
        return date.fromisoformat(str(text)[:10])
    except ValueError:
        return None


async def expire(conn: Connection, org_id: int, job_id: UUID, page_ids: Sequence[UUID]) -> None:
    await conn.execute(_sql.expire_postings, org_id, list(page_ids), job_id)


@dataclass(slots=True)
class UndonePostings:
    """What an undo did to postings; ``last`` is the last one that was looked at."""

    restored: int = 0
    deleted: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)
    looked_at: int = 0
    last: UUID | None = None


async def undo_some(
    conn: Connection, job_id: UUID, after: UUID, most: int, *, dry_run: bool = False
) -> UndonePostings:
    """Restore the next postings of a job that were not changed since. ``dry_run``: only report what
    would be restored."""
    changes = await conn.fetch(_sql.postings_to_undo, job_id, after, most)
    ids = [change["posting_id"] for change in changes]
    rows = await conn.fetch(_sql.look_at_postings if dry_run else _sql.lock_postings, ids)
    now = {row["id"]: row["version"] for row in rows}
    undone = UndonePostings(looked_at=len(ids), last=ids[-1] if ids else None)
    restored: list[UUID] = []
    made: list[UUID] = []
    for change in changes:
        version = now.get(change["posting_id"])
        if version != change["version"]:
            reason = "It was deleted since." if version is None else "It was changed since."
            undone.refused.append({
                "postingId": str(change["posting_id"]), "rowNo": change["row_no"],
                "reason": reason,
            })  # fmt: skip
        else:
            (made if change["made"] else restored).append(change["posting_id"])
    undone.restored, undone.deleted = len(restored), len(made)
    if (restored or made) and not dry_run:
        await conn.execute(_sql.restore_postings, job_id, restored)
        await conn.execute(_sql.delete_postings, made)
        await conn.execute(_sql.mark_postings_undone, job_id, [*restored, *made])
    return undone


async def delete(conn: Connection, posting_id: UUID) -> bool:
    return bool(await conn.fetch(_sql.delete_postings, [posting_id]))


async def list_postings(
    conn: Connection, after: UUID | None, limit: int, *, company: str | None = None,
    state: str | None = None, text: str = "", job_id: UUID | None = None,
) -> list[PostingRow]:  # fmt: skip
    """Oldest first; ``text``: every word of it is found in title, employer or locations."""
    words = [f"%{_escaped(word)}%" for word in text.lower().split()]
    rows = await conn.fetch(_sql.list_postings, after, company, state, words, job_id, limit)
    return [PostingRow(**row) for row in rows]


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")


async def get_posting(conn: Connection, posting_id: UUID) -> PostingRow | None:
    row = await conn.fetchrow(_sql.get_posting, posting_id)
    return None if row is None else PostingRow(**row)
