"""A run to be checked, and what its clients know about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.model.policy import RetryPolicy
from penstock.model.ports import Blobs
from penstock.store.database import Connection

SHOWN = 5


@dataclass(frozen=True)
class Submitted:
    """What a client knows about a job that it submitted. ``acked=False``: it got no answer."""

    rows: int | None = None
    inputs: Sequence[Any] | None = None
    acked: bool = True
    # Its idempotency key, where it gave one.
    key: str | None = None


@dataclass(frozen=True)
class Case:
    """A finished run to be checked."""

    conn: Connection
    submitted: Mapping[UUID, Submitted]
    drained: bool
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    reclaim_seconds: float = 60
    blobs: Blobs | None = None


Invariant = Callable[[Case], Awaitable[list[str]]]


async def found(case: Case, what: str, sql: str, *args: Any) -> list[str]:
    """A query for rows that must not exist; the first few are shown."""
    rows = await case.conn.fetch(f"SELECT * FROM ({sql}) AS wrong LIMIT {SHOWN}", *args)
    return [f"{what}: {dict(row)}" for row in rows]
