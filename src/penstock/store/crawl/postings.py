"""Job postings that were extracted from pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


async def expire(conn: Connection, org_id: int, page_ids: Sequence[UUID]) -> None:
    await conn.execute(_sql.expire_postings, org_id, list(page_ids))


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
