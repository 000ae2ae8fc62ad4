"""Words of suppliers' files and what they mean, per org, source and field."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("saved_values")
# A field of a source may be given only so many words, since each job carries them.
MOST_WORDS = 1000
_MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class SavedValue:
    source: str
    field: str
    word: str
    value: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class UnreadValue:
    """A value that could not be read, and in how many rows."""

    column: str | None
    field: str
    value: str
    code: str
    rows: int
    first_row: int


async def of_source(conn: Connection, org_id: int, source: str) -> dict[str, dict[str, str]]:
    """What each word means, by field."""
    found: dict[str, dict[str, str]] = {}
    for row in await conn.fetch(_sql.of_source, org_id, source):
        found.setdefault(row["field"], {})[row["word"]] = row["value"]
    return found


async def list_values(
    conn: Connection, org_id: int, source: str | None, after: tuple[str, str, str], limit: int
) -> list[SavedValue]:
    rows = await conn.fetch(_sql.list_values, org_id, source, *after, limit)
    return [SavedValue(**row) for row in rows]


async def count_of_source(conn: Connection, org_id: int, source: str) -> int:
    return int(await conn.fetchval(_sql.count_of_source, org_id, source))


async def set_value(
    conn: Connection, org_id: int, user_id: int, source: str, field: str, word: str, value: str
) -> str | None:
    """Answers what the word meant before; None: it is new."""
    before: str | None = await conn.fetchval(
        _sql.set_value, org_id, source, field, word, value, user_id
    )
    return before


async def delete_value(
    conn: Connection, org_id: int, source: str, field: str, word: str
) -> str | None:
    """Answers what the word meant; None: it was not saved."""
    before: str | None = await conn.fetchval(_sql.delete_value, org_id, source, field, word)
    return before


async def unread_values(
    conn: Connection, job_id: UUID, codes: list[str], at_least: int, limit: int
) -> list[UnreadValue]:
    rows = await conn.fetch(_sql.unread_values, job_id, _MOST_ROWS, codes, at_least, limit)
    return [UnreadValue(**row) for row in rows]
