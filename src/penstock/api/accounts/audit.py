"""The audit log: which user changed what, when and from which address; for admins."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from penstock.api.accounts.schemas import AuditPage, AuditQuery, audit_shape
from penstock.api.http.access import Admin, ApiParts
from penstock.api.http.answers import answer
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.store.accounts import accounts, audit_log

router = APIRouter(tags=["accounts"])


@router.get("/audit", summary="List changes", responses={200: {"model": AuditPage}})
async def list_audit(api: ApiParts, who: Admin, query: Annotated[AuditQuery, Query()]) -> Response:
    """Every change, newest first, with what it was before and after."""
    this_list = f"audit {query.org} {query.user_id} {query.action} {query.target}"
    before = audit_log.NEWEST
    if query.after:
        [before] = from_cursor(query.after, this_list, int)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = (await accounts.find_org(conn, query.org)).id if query.org else None
        wanted = audit_log.AuditFilter(
            org_id, query.user_id, query.action or None, query.target or None
        )
        rows = await audit_log.list_entries(conn, wanted, before, query.page_size + 1)
    page = rows[: query.page_size]
    following = to_cursor(this_list, page[-1].id) if len(rows) > len(page) else None
    return answer({"items": [audit_shape(row) for row in page], "next": following})
