"""Users: admins create, list and change them; users change their own password."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from penstock.accounts import users
from penstock.accounts.sign_in import Client, confirm
from penstock.accounts.users import NewUser, no_such_user
from penstock.api.accounts.schemas import (
    NewPassword,
    NewUserShape,
    PasswordOrder,
    ResetOrder,
    UserChange,
    UserOrder,
    UserPage,
    UserShape,
    UsersQuery,
    user_shape,
)
from penstock.api.http.access import Admin, ApiParts, Reader, address_of, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.idempotency import IdempotencyKey, once_in_secret
from penstock.model.errors import NotAllowed
from penstock.store.accounts import users as store
from penstock.store.database import Connection

router = APIRouter(prefix="/users", tags=["accounts"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": UserShape}}


async def _user_id(user_id: Annotated[str, Path(description="The user's number.")]) -> int:
    return number_of(user_id, no_such_user())


UserId = Annotated[int, Depends(_user_id)]


def number_of(text: str, missing: Exception) -> int:
    """Accepts one spelling of a number; other texts are unknown ids."""
    if not (text.isascii() and text.isdigit() and len(text) < 19 and text[0] != "0"):
        raise missing
    return int(text)


@router.post(
    "/me/password",
    status_code=204,
    summary="Change your password",
    openapi_extra=body_of(PasswordOrder),
)
async def change_password(request: Request, api: ApiParts, who: Reader) -> Response:
    """Only with a session. Your other sessions end; keys stay valid."""
    if who.session_id is None:
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Sign in to change your password.")
    order = await order_of(request, PasswordOrder)
    client = Client(address_of(request))
    await confirm(api.runtime.settings, api.db, who, order.current, client)
    _, hashed = await users.chosen_password(order.new, who.email)
    async with api.db.scoped(who.scope) as conn:
        await users.change_own_password(conn, caller_of(request, who), hashed)
    return Response(status_code=204)


@router.post(
    "",
    status_code=201,
    summary="Create a user",
    responses={201: {"model": NewUserShape}},
    openapi_extra=body_of(UserOrder),
)
async def create_user(
    request: Request, api: ApiParts, who: Admin, _: IdempotencyKey = None
) -> Response:
    """Without a password, one is generated and shown in this answer only."""
    order = await order_of(request, UserOrder)
    password, hashed = None, None
    if order.signs_in:
        password, hashed = await users.chosen_password(order.password, order.email)
    wanted = NewUser(order.email, order.role, order.org or who.org, hashed)

    async def make(conn: Connection) -> Response:
        made = await users.add_user(conn, caller_of(request, who), wanted)
        shown = {**user_shape(made), "password": None if order.password else password}
        return answer(shown, 201, {"Location": f"/api/users/{made.id}"})

    meaning = ["user", wanted.email, wanted.role, wanted.org, order.signs_in]
    return await once_in_secret(request, api, who, meaning, make, private=[order.password])


@router.get("", summary="List users", responses={200: {"model": UserPage}})
async def list_users(api: ApiParts, who: Admin, query: Annotated[UsersQuery, Query()]) -> Response:
    """Users of all orgs or of one, oldest first."""
    this_list, after = f"users {query.org} {query.email}", 0
    if query.after:
        [after] = from_cursor(query.after, this_list, int)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await store.list_users(
            conn, after, query.org or None, query.email or None, query.page_size + 1
        )
    page = rows[: query.page_size]
    following = to_cursor(this_list, page[-1].id) if len(rows) > len(page) else None
    return answer({"items": [user_shape(row) for row in page], "next": following})


@router.get("/{user_id}", summary="Show a user", responses=_ONE)
async def show_user(api: ApiParts, who: Admin, user_id: UserId) -> Response:
    """One user of any org."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        user = await store.get(conn, user_id)
    if user is None:
        raise no_such_user()
    return answer(user_shape(user))


@router.patch(
    "/{user_id}", summary="Change a user", responses=_ONE, openapi_extra=body_of(UserChange)
)
async def change_user(request: Request, api: ApiParts, who: Admin, user_id: UserId) -> Response:
    """Change the role, or disable the user, from the next request on. The last admin keeps its
    role."""
    order = await order_of(request, UserChange)
    async with api.db.scoped(who.scope) as conn:
        changed = await users.change_user(
            conn, caller_of(request, who), user_id, order.role, order.disabled
        )
    return answer(user_shape(changed))


@router.post(
    "/{user_id}/password",
    summary="Reset a password",
    responses={200: {"model": NewPassword}},
    openapi_extra=body_of(ResetOrder),
)
async def reset_password(request: Request, api: ApiParts, who: Admin, user_id: UserId) -> Response:
    """Set a new password; without one, it is generated and shown once. The sessions of the user
    end."""
    order = await order_of(request, ResetOrder)
    password, hashed = await users.chosen_password(order.password, "")
    async with api.db.scoped(who.scope) as conn:
        await users.reset_password(conn, caller_of(request, who), user_id, hashed)
    return answer({"password": None if order.password else password})
