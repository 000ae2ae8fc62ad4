"""Dependencies of every route: the caller, their rights, and ids in paths."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, cast
from uuid import UUID

from fastapi import Depends, Path, Request

from penstock.api.http.identify import COOKIE, SAFE_METHODS, Authenticator
from penstock.api.http.identify import address_of as address_of
from penstock.api.http.work import Turns
from penstock.app.job_control import no_such_job
from penstock.app.submission import Submissions
from penstock.engine.runtime import Runtime
from penstock.model.errors import NotAllowed
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Database

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# For the OpenAPI document: the authenticator reads both itself, so routes do not declare them.
WAYS_IN = {
    "HTTPBearer": {"type": "http", "description": "An API key.", "scheme": "bearer"},
    "APIKeyCookie": {
        "type": "apiKey",
        "description": "A session; changes need `X-CSRF-Token`, too.",
        "in": "cookie",
        "name": COOKIE,
    },
}


@dataclass(frozen=True)
class Api:
    """What routes stand on. ``db`` is the API's own role: it sees what a scope lets it see, and all
    that is read or written for a caller goes through it. ``export_db`` is the same with sessions of
    its own, so that exports leave all of ``db``'s to other requests. ``runtime`` is the engine: its
    pool is the owner's: a kickoff and what goes on after a request work with it as a worker does,
    and a refused upload asks it whether any org names its blob."""

    runtime: Runtime
    db: Database
    authenticator: Authenticator
    turns: Turns
    export_db: Database
    submissions: Submissions


async def _api(request: Request) -> Api:
    return cast(Api, request.app.state.api)


def caller_of(request: Request, who: Principal) -> Caller:
    """The caller as the audit log names it."""
    return Caller(who, address_of(request))


async def org_of(conn: Connection, who: Principal, name: str) -> int:
    """The id of the org that a request names with `org`: the caller's own, or any for an admin."""
    if name in ("", who.org):
        return who.org_id
    if who.role != "admin":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins may name another org.")
    return int((await accounts.find_org(conn, name))["id"])


ApiParts = Annotated[Api, Depends(_api)]


async def principal(request: Request) -> Principal:
    """Who asks, once there is a turn for what is asked. Needs no other dependency: each costs every
    request something, and this one is everywhere."""
    api: Api = request.app.state.api
    who = await api.authenticator.identify(request)
    request.state.turn = await api.turns.enter(request.scope["route"].work, who)
    return who


Reader = Annotated[Principal, Depends(principal)]


async def _writer(who: Reader) -> Principal:
    if not who.writes:
        raise only_reads(who)
    return who


Writer = Annotated[Principal, Depends(_writer)]


async def _admin(request: Request, who: Reader) -> Principal:
    if who.role != "admin":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins may do this.")
    if not who.writes and request.method not in SAFE_METHODS:
        raise only_reads(who)
    return who


Admin = Annotated[Principal, Depends(_admin)]


def only_reads(who: Principal) -> NotAllowed:
    why = "Viewers may" if who.role == "viewer" else "This key may"
    return NotAllowed("INSUFFICIENT_PERMISSIONS", f"{why} read, not change anything.")


def parse_id(text: str) -> UUID | None:
    """Only the usual spelling: `UUID` itself takes several, and one thing has one address."""
    return UUID(text) if _ID.fullmatch(text) else None


async def _job_id(job_id: Annotated[str, Path(description="The job's id.")]) -> UUID:
    parsed = parse_id(job_id)
    if parsed is None:
        raise no_such_job()
    return parsed


JobId = Annotated[UUID, Depends(_job_id)]
