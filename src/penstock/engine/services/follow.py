"""Followers of the event stream: each event is handled once, in the order of commits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from penstock.engine.runtime import Runtime
from penstock.store.database import Connection
from penstock.store.jobs import followers
from penstock.store.jobs.followers import EventRange

Handle = Callable[[Connection, EventRange], Awaitable[frozenset[str]]]


async def follow(
    runtime: Runtime, name: str, most: int, handle: Handle
) -> AsyncIterator[frozenset[str]]:
    """Hand the events that ``name`` has not seen to ``handle``, ``most`` at a time. Its changes are
    committed with the cursor, so that after a crash no event is missed or handled twice. Gives
    what ``handle`` answered (lanes to wake), once it is committed."""
    async with runtime.db.acquire() as conn:
        # Without a lock: an idle installation writes nothing.
        full = await followers.any_news(conn, name)
    while full:
        async with runtime.db.transaction() as conn:
            start = await followers.hold_cursor(conn, name)
            events = await followers.next_range(conn, start, most)
            if events is None:
                return
            lanes = await handle(conn, events)
            await followers.move_cursor(conn, name, events.end)
            runtime.failpoints.reach("follow_before_commit")
        runtime.failpoints.reach("follow_after_commit")
        full = events.full
        yield lanes
