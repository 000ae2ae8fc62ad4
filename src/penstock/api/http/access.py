"""Dependencies of every route: the caller, their rights, and ids in paths."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
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
from penstock.model.errors import NotAllowed, PenstockError
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
    """What routes use. ``db`` has the API's own role: it sees only what a scope allows, and
    everything for a caller is read and written through it. ``export_db`` is the same with separate
    sessions, so that exports do not take those of other requests. ``runtime`` is the engine with
    the owner's pool: a kickoff and work after a request use it like a worker, and a refused upload
    asks it whether any org refers to its blob."""

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
    return int((await accounts.find_org(conn, name)).id)


ApiParts = Annotated[Api, Depends(_api)]


async def principal(request: Request) -> Principal:
    """The caller of the request, once there is a turn for the route. Has no other dependency, since
    each costs every request some time."""
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
    """Accepts one spelling only: `UUID` accepts several, but a thing has one address."""
    return UUID(text) if _ID.fullmatch(text) else None


def id_in_path(
    name: str, description: str, missing: Callable[[], PenstockError]
) -> Callable[[str], Awaitable[UUID]]:
    """A dependency: the id in the path. Another text is answered like an id that does not exist."""

    # Not in the annotation, where FastAPI would not find the names of this function.
    place = Path(alias=name, description=description)

    async def read_id(text: str = place) -> UUID:
        parsed = parse_id(text)
        if parsed is None:
            raise missing()
        return parsed

    return read_id


JobId = Annotated[UUID, Depends(id_in_path("job_id", "The job's id.", no_such_job))]
