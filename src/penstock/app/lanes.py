"""Pause and resume lanes."""

from __future__ import annotations

from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.workers import lanes


async def pause_lane(conn: Connection, caller: Caller, lane: str, reason: str) -> bool:
    """Once this is committed, nothing of the lane starts. Return False if it was paused already."""
    changed = await lanes.pause(conn, lane, caller.who.user_id, reason)
    if changed:
        await audit(
            conn, None, caller.who.user_id, "lane.pause", f"lane:{lane}", ip=caller.ip,
            after={"reason": reason},
        )  # fmt: skip
    return changed


async def resume_lane(conn: Connection, caller: Caller, lane: str) -> bool:
    """Return False if it was not paused. Wake the lane after the commit."""
    changed = await lanes.resume(conn, lane)
    if changed:
        await audit(conn, None, caller.who.user_id, "lane.resume", f"lane:{lane}", ip=caller.ip)
    return changed
