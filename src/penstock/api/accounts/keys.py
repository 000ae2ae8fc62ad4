"""API keys: users manage their own, admins those of all users."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from penstock.accounts import users
from penstock.accounts.users import NewKey, no_such_key
from penstock.api.accounts.schemas import KeyOrder, KeyPage, KeysQuery, NewKeyShape, key_shape
from penstock.api.accounts.users import number_of
from penstock.api.http.access import ApiParts, Reader, Writer, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.idempotency import IdempotencyKey, once_in_secret
from penstock.model.errors import BadInput, NotAllowed
from penstock.store.accounts import keys
from penstock.store.database import Connection

router = APIRouter(prefix="/keys", tags=["accounts"])


async def _key_id(key_id: Annotated[str, Path(description="The key's number.")]) -> int:
    return number_of(key_id, no_such_key())


KeyId = Annotated[int, Depends(_key_id)]


@router.post(
    "",
    status_code=201,
    summary="Create a key",
    responses={201: {"model": NewKeyShape}},
    openapi_extra=body_of(KeyOrder),
)
async def create_key(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """The key is shown in this answer only. It has at most the rights of its user; a key of an
    admin without the scope `admin` acts as a member of the org."""
    order = await order_of(request, KeyOrder)
    users.require_more_than_a_key(who)
    if order.user_id not in (None, who.user_id) and who.role != "admin":
        raise _admins_only()
    if order.expires_at is not None and not _is_ahead(order.expires_at):
        raise BadInput("INVALID_PARAMETERS", "expiresAt: is in the past, or too far ahead.")
    wanted = NewKey(order.name, order.scopes, order.expires_at)
    owner = order.user_id or who.user_id

    async def make(conn: Connection) -> Response:
        row, key = await users.add_key(conn, caller_of(request, who), owner, wanted)
        return answer({**key_shape(row), "key": key}, 201)

    meaning = ["key", owner, order.model_dump(mode="json")]
    return await once_in_secret(request, api, who, meaning, make)


@router.get("", summary="List keys", responses={200: {"model": KeyPage}})
async def list_keys(api: ApiParts, who: Reader, query: Annotated[KeysQuery, Query()]) -> Response:
    """Newest first, with those that are revoked or expired: your own; admins may
    list those of another user or of all users (`userId`)."""
    owner = who.user_id if query.user_id == "me" else query.user_id
    if owner != who.user_id and who.role != "admin":
        raise _admins_only()
    this_list, before = f"keys {owner}", keys.NEWEST
    if query.after:
        [before] = from_cursor(query.after, this_list, int)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await keys.list_keys(
            conn, before, None if isinstance(owner, str) else owner, query.page_size + 1
        )
    page = rows[: query.page_size]
    following = to_cursor(this_list, page[-1].id) if len(rows) > len(page) else None
    return answer({"items": [key_shape(row) for row in page], "next": following})


@router.delete("/{key_id}", status_code=204, summary="Revoke a key")
async def revoke_key(request: Request, api: ApiParts, who: Writer, key_id: KeyId) -> Response:
    """After this answer, requests with the key are refused. Repeating this has no further
    effect."""
    async with api.db.scoped(who.scope) as conn:
        await users.revoke_key(conn, caller_of(request, who), key_id)
    return Response(status_code=204)


def _is_ahead(moment: datetime) -> bool:
    return moment > datetime.now(UTC) and moment.year < 9000


def _admins_only() -> NotAllowed:
    return NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins see and make keys of others.")
