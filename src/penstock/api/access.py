"""Who asks, for what, and through which door: the dependencies of every route."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated, cast
from uuid import UUID

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from penstock.engine.parts import Parts
from penstock.model.errors import NotAllowed, NotThere
from penstock.store.accounts import Principal, principal_of
from penstock.store.database import Database

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
bearer = HTTPBearer(auto_error=False, description="An API key, as `penstock` printed it.")


@dataclass(frozen=True)
class Api:
    """What routes stand on. ``db`` is the API's own role: it sees what a scope lets it see.
    ``parts`` holds the owner's pool. No tenant's rows are read or written with it but by a kickoff,
    which works as a worker does; and a refused upload asks it whether any org names its blob."""

    parts: Parts
    db: Database


async def _api(request: Request) -> Api:
    return cast(Api, request.app.state.api)


ApiParts = Annotated[Api, Depends(_api)]


async def principal(
    api: ApiParts,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)],
) -> Principal:
    """One refusal for every reason: no key, an unknown, a revoked or an expired one."""
    if credentials is not None:
        async with api.db.acquire() as conn:
            found = await principal_of(conn, credentials.credentials)
        if found is not None:
            return found
    raise NotAllowed(
        "AUTHENTICATION_FAILED", "Send a valid API key as `Authorization: Bearer <key>`."
    )


Reader = Annotated[Principal, Depends(principal)]


async def _writer(who: Reader) -> Principal:
    if who.role == "viewer":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Viewers may read, not change anything.")
    return who


Writer = Annotated[Principal, Depends(_writer)]


async def _admin(who: Reader) -> Principal:
    if who.role != "admin":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins may do this.")
    return who


Admin = Annotated[Principal, Depends(_admin)]


def no_such_job() -> NotThere:
    """The same for an id that is unknown, someone else's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such job.")


def parse_id(text: str) -> UUID | None:
    """Only the usual spelling: `UUID` itself takes several, and one thing has one address."""
    return UUID(text) if _ID.fullmatch(text) else None


async def _job_id(job_id: Annotated[str, Path(description="The job's id.")]) -> UUID:
    parsed = parse_id(job_id)
    if parsed is None:
        raise no_such_job()
    return parsed


JobId = Annotated[UUID, Depends(_job_id)]


def address_of(request: Request) -> str | None:
    """The caller's IP address; None over a socket file."""
    try:
        return str(ipaddress.ip_address(request.client.host)) if request.client else None
    except ValueError:
        return None
