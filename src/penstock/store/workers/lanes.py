"""Lanes, and which of them are paused."""

from __future__ import annotations

import re
from typing import Any

from penstock.model.errors import BadInput
from penstock.model.fairness import SHARED_LANES
from penstock.store.database import Connection
from penstock.store.jobs.claims import lock_claims
from penstock.store.queries import load

_sql = load("lanes")
_OWN_LANE = re.compile(r"priority\.[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def known_lane(name: str) -> str:
    """Check a lane's name; it may belong to an org that does not exist yet."""
    if name not in SHARED_LANES and not _OWN_LANE.fullmatch(name):
        raise BadInput(
            "INVALID_PARAMETERS",
            f"There is no lane {name!r}: use {', '.join(SHARED_LANES)} or priority.ORG.",
        )
    return name


async def list_lanes(conn: Connection) -> list[dict[str, Any]]:
    found = {row["lane"]: row for row in await conn.fetch(_sql.list_lanes)}
    return [
        _shape(name, found.get(name)) for name in sorted({*SHARED_LANES, *found}, key=_in_order)
    ]


def _in_order(name: str) -> tuple[int, str]:
    return (SHARED_LANES.index(name) if name in SHARED_LANES else -1, name)


async def get_lane(conn: Connection, name: str) -> dict[str, Any]:
    found = [lane for lane in await list_lanes(conn) if lane["lane"] == name]
    return found[0] if found else _shape(name, None)


def _shape(name: str, row: Any) -> dict[str, Any]:
    known = {} if row is None else dict(row)
    return {
        "lane": name,
        "jobs": known.get("jobs", 0),
        "running": known.get("running", 0),
        "paused": known.get("paused_at") is not None,
        "pausedAt": known.get("paused_at"),
        "pausedBy": known.get("paused_by"),
        "reason": known.get("reason"),
    }


async def pause(conn: Connection, lane: str, user_id: int, reason: str) -> bool:
    """Once this is committed, nothing of the lane starts. Return False if it was paused already."""
    # Every claim holds this lock, so none can act on what it read before the pause.
    await lock_claims(conn)
    return await conn.fetchval(_sql.pause_lane, known_lane(lane), user_id, reason) is not None


async def resume(conn: Connection, lane: str) -> bool:
    """Return False if it was not paused."""
    return await conn.fetchval(_sql.resume_lane, known_lane(lane)) is not None
