"""Attempts of research requests, the number of requests per user and org, and their pace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from penstock.model.errors import RateLimited
from penstock.model.ids import new_id
from penstock.model.network.token_bucket import Rate
from penstock.model.quota import ResearchQuota
from penstock.store.database import Connection, Database
from penstock.store.queries import load

_sql = load("requests")
# The user of the org's own counters.
_ORG = 0
METER = "research"


@dataclass(frozen=True, slots=True)
class QuotaUse:
    """A counter: whose it is, in which period, and when that ends."""

    name: str
    used: int
    most: int | None
    ends_at: datetime


async def record(
    conn: Connection, org_id: int, job_id: UUID, request_id: str, webhook_url: str | None
) -> None:
    endpoint = None
    if webhook_url is not None:
        await conn.execute(_sql.add_request_endpoint, new_id(), job_id, webhook_url)
        endpoint = await conn.fetchval(_sql.find_request_endpoint, job_id, webhook_url)
    await conn.execute(_sql.add_request, org_id, request_id, job_id, endpoint)


class StoredRequests:
    """Implements `model.sources.search.ResearchRequests`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def attempts(self, org_id: int, request_id: str) -> Sequence[UUID]:
        async with self._db.acquire() as conn:
            return await attempts(conn, org_id, request_id)


async def attempts(conn: Connection, org_id: int, request_id: str) -> list[UUID]:
    rows = await conn.fetch(_sql.attempts_of_request, org_id, request_id)
    return [row["job_id"] for row in rows]


async def quota_of(conn: Connection, org_id: int, usual: ResearchQuota) -> ResearchQuota:
    """The limits of an org: its own where it has some, else those of the settings. 0 of the own
    limits means that nothing is allowed."""
    row = await conn.fetchrow(_sql.quota_of_org, org_id)
    if row is None:
        return usual
    own: Mapping[str, int | None] = dict(row)
    return ResearchQuota(
        **{
            name: getattr(usual, name) if own[name] is None else own[name]
            for name in ("user_day", "user_month", "org_day", "org_month")
        }
    )


async def own_quota(conn: Connection, org_id: int) -> ResearchQuota:
    row = await conn.fetchrow(_sql.quota_of_org, org_id)
    return ResearchQuota() if row is None else ResearchQuota(**dict(row))


async def set_quota(conn: Connection, org_id: int, quota: ResearchQuota) -> None:
    await conn.execute(
        _sql.set_quota, org_id, quota.user_day, quota.user_month, quota.org_day, quota.org_month
    )


async def uses(
    conn: Connection, org_id: int, user_id: int, quota: ResearchQuota, now: datetime
) -> list[QuotaUse]:
    keys = _keys(user_id, now)
    rows = await conn.fetch(
        _sql.usage_now, org_id, [key[1] for key in keys], [key[2] for key in keys]
    )
    return _uses(rows, keys, quota)


async def count(
    conn: Connection, org_id: int, user_id: int, quota: ResearchQuota, now: datetime
) -> None:
    """Count one request, or raise `QUOTA_EXCEEDED` and count nothing."""
    keys = sorted(_keys(user_id, now), key=lambda key: (key[1], key[2]))
    users, periods = [key[1] for key in keys], [key[2] for key in keys]
    await conn.execute(_sql.add_usage_rows, org_id, users, periods)
    rows = await conn.fetch(_sql.lock_usage, org_id, users, periods)
    for one in _uses(rows, keys, quota):
        if one.most is not None and one.used >= one.most:
            whose, _, period = one.name.partition(".")
            owner = "You have" if whose == "user" else "Your org has"
            wait = max(1000, round((one.ends_at - now).total_seconds() * 1000))
            raise RateLimited(
                "QUOTA_EXCEEDED",
                f"{owner} used all {one.most:,} research requests of this {period}.",
                retry_after_ms=wait, quota=one.name, limit=one.most,
                resetsAt=one.ends_at.isoformat(),
            )  # fmt: skip
    await conn.execute(_sql.count_request, org_id, users, periods)


_Key = tuple[str, int, str, datetime]


def _keys(user_id: int, now: datetime) -> list[_Key]:
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    month = day.replace(day=1)
    next_day, next_month = day + timedelta(days=1), (month + timedelta(days=32)).replace(day=1)
    return [
        (f"{whose}.{name}", user, f"{start:{form}}", end)
        for whose, user in (("user", user_id), ("org", _ORG))
        for name, start, form, end in (
            ("day", day, "%Y-%m-%d", next_day),
            ("month", month, "%Y-%m", next_month),
        )
    ]


def _uses(rows: Sequence[Any], keys: Sequence[_Key], quota: ResearchQuota) -> list[QuotaUse]:
    used = {(row["user_id"], row["period"]): row["requests"] for row in rows}
    found = []
    for name, user, period, end in keys:
        most: int | None = getattr(quota, name.replace(".", "_"))
        found.append(QuotaUse(name, used.get((user, period), 0), most, end))
    return found


async def begin_at(conn: Connection, meter: str, rate: Rate) -> datetime | None:
    """When a job of this kind may begin, in all processes of the installation; None: now."""
    await conn.execute(_sql.add_pace, meter)
    row = await conn.fetchrow(_sql.take_pace, meter, 1 / rate.per_second, rate.burst - 1)
    assert row is not None
    at: datetime = row["begin_at"]
    return at if at > row["now"] else None
