"""Job postings: delete one, and all of them as files."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.app.exports import OpenConnection, in_export_thread
from penstock.model.errors import NotThere
from penstock.model.export import ExportRow, RowWriter
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.crawl import postings
from penstock.store.crawl.postings import PostingRow
from penstock.store.database import Connection, from_json

_PAGE = 500
FIELDS = (
    "title", "company", "locations", "remote", "employmentType", "salary", "datePosted",
    "validThrough", "description", "requirements", "responsibilities",
)  # fmt: skip
_ABOUT = ("id", "site", "url", "state", "updatedAt")
# In these a posting is a document, with its parts as they are; elsewhere it is a line of cells.
_DOCUMENTS = frozenset({"json", "ndjson"})


@dataclass(frozen=True, slots=True)
class PostingFilter:
    """Which postings; None: all."""

    text: str = ""
    company: str | None = None
    state: str | None = None
    job_id: UUID | None = None


def no_such_posting() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such job posting.")


async def delete_posting(conn: Connection, caller: Caller, posting_id: UUID) -> None:
    """Delete a job posting; its page stays, and the next change of the page makes it again."""
    found = await postings.get_posting(conn, posting_id)
    if found is None or not await postings.delete(conn, posting_id):
        raise no_such_posting()
    told = {"company": found.company, "url": found.url, "title": found.title}
    await audit(
        conn, caller.who.org_id, caller.who.user_id, "posting.delete", f"posting:{posting_id}",
        ip=caller.ip, before=told,
    )  # fmt: skip


async def posting_pieces(
    opened: OpenConnection, wanted: PostingFilter, kind: type[RowWriter]
) -> AsyncGenerator[bytes, None]:
    """In short transactions, page by page."""
    nested = kind.extension in _DOCUMENTS
    writer = kind([*FIELDS, *_ABOUT])
    yield writer.head()
    after: UUID | None = None
    while True:
        async with opened() as conn:
            rows = await postings.list_postings(
                conn, after, _PAGE, company=wanted.company, state=wanted.state, text=wanted.text,
                job_id=wanted.job_id,
            )  # fmt: skip
        yield await in_export_thread(_page, writer, nested, rows)
        if len(rows) < _PAGE:
            break
        after = rows[-1].id
    yield await in_export_thread(writer.end)


def _page(writer: RowWriter, nested: bool, rows: Iterable[PostingRow]) -> bytes:
    return writer.page(_line(row, nested) for row in rows)


def _line(row: PostingRow, nested: bool) -> ExportRow:
    data = from_json(row.data)
    cells = [data.get(name) if nested else _cell(data.get(name)) for name in FIELDS]
    return ExportRow([
        *cells, str(row.id), row.company, row.url, row.state, row.updated_at.isoformat(),
    ])  # fmt: skip


def _cell(value: Any) -> Any:
    """Lists as text, a salary as a range."""
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if isinstance(value, dict):
        ends = [str(value[name]) for name in ("min", "max") if value.get(name)]
        told = ["-".join(dict.fromkeys(ends)), value.get("currency"), value.get("unit")]
        return " ".join(str(one) for one in told if one)
    return value
