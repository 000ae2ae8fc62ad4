"""Deletion of many rows in short transactions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from penstock.engine.runtime import Runtime
from penstock.store.database import Connection


async def delete_in_chunks(
    runtime: Runtime, chunk: int, delete: Callable[[Connection, int], Awaitable[int]]
) -> int:
    """Call ``delete`` for a chunk at a time, each in its own transaction, until it deletes less
    than a chunk. Answers how many rows were deleted."""
    total, last = 0, chunk
    while last == chunk:
        async with runtime.db.transaction() as conn:
            last = await delete(conn, chunk)
        total += last
    return total
