"""Profiles of suppliers' files, each version kept, and dated rates of currencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from penstock.store.database import Connection, from_json, to_json
from penstock.store.queries import load

_sql = load("profiles")
Rate = tuple[date, str, Decimal]
# Versions kept of one profile. Jobs carry a copy of the profile they ran with, so dropping an old
# version changes no job.
MOST_VERSIONS = 50
MOST_HISTORY_BYTES = 4 * 1024 * 1024


async def save(
    conn: Connection, org_id: int, user_id: int, name: str, body: Mapping[str, Any]
) -> int:
    """Save a new version; answers its number. The oldest versions are deleted."""
    await conn.execute(_sql.lock_profile, f"{org_id}:{name}")
    version = int(await conn.fetchval(_sql.latest_version, org_id, name)) + 1
    kept = {**body, "name": name, "version": version}
    await conn.execute(
        _sql.add_profile, org_id, name, version, body.get("fingerprint"), to_json(kept), user_id
    )
    await conn.execute(_sql.prune_versions, org_id, name, MOST_VERSIONS, MOST_HISTORY_BYTES)
    return version


async def get(
    conn: Connection, org_id: int, name: str, version: int | None = None
) -> dict[str, Any] | None:
    return _body(await conn.fetchrow(_sql.get_profile, org_id, name, version))


async def find(conn: Connection, org_id: int, fingerprint: str) -> dict[str, Any] | None:
    """The profile for files with these columns."""
    return _body(await conn.fetchrow(_sql.find_profile, org_id, fingerprint))


@dataclass(frozen=True, slots=True)
class ListedProfile:
    name: str
    body: dict[str, Any]
    created_at: datetime


async def list_profiles(
    conn: Connection, org_id: int, after: str = "", most: int | None = None
) -> list[ListedProfile]:
    """The latest version of each, by name; at most ``most`` of them."""
    rows = await conn.fetch(_sql.list_profiles, org_id, after, most)
    return [ListedProfile(row["name"], from_json(row["body"]), row["created_at"]) for row in rows]


async def delete(conn: Connection, org_id: int, name: str) -> bool:
    """Delete a profile. Its rows stay, so that version numbers never repeat."""
    if not await conn.fetch(_sql.delete_profile, org_id, name):
        return False
    await conn.execute(_sql.prune_versions, org_id, name, 1, 0)
    return True


def _body(row: Any) -> dict[str, Any] | None:
    return None if row is None else dict(from_json(row["body"]))


async def set_rates(conn: Connection, base: str, rates: Sequence[Rate]) -> None:
    if rates:
        days, currencies, worth = zip(*rates, strict=True)
        await conn.execute(
            _sql.set_rates, [base] * len(rates), list(currencies), list(days), list(worth)
        )


async def rates_before(conn: Connection, base: str, day: date) -> list[Rate]:
    rows = await conn.fetch(_sql.rates_before, base, day)
    return [(row["day"], row["currency"], row["worth"]) for row in rows]
