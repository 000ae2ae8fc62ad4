"""Profiles by name, version and header; rates by day."""

from __future__ import annotations

import asyncio
from datetime import date
from decimal import Decimal

from tests.fixtures import MakePrincipal

from penstock.store.catalog import profiles
from penstock.store.catalog.ports import StoredProfiles
from penstock.store.database import Database


async def test_versions_are_kept_and_the_latest_is_found(
    db: Database, principal: MakePrincipal
) -> None:
    mine, other = await principal("mine"), await principal("other")
    catalog = StoredProfiles(db)
    async with db.transaction() as conn:
        for header in ("h1", "h2"):
            body = {"fingerprint": header, "currency": header.upper()}
            await profiles.save(conn, mine.org_id, mine.user_id, "acme", body)
    latest = await catalog.profile(mine.org_id, "acme", None)
    assert latest is not None
    assert (latest["version"], latest["currency"]) == (2, "H2")
    assert (await catalog.profile(mine.org_id, None, "h2") or {})["name"] == "acme"
    # The older version was for other columns, and is not what `acme` means now.
    assert await catalog.profile(mine.org_id, None, "h1") is None
    assert await catalog.profile(other.org_id, "acme", None) is None
    assert await catalog.profile(other.org_id, None, "h2") is None
    async with db.transaction() as conn:
        first = await profiles.get(conn, mine.org_id, "acme", 1)
        assert first is not None
        assert first["currency"] == "H1"
        assert await profiles.delete(conn, mine.org_id, "acme")
        assert not await profiles.delete(conn, mine.org_id, "acme")
        assert await profiles.list_profiles(conn, mine.org_id) == []
        assert await profiles.save(conn, mine.org_id, mine.user_id, "acme", {}) == 3


async def test_two_savers_get_two_versions(db: Database, principal: MakePrincipal) -> None:
    who = await principal()

    async def save() -> int:
        async with db.transaction() as conn:
            return await profiles.save(conn, who.org_id, who.user_id, "acme", {})

    assert sorted(await asyncio.gather(*(save() for _ in range(5)))) == [1, 2, 3, 4, 5]


async def test_the_latest_rate_up_to_a_day(db: Database) -> None:
    days = {date(2026, 1, 1): "1.1", date(2026, 2, 1): "1.2", date(2026, 3, 1): "1.3"}
    async with db.transaction() as conn:
        rates = [(day, "EUR", Decimal(worth)) for day, worth in days.items()]
        await profiles.set_rates(conn, "USD", rates)
        await profiles.set_rates(conn, "USD", [(date(2026, 2, 1), "EUR", Decimal("1.25"))])
        await profiles.set_rates(conn, "CHF", [(date(2026, 2, 1), "EUR", Decimal("9"))])
    catalog = StoredProfiles(db)
    assert await catalog.rates("USD", date(2026, 2, 20)) == [
        (date(2026, 2, 1), "EUR", Decimal("1.25"))
    ]
    assert await catalog.rates("USD", date(2025, 12, 31)) == []
