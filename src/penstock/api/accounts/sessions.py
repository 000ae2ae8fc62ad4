"""Sessions: users see and end their own, admins all of them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.accounts import users
from penstock.accounts.users import no_such_session
from penstock.api.accounts.schemas import SessionPage, SessionsQuery, session_shape
from penstock.api.http.access import ApiParts, Reader, caller_of, id_in_path, only_reads
from penstock.api.http.answers import answer
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.model.errors import NotAllowed
from penstock.store.accounts import sessions
from penstock.store.accounts.accounts import Principal

router = APIRouter(prefix="/sessions", tags=["accounts"])


SessionId = Annotated[UUID, Depends(id_in_path("session_id", "The session's id.", no_such_session))]


@router.get("", summary="List sessions", responses={200: {"model": SessionPage}})
async def list_sessions(
    api: ApiParts, who: Reader, query: Annotated[SessionsQuery, Query()]
) -> Response:
    """Open sessions, newest first: your own; admins may list those of another user or of all
    users (`userId`)."""
    owner = who.user_id if query.user_id == "me" else query.user_id
    if owner != who.user_id and who.role != "admin":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins see sessions of others.")
    this_list, before = f"sessions {owner}", None
    if query.after:
        [before] = from_cursor(query.after, this_list, UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await sessions.list_sessions(
            conn, before, None if isinstance(owner, str) else owner, query.page_size + 1
        )
    page = rows[: query.page_size]
    following = to_cursor(this_list, str(page[-1].id)) if len(rows) > len(page) else None
    return answer({"items": [session_shape(row, who) for row in page], "next": following})


@router.delete("", status_code=204, summary="End your other sessions")
async def end_other_sessions(request: Request, api: ApiParts, who: Reader) -> Response:
    """End all your sessions except this one. Keys stay valid."""
    _require_a_say(who)
    async with api.db.scoped(who.scope) as conn:
        await users.end_other_sessions(conn, caller_of(request, who))
    return Response(status_code=204)


@router.delete("/{session_id}", status_code=204, summary="End a session")
async def end_session(
    request: Request, api: ApiParts, who: Reader, session_id: SessionId
) -> Response:
    """After this answer the cookie of the session is not valid any more."""
    _require_a_say(who)
    async with api.db.scoped(who.scope) as conn:
        await users.end_session(conn, caller_of(request, who), session_id)
    return Response(status_code=204)


def _require_a_say(who: Principal) -> None:
    """A viewer may end sessions in the browser, but not with a key that may only read."""
    if who.session_id is None and not who.writes:
        raise only_reads(who)
