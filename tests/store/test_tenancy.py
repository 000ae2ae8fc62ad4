"""Row-level security: an org sees its own rows, a member their own jobs, nobody sees nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import asyncpg
import pytest
from tests.fixtures import Bench, MakePrincipal
from tests.store.plenty import fill

from penstock.settings import Settings
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Database, Scope
from penstock.wiring import api_database

pytestmark = pytest.mark.slow

TENANT_TABLES = {
    *(
        "orgs",
        "org_time",
        "org_usage",
        "virtual_clock",
        "users",
        "api_keys",
        "audit",
        "files",
        "idempotency_keys",
        "uploads",
        "workers",
        "intake",
    ),
    *("provider_states", "provider_calls", "pictures"),
    *("blob_refs", "group_counters", "group_times", "job_files"),
    *(
        "jobs",
        "job_stages",
        "job_ranges",
        "job_items",
        "job_errors",
        "slices",
        "events",
        "paused_lanes",
    ),
    *(
        "dead_letters",
        "dead_letter_groups",
        "leaders",
        "products",
        "product_changes",
        "job_keys",
        "job_missing",
        "result_cache",
        "profiles",
        "rates",
        "installation",
        "clock",
    ),
    *("bulk_operations", "passwords", "sessions", "sign_in_tries", "sign_in_networks"),
    *("webhook_endpoints", "webhook_deliveries", "webhook_streams", "event_cursors"),
    *("connections", "search_events"),
    *("pages", "page_versions", "robots_rules", "postings", "posting_changes"),
    *("sources", "research_requests", "research_usage", "research_quotas", "job_pace"),
    "research_queries",
    *("org_secrets", "schedules", "schedule_runs"),
    *("job_metrics", "job_rollups", "health_checks", "monitor_state"),
    *("watchers", "watched_files"),
    *("retention_policies", "feeds", "feed_files"),
    *("alerts", "alert_silences", "notification_targets", "notifications"),
    *("job_watchers", "job_mail_settings"),
    *("job_edits", "job_edit_rows", "saved_values", "export_templates"),
    *("product_links", "product_edits"),
}


@pytest.fixture
async def api_db(settings: Settings, api_dsn: str, db: Database) -> AsyncIterator[Database]:
    database = await api_database(settings, api_dsn).open()
    yield database
    await database.close()


async def test_every_table_has_row_level_security(db: Database) -> None:
    async with db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT relname, relrowsecurity FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = current_schema()::regnamespace AND relname <> 'migrations'"
        )
    assert {row["relname"] for row in rows} == TENANT_TABLES
    assert all(row["relrowsecurity"] for row in rows)


async def test_without_an_org_nothing_is_seen(bench: Bench, api_db: Database) -> None:
    await bench.submit("noop", {"items": 3})
    async with api_db.transaction() as conn:
        for table in ("orgs", "users", "jobs", "job_items", "events", "files", "slices"):
            assert await conn.fetchval(f"SELECT count(*) FROM {table}") == 0


async def test_an_org_sees_its_own_and_no_other(
    bench: Bench, api_db: Database, principal: MakePrincipal
) -> None:
    other = await principal("other")
    mine = await bench.submit("noop", {"items": 3})
    theirs = await bench.submit("noop", {"items": 4}, who=other)
    for scope, job, rows in ((bench.who.scope, mine, 3), (other.scope, theirs, 4)):
        async with api_db.scoped(scope) as conn:
            assert [row["id"] for row in await conn.fetch("SELECT id FROM jobs")] == [job]
            assert await conn.fetchval("SELECT count(*) FROM job_items") == rows
            seen = await conn.fetch("SELECT DISTINCT org_id FROM events")
            assert [row["org_id"] for row in seen] == [scope.org_id]


async def test_members_see_their_own_jobs_viewers_their_org_admins_all(
    bench: Bench, api_db: Database, principal: MakePrincipal
) -> None:
    colleague = await principal(email="second@acme")
    viewer = await principal(role="viewer")
    admin = await principal("elsewhere", role="admin")
    await bench.submit("noop", {"items": 1})
    await bench.submit("noop", {"items": 1}, who=colleague)
    for scope, jobs in (
        (bench.who.scope, 1), (colleague.scope, 1), (viewer.scope, 2), (admin.scope, 2),
        (Scope(bench.who.org_id), 2),
    ):  # fmt: skip
        async with api_db.scoped(scope) as conn:
            assert await conn.fetchval("SELECT count(*) FROM jobs") == jobs
            assert await conn.fetchval("SELECT count(*) FROM job_items") == jobs


async def test_nothing_of_another_org_can_be_written(
    bench: Bench, api_db: Database, principal: MakePrincipal
) -> None:
    other = await principal("other")
    job = await bench.submit("noop", {"items": 1})
    async with api_db.scoped(other.scope) as conn:
        assert await conn.execute("UPDATE jobs SET priority = 99 WHERE id = $1", job) == "UPDATE 0"
        assert await conn.execute("DELETE FROM slices WHERE job_id = $1", job) == "DELETE 0"
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        async with api_db.scoped(other.scope) as conn:
            await conn.execute(
                "INSERT INTO events (org_id, job_id, seq, event) VALUES ($1, $2, 99, 'x')",
                bench.who.org_id, job,
            )  # fmt: skip


async def test_the_scope_ends_with_its_transaction(bench: Bench, api_db: Database) -> None:
    await bench.submit("noop", {"items": 1})
    async with api_db.scoped(bench.who.scope) as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 1
    async with api_db.transaction() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 0
        assert await conn.fetchval("SELECT current_user") == "penstock_api"


async def test_readers_wear_one_scope_at_a_time_and_write_nothing(
    bench: Bench, owner_dsn: str, settings: Settings, principal: MakePrincipal
) -> None:
    """One session for everyone: each sees what is theirs, whoever had it before."""
    one = Database(owner_dsn, settings.database_schema, role="penstock_api", size=1)
    other, admin = await principal("other"), await principal("house", role="admin")
    await bench.submit("noop", {"items": 1})
    await one.open()
    seen = []
    for who in (bench.who, other, admin, other, bench.who, bench.who):
        async with one.scoped(who.scope, readonly=True) as conn:
            seen.append(await conn.fetchval("SELECT count(*) FROM jobs"))
            with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
                await conn.execute("UPDATE jobs SET priority = 1")
    assert seen == [1, 0, 1, 0, 1, 1]
    # What has no scope of its own sees nothing, whatever a reader wears.
    async with one.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 0
    await one.close()


async def test_a_reader_that_was_interrupted_is_given_its_scope_anew(
    bench: Bench, owner_dsn: str, settings: Settings, principal: MakePrincipal
) -> None:
    one = Database(owner_dsn, settings.database_schema, role="penstock_api", size=1)
    other = await principal("other")
    await bench.submit("noop", {"items": 1})
    await one.open()

    async def look(who: Principal) -> int:
        async with one.scoped(who.scope, readonly=True) as conn:
            return int(await conn.fetchval("SELECT count(*) FROM jobs"))

    assert await look(bench.who) == 1
    for turns in range(12):
        # Stopped after so many turns of the loop: before, while and after the scope is changed.
        cut = asyncio.create_task(look(other))
        for _ in range(turns):
            await asyncio.sleep(0)
        cut.cancel()
        await asyncio.gather(cut, return_exceptions=True)
        assert (await look(bench.who), await look(other)) == (1, 0)
    await one.close()


async def test_the_api_cannot_read_key_hashes_or_change_accounts(
    bench: Bench, api_db: Database
) -> None:
    for statement in (
        "SELECT hash FROM api_keys",
        "UPDATE users SET role = 'admin'",
        "INSERT INTO api_keys (org_id, user_id, hash, prefix) SELECT org_id, 0, '', '' FROM users",
        "SELECT hash FROM passwords",
        "SELECT hash FROM sessions",
        "UPDATE sessions SET expires_at = 'infinity'",
        "UPDATE api_keys SET scopes = '{read,write,admin}'",
        "UPDATE org_time SET vt = 0",
        "DELETE FROM events",
        "UPDATE orgs SET plan = 'enterprise'",
        "SELECT trace FROM dead_letters",
        "UPDATE dead_letters SET org_id = 1",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            async with api_db.scoped(bench.who.scope) as conn:
                await conn.execute(statement)


async def tables_of_tenants(db: Database) -> dict[str, dict[str, str | None]]:
    """Every table with an org: what the API's role may do to it, and a column it may change."""
    async with db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT c.relname AS name, p.privilege_type AS may, min(p.column_name) AS by"
            " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'"
            " JOIN information_schema.column_privileges p ON p.table_name = c.relname"
            " AND p.table_schema = current_schema() AND p.grantee = 'penstock_api'"
            " WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace"
            " GROUP BY 1, 2 UNION ALL"
            " SELECT table_name, privilege_type, NULL FROM information_schema.role_table_grants"
            " WHERE grantee = 'penstock_api' AND privilege_type = 'DELETE'"
            " AND table_schema = current_schema()"
        )
    found: dict[str, dict[str, str | None]] = {}
    for row in rows:
        found.setdefault(row["name"], {})[row["may"]] = row["by"]
    return {name: may for name, may in found.items() if "SELECT" in may}


async def test_no_row_of_another_org_is_read_or_written_in_any_table(
    db: Database, api_db: Database
) -> None:
    async with db.acquire() as conn:
        await fill(conn)
        empty = {
            name
            for name in await tables_of_tenants(db)
            if not await conn.fetchval(f"SELECT EXISTS (SELECT FROM {name} WHERE org_id <> 7)")
        }
    assert not empty
    for name, may in (await tables_of_tenants(db)).items():
        async with api_db.transaction() as conn:
            assert await conn.fetchval(f"SELECT count(org_id) FROM {name}") == 0, name
        for scope in (Scope(7), Scope(7, owner_id=7, user_id=7), Scope(7, user_id=7)):
            async with api_db.scoped(scope) as conn:
                foreign = f"{name} WHERE org_id <> 7"
                assert await conn.fetchval(f"SELECT count(org_id) FROM {foreign}") == 0, name
                if "DELETE" in may:
                    assert await conn.execute(f"DELETE FROM {foreign}") == "DELETE 0", name
                if (column := may.get("UPDATE")) is not None:
                    change = f"UPDATE {name} SET {column} = DEFAULT WHERE org_id <> 7"
                    assert await conn.execute(change) == "UPDATE 0", name
