"""The database's clock, and repairs after it was set back."""

from __future__ import annotations

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("clock")
_claims = load("claims")


async def behind_ms(conn: Connection) -> float:
    """Milliseconds that the clock is behind the latest time seen; normally negative."""
    return float(await conn.fetchval(_sql.look_at_clock))


async def note(conn: Connection) -> None:
    await conn.execute(_sql.note_time)


async def repair(conn: Connection, back_ms: float, longest_lease_ms: float) -> None:
    """Correct due times and leases that were set by the clock before. Takes the claim lock, so that
    no claim uses half-corrected times."""
    await conn.execute("SET LOCAL statement_timeout = 0")
    await conn.execute(_claims.lock_claims)
    await conn.execute(_sql.shorten_leases, longest_lease_ms)
    await conn.execute(_sql.bring_items_forward, back_ms)
    jobs = [row["id"] for row in await conn.fetch(_sql.live_jobs)]
    await conn.execute(_sql.make_ready, jobs)
    await conn.execute(_claims.refresh_ready, jobs)
