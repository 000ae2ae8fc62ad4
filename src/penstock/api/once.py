"""`Idempotency-Key`, for every call that makes something."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import Header
from starlette.requests import Request
from starlette.responses import Response

from penstock.api.access import Api
from penstock.engine.idempotency import Answer, digest_of, remember, replay
from penstock.model.errors import BadInput
from penstock.store.accounts import Principal
from penstock.store.database import Connection

_KEY = re.compile(r"[\x20-\x7e]{1,255}")
REPLAYED = {"Idempotency-Replayed": "true"}

# In a route's signature, so that the document tells of it.
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
    """What ``act`` answers, or what it answered when the same was asked for before. ``meaning``
    tells this request from others under the same key."""
    key = idempotency_key(request)
    async with api.db.scoped(who.scope) as conn:
        if key is None:
            return await act(conn)
        digest = digest_of(meaning)
        known = await replay(conn, who, key, digest)
        if known is not None:
            return Response(known.body, known.status, {**known.headers, **REPLAYED})
        made = await act(conn)
        kept = {name: value for name, value in made.headers.items() if name != "content-length"}
        answer = Answer(made.status_code, bytes(made.body).decode(), kept)
        await remember(conn, who, key, digest, answer)
    return made
