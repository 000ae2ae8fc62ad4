"""Sign in and out, for people in a browser."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from penstock.accounts import users
from penstock.accounts.sign_in import Client, sign_in
from penstock.api.http.access import Api, ApiParts, Reader, address_of, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import ANONYMOUS_BYTES, body_of, content_type, order_of
from penstock.api.http.identify import COOKIE, csrf_token
from penstock.api.http.schemas import Shape
from penstock.model.errors import BadInput, NotThere
from penstock.store.accounts import sessions
from penstock.store.accounts.accounts import Principal

router = APIRouter(prefix="/session", tags=["accounts"])


class SignInOrder(Shape):
    email: str = Field(min_length=1, max_length=254)
    password: str = Field(min_length=1, max_length=1024)


class OrgOfUser(Shape):
    name: str
    plan: str


class SignedInUser(Shape):
    id: int
    email: str
    role: str
    org: OrgOfUser


class Flags(Shape):
    global_pending: bool


class SessionShape(Shape):
    user: SignedInUser
    csrf_token: str | None = Field(
        description="To be sent as `X-CSRF-Token` with every change; null for a key."
    )
    flags: Flags


_ONE: dict[int | str, dict[str, Any]] = {200: {"model": SessionShape}}


@router.post("", summary="Sign in", responses=_ONE, openapi_extra=body_of(SignInOrder))
async def create_session(request: Request, api: ApiParts) -> Response:
    """Answers with a cookie. The error does not show what was wrong. Failures are limited per
    account and address."""
    if content_type(request)[0] != "application/json":
        # A form of another site could send any other content type without a preflight request.
        raise BadInput("UNSUPPORTED_TYPE", "Send application/json.")
    order = await order_of(request, SignInOrder, ANONYMOUS_BYTES)
    _notice_unknown_proxy(request, api)
    agent = request.headers.get("user-agent", "")
    client = Client(address_of(request), agent)
    signed = await sign_in(api.runtime.settings, api.db, order.email, order.password, client)
    await _end_the_one_before(request, api)
    response = answer(_shape(api, signed.who, signed.token))
    _set_cookie(request, response, signed.token, int(api.runtime.settings.session_hours * 3600))
    return response


@router.get("", summary="Who am I", responses=_ONE)
async def show_session(request: Request, api: ApiParts, who: Reader) -> Response:
    """The user behind the session or the key."""
    token = None if who.session_id is None else request.cookies[COOKIE]
    return answer(_shape(api, who, token))


@router.delete("", status_code=204, summary="Sign out")
async def delete_session(request: Request, api: ApiParts, who: Reader) -> Response:
    """End the session, on the server, too."""
    if who.session_id is not None:
        await _end(request, api, who)
    response = Response(status_code=204)
    _set_cookie(request, response, "", 0)
    return response


def _notice_unknown_proxy(request: Request, api: Api) -> None:
    """Behind a proxy that is not configured, all clients have its address, so that failed tries of
    one count for all. Logged once."""
    state = request.app.state
    if "x-forwarded-for" in request.headers and not api.runtime.settings.trusted_proxies:
        if not getattr(state, "noticed_proxy", False):
            api.runtime.log.warning(
                "X-Forwarded-For is ignored: if a proxy of yours sends it, name the proxy in"
                " PENSTOCK_TRUSTED_PROXIES",
                peer=address_of(request),
            )
        state.noticed_proxy = True


async def _end_the_one_before(request: Request, api: Api) -> None:
    """End the session that the browser had before."""
    before = request.cookies.get(COOKIE)
    if not before:
        return
    async with api.db.acquire() as conn:
        who = await sessions.holder_of(conn, before, None)
    if who is not None:
        await _end(request, api, who)


async def _end(request: Request, api: Api, who: Principal) -> None:
    assert who.session_id is not None
    # A session that has ended already is fine.
    with suppress(NotThere):
        async with api.db.scoped(who.scope) as conn:
            await users.end_session(conn, caller_of(request, who), who.session_id)


def _shape(api: Api, who: Principal, token: str | None) -> dict[str, Any]:
    return {
        "user": {
            "id": who.user_id,
            "email": who.email,
            "role": who.role,
            "org": {"name": who.org, "plan": who.plan},
        },
        "csrfToken": None if token is None else csrf_token(token),
        "flags": {"globalPending": api.runtime.settings.global_pending},
    }


def _set_cookie(request: Request, response: Response, token: str, max_age: int) -> None:
    response.set_cookie(
        COOKIE, token, max_age=max_age, path="/", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip
