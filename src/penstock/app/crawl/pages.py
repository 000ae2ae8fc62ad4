"""Pages with their versions, and what changed between them."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.model.crawl.pages import no_such_page
from penstock.model.errors import NotThere
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.crawl import pages
from penstock.store.crawl.pages import PageRow, VersionRow
from penstock.store.database import Connection, from_json

_GZIP = 31


@dataclass(frozen=True, slots=True)
class VersionWithChanges:
    """A version, and the fields in which it differs from the one before it; None: there is none, or
    one of both was not extracted."""

    row: VersionRow
    changes: Sequence[Mapping[str, Any]] | None


async def get_page(conn: Connection, page_id: UUID) -> tuple[PageRow, list[VersionWithChanges]]:
    page = await pages.get_page(conn, page_id)
    if page is None:
        raise no_such_page()
    rows = await pages.versions_of_page(conn, page_id)
    older: list[VersionRow | None] = [*rows[1:], None]
    return page, [
        VersionWithChanges(row, _changes(before, row))
        for row, before in zip(rows, older, strict=True)
    ]


def _changes(before: VersionRow | None, after: VersionRow) -> list[dict[str, Any]] | None:
    if before is None or before.fields is None or after.fields is None:
        return None
    return field_changes(from_json(before.fields), from_json(after.fields))


def field_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Fields that differ, in the order of the newer version."""
    names = [*after, *(name for name in before if name not in after)]
    return [
        {"field": name, "before": before.get(name), "after": after.get(name)}
        for name in names
        if before.get(name) != after.get(name)
    ]


async def delete_page(conn: Connection, caller: Caller, page_id: UUID) -> None:
    """Delete a page with its versions and its job posting. Products that were made from it stay."""
    page = await pages.get_page(conn, page_id)
    if page is None or not await pages.delete(conn, page_id):
        raise no_such_page()
    details = {"company": page.company, "url": page.url, "version": page.version}
    await audit(
        conn, caller.who.org_id, caller.who.user_id, "page.delete", f"page:{page_id}",
        ip=caller.ip, before=details,
    )  # fmt: skip


async def raw_page(runtime: Runtime, conn: Connection, page_id: UUID, version: int) -> bytes:
    """The page as it was fetched."""
    key = await pages.blob_of_version(conn, page_id, version)
    if key is None:
        raise no_such_page()
    async with runtime.blobs.local(key) as path:
        try:
            packed = await asyncio.to_thread(path.read_bytes)
        except FileNotFoundError as error:
            raise NotThere("FILE_NOT_FOUND", "The raw page is no longer stored.") from error
    most = runtime.settings.crawl_max_page_bytes
    return zlib.decompressobj(_GZIP).decompress(packed, most)
