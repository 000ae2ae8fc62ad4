"""Idempotency keys: the answer to a request is stored with its changes, in one transaction, and
repeated for later requests with the same key."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

from penstock.model.errors import PermanentError
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection, from_json
from penstock.store.jobs import jobs
from penstock.store.jobs.jobs import NewKey


@dataclass(frozen=True, slots=True)
class Answer:
    """A stored answer, repeated byte by byte."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)


def digest_of(meaning: Sequence[Any]) -> bytes:
    """A digest of the request: the same key with another digest is refused."""
    raw = orjson.dumps(meaning, option=orjson.OPT_SORT_KEYS, default=str)
    return hashlib.sha256(raw).digest()


def other_request() -> PermanentError:
    return PermanentError(
        "IDEMPOTENCY_MISMATCH",
        "This Idempotency-Key was used for a different request. Use a new key for a new one.",
    )


async def replay(conn: Connection, who: Principal, key: str, digest: bytes) -> Answer | None:
    """The stored answer, if this request was made before. Locks the key until the transaction
    ends."""
    if not await jobs.try_key(conn, who.org_id, who.user_id, key):
        raise PermanentError(
            "IDEMPOTENCY_CONFLICT",
            "A request with this Idempotency-Key is still under way. Wait for its answer, or send"
            " this one again in a moment.",
        )
    known = await jobs.find_key(conn, who.org_id, who.user_id, key)
    if known is None:
        return None
    if known.request_hash != digest:
        raise other_request()
    return Answer(known.status, known.response, from_json(known.headers))


def new_key(
    who: Principal, key: str, digest: bytes, answer: Answer, job_id: UUID | None = None
) -> NewKey:
    return NewKey(
        who.org_id, who.user_id, key, digest, answer.body, answer.status, answer.headers, job_id
    )


async def remember(
    conn: Connection, who: Principal, key: str, digest: bytes, answer: Answer
) -> None:
    await jobs.add_keys(conn, [new_key(who, key, digest, answer)])
