"""Check a run by its history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from tests.checker.case import Case, Submitted
from tests.checker.history import Watch
from tests.checker.invariants import INVARIANTS

from penstock.model.policy import RetryPolicy
from penstock.model.ports import Blobs
from penstock.store.database import Connection


@dataclass(frozen=True)
class Violation:
    """An invariant, by its number in RELIABILITY.md §3, and how it was broken."""

    invariant: int
    what: str

    def __str__(self) -> str:
        return f"I{self.invariant}: {self.what}"


async def check(
    conn: Connection,
    *,
    submitted: Mapping[UUID, Submitted],
    drained: bool,
    policy: RetryPolicy | None = None,
    reclaim_seconds: float = 60,
    watch: Watch | None = None,
    blobs: Blobs | None = None,
) -> list[Violation]:
    """Every violation of the invariants; ``drained``: nothing is left to do."""
    case = Case(conn, submitted, drained, policy or RetryPolicy(), reclaim_seconds, blobs)
    await conn.execute("ANALYZE history_items; ANALYZE history_slices; ANALYZE history_jobs")
    violations = [
        Violation(number, what)
        for number, invariant in INVARIANTS
        for what in await invariant(case)
    ]
    if watch is not None:
        violations += [Violation(10, f"seen meanwhile: {what}") for what in watch.wrong[:5]]
    return violations
