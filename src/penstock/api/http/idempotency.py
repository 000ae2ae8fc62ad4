"""`Idempotency-Key`, for every request that creates something."""

from __future__ import annotations

import hmac
import re
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from penstock.api.http.access import Api
from penstock.engine.idempotency import Answer, digest_of, other_request, remember, replay
from penstock.model.errors import BadInput
from penstock.model.ports import Sealer
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection

_KEY = re.compile(r"[\x20-\x7e]{1,255}")
REPLAYED = {"Idempotency-Replayed": "true"}

# In a route's signature, so that the OpenAPI document contains it.
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        json_schema_extra={"minLength": 1, "maxLength": 255, "pattern": r"^[\x20-\x7e]+$"},
        description="The same request with the same key is done once, and answered the same.",
    ),
]


def idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise BadInput(
            "INVALID_IDEMPOTENCY_KEY", "Idempotency-Key must be 1 to 255 printable characters."
        )
    return key


async def once(
    request: Request,
    api: Api,
    who: Principal,
    meaning: Sequence[Any],
    act: Callable[[Connection], Awaitable[Response]],
) -> Response:
    """The answer of ``act``, or the stored answer of an earlier request with the same key.
    ``meaning`` distinguishes this request from others with that key."""
    return await _once(request, api, who, meaning, act, _Plain())


async def once_in_secret(
    request: Request,
    api: Api,
    who: Principal,
    meaning: Sequence[Any],
    act: Callable[[Connection], Awaitable[Response]],
    *,
    private: Sequence[Any] = (),
) -> Response:
    """The same for an answer that contains a secret: it is stored encrypted and repeated byte by
    byte. ``private`` are secrets of the request itself, which are not stored as a plain hash: the
    hash of a password could be reversed by trying passwords."""
    key = idempotency_key(request) or ""
    keeps = _Sealed(api.runtime.sealer, f"idempotency:{who.org_id}:{who.user_id}:{key}", private)
    return await _once(request, api, who, meaning, act, keeps)


async def is_answered(request: Request, api: Api, who: Principal, meaning: Sequence[Any]) -> bool:
    """Whether the same request was answered before, so that its answer is only repeated."""
    key = idempotency_key(request)
    if key is None:
        return False
    async with api.db.scoped(who.scope) as conn:
        return await replay(conn, who, key, digest_of(meaning)) is not None


class _Plain:
    def kept(self, body: str) -> str:
        return body

    def shown(self, kept: str) -> str:
        return kept


@dataclass(frozen=True, slots=True)
class _Sealed:
    sealer: Sealer
    owner: str
    private: Sequence[Any]

    def kept(self, body: str) -> str:
        sealed = self.sealer.seal(digest_of(self.private) + body.encode(), self.owner)
        return b64encode(sealed).decode()

    def shown(self, kept: str) -> str:
        opened = self.sealer.open(b64decode(kept), self.owner)
        digest = digest_of(self.private)
        if not hmac.compare_digest(opened[: len(digest)], digest):
            raise other_request()
        return opened[len(digest) :].decode()


async def _once(
    request: Request,
    api: Api,
    who: Principal,
    meaning: Sequence[Any],
    act: Callable[[Connection], Awaitable[Response]],
    keeps: _Plain | _Sealed,
) -> Response:
    key = idempotency_key(request)
    async with api.db.scoped(who.scope) as conn:
        if key is None:
            return await act(conn)
        digest = digest_of(meaning)
        known = await replay(conn, who, key, digest)
        if known is not None:
            return Response(keeps.shown(known.body), known.status, {**known.headers, **REPLAYED})
        made = await act(conn)
        headers = {name: value for name, value in made.headers.items() if name != "content-length"}
        answer = Answer(made.status_code, keeps.kept(bytes(made.body).decode()), headers)
        await remember(conn, who, key, digest, answer)
    return made
