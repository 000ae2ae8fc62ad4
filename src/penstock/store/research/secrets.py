"""The secret of each org that signs webhooks of requests."""

from __future__ import annotations

from uuid import UUID

from penstock.model.network.webhooks import new_secret, secret_bytes
from penstock.model.ports import Sealer
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("requests")
_RESEALED_AT_ONCE = 100


def owner_of_secret(org_id: int) -> str:
    """The owner that a secret is sealed with."""
    return f"org:{org_id}"


def seal(sealer: Sealer, org_id: int, secret: str) -> bytes:
    return sealer.seal(secret_bytes(secret), owner_of_secret(org_id))


async def secret_of(conn: Connection, sealer: Sealer, org_id: int) -> bytes:
    """The org's secret; it is made when it is first needed."""
    rows = await conn.fetch(_sql.org_secrets_of, [org_id])
    if not rows:
        await conn.execute(_sql.add_org_secret, org_id, seal(sealer, org_id, new_secret()))
        rows = await conn.fetch(_sql.org_secrets_of, [org_id])
    return sealer.open(rows[0]["secret"], owner_of_secret(org_id))


async def replace_secret(conn: Connection, sealer: Sealer, org_id: int) -> str:
    secret = new_secret()
    await conn.execute(_sql.replace_org_secret, org_id, seal(sealer, org_id, secret))
    return secret


async def reseal(conn: Connection, sealer: Sealer, after: UUID | None) -> tuple[int, UUID | None]:
    """Seal the next secrets with the newest key. Return how many changed, and the last id."""
    start = -1 if after is None else after.int
    rows = await conn.fetch(_sql.sealed_org_secrets, start, _RESEALED_AT_ONCE)
    changed = 0
    for row in rows:
        if sealer.is_current(row["secret"]):
            continue
        owner = owner_of_secret(row["org_id"])
        fresh = sealer.seal(sealer.open(row["secret"], owner), owner)
        await conn.execute(_sql.reseal_org_secret, row["org_id"], fresh)
        changed += 1
    return changed, UUID(int=rows[-1]["org_id"]) if rows else None


async def newest_opens(conn: Connection, sealer: Sealer) -> bool:
    """Try to open a stored secret; False if there is none."""
    row = await conn.fetchrow(_sql.newest_org_secret)
    if row is None:
        return False
    sealer.open(row["secret"], owner_of_secret(row["org_id"]))
    return True
