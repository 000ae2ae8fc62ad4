"""Retention: what is deleted when, and what stays whole."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import pytest
from tests.checker.case import Submitted
from tests.checker.check import check
from tests.fixtures import Bench

from penstock.app.retention.dry_run import count_prunable
from penstock.app.retention.prune import PruneConfig, Pruner
from penstock.app.undo import undo_job
from penstock.engine.reprocess import begin
from penstock.model.errors import BadInput, PermanentError
from penstock.model.ids import new_id
from penstock.model.reprocess import Selection
from penstock.model.retention.policy import RetentionOverrides, RetentionPolicy, parse_policy
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Database
from penstock.store.retention import retention as store
from penstock.store.retention.retention import JobLock
from penstock.wiring import background_services

pytestmark = pytest.mark.slow
SMALL = PruneConfig(chunk=7, jobs_at_once=2, busy_share=1)


def test_policies() -> None:
    assert parse_policy("90") == RetentionPolicy()
    given = parse_policy("30 items=7, files=0 doneImports=5")
    assert (given.jobs, given.items, given.files, given.done_imports) == (30, 7, 0, 5)
    # Parts of a job are not kept longer than the job.
    assert (given.days("files"), given.days("deliveries")) == (30, 7)
    forever = parse_policy("0")
    assert {forever.days(kind) for kind in ("jobs", "items", "changes")} == {0}
    assert forever.with_overrides(RetentionOverrides(items=3)).days("items") == 3
    for wrong in ("often", "items=x", "colour=3", "-1", "items=99999"):
        with pytest.raises(BadInput, match="PENSTOCK_RETENTION"):
            parse_policy(wrong)


async def age(bench: Bench, job_id: UUID, days: float) -> None:
    async with bench.runtime.db.acquire() as conn:
        await conn.execute(
            "UPDATE jobs SET finished_at = now() - $2 * interval '1 day' WHERE id = $1",
            job_id, days,
        )  # fmt: skip


async def ended(bench: Bench, items: int, days: float) -> UUID:
    job_id = await bench.submit("noop", {"items": items})
    await bench.work()
    await age(bench, job_id, days)
    async with bench.runtime.db.transaction() as conn:
        for table, columns in (
            ("search_events", "(org_id, job_id, row_no, generation, attempt, provider, variant,"
             " query, outcome, candidates, latency_ms) SELECT $2, $1, n, 1, 0, 'p', 'v', 'q',"
             " 'found', 1, 1 FROM generate_series(1, 10) n"),
            ("product_changes", "(job_id, product_id, org_id, row_no, version)"
             " SELECT $1, gen_random_uuid(), $2, n, 1 FROM generate_series(1, 20) n"),
            ("job_keys", "(job_id, row_no, key, org_id) SELECT $1, n, 'k', $2"
             " FROM generate_series(1, 5) n"),
        ):  # fmt: skip
            await conn.execute(f"INSERT INTO {table} {columns}", job_id, bench.who.org_id)
    return job_id


async def rows_of(bench: Bench, job_id: UUID) -> dict[str, int]:
    async with bench.runtime.db.acquire() as conn:
        return {
            table: await conn.fetchval(
                f"SELECT count(*) FROM {table} WHERE {key} = $1", job_id
            )
            for table, key in (
                ("jobs", "id"), ("job_items", "job_id"), ("events", "job_id"),
                ("search_events", "job_id"), ("product_changes", "job_id"), ("job_keys", "job_id"),
                ("job_stages", "job_id"),
            )
        }  # fmt: skip


async def set_policy(bench: Bench, **days: Any) -> None:
    async with bench.runtime.db.transaction() as conn:
        await store.set_policy(conn, bench.who.org_id, RetentionOverrides(**days))


def prune(bench: Bench) -> Pruner:
    return Pruner(bench.runtime, 60, SMALL)


async def test_old_jobs_go_with_all_their_parts(bench: Bench) -> None:
    old, young = await ended(bench, 20, 91), await ended(bench, 20, 89)
    live = await bench.submit("noop", {"items": 3})
    before = await rows_of(bench, young)
    planned = await count_prunable(bench.runtime)
    pruned = await prune(bench).run()
    assert set((await rows_of(bench, old)).values()) == {0}
    assert await rows_of(bench, young) == before
    assert (await rows_of(bench, live))["job_items"] == 3
    assert pruned.counts["jobs"] == 1
    assert (pruned.counts["items"], pruned.counts["changes"], pruned.counts["searches"]) == (
        20, 20, 10
    )  # fmt: skip
    # What was announced is what was done.
    assert +planned == +pruned.counts
    assert not +(await prune(bench).run()).counts
    assert "retention" in {one.name for one in background_services(bench.runtime)}


async def test_parts_go_before_their_job(bench: Bench) -> None:
    """A job without rows keeps its counters; it can be neither undone nor run again."""
    job_id = await ended(bench, 20, 10)
    await set_policy(bench, items=9, changes=9, events=11, searches=11)
    counters = {name: (await bench.job(job_id))[name] for name in ("total", "done", "state")}
    await prune(bench).run()
    left = await rows_of(bench, job_id)
    assert (left["jobs"], left["job_items"], left["product_changes"], left["job_keys"]) == (
        1, 0, 0, 0
    )  # fmt: skip
    assert left["events"] > 0
    assert left["search_events"] == 10
    job = await bench.job(job_id)
    assert {name: job[name] for name in counters} == counters
    db, caller = bench.runtime.db, Caller(bench.who)
    with pytest.raises(PermanentError, match=r"no longer be undone.*retention of your org"):
        await undo_job(bench.runtime, db.transaction, caller, job_id, 5)
    with pytest.raises(PermanentError, match=r"no longer be reprocessed: its rows were deleted"):
        async with db.transaction() as conn:
            await begin(
                bench.runtime, conn, job_id, Selection(whole_job=True), holder=new_id(),
                user_id=bench.who.user_id,
            )  # fmt: skip
    assert not +(await prune(bench).run()).counts


async def test_a_job_without_old_parts_costs_no_transaction_of_its_own(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the oldest jobs would take all the time of each run."""
    for _ in range(3):
        await ended(bench, 20, 10)
    await set_policy(bench, events=9, searches=9, changes=9, items=9, files=9)
    assert +(await prune(bench).run()).counts
    locked: list[UUID] = []
    lock_ended = store.lock_ended

    async def counted(conn: Connection, job_id: UUID) -> JobLock | None:
        locked.append(job_id)
        return await lock_ended(conn, job_id)

    monkeypatch.setattr(store, "lock_ended", counted)
    assert not +(await prune(bench).run()).counts
    assert locked == []


async def test_a_kill_between_two_chunks_is_continued(bench: Bench) -> None:
    job_id = await ended(bench, 30, 100)
    async with bench.runtime.db.transaction() as conn:
        lock = await store.lock_ended(conn, job_id)
        assert lock is not None
        await store.drop_items(conn, bench.who.org_id, job_id, lock, 0, 7)
    assert (await rows_of(bench, job_id))["job_items"] == 23
    assert (await bench.job(job_id))["pruned_at"] is not None
    # The time ends at once: nothing is half done, and the next run goes on.
    assert (await Pruner(bench.runtime, -1, SMALL).run()).more
    await prune(bench).run()
    assert set((await rows_of(bench, job_id)).values()) == {0}


async def test_parts_of_a_kept_job_are_continued(bench: Bench) -> None:
    """The first chunk marks the job; what is left of its rows and changes is found again."""
    job_id = await ended(bench, 30, 10)
    await set_policy(bench, items=9, changes=9)
    async with bench.runtime.db.transaction() as conn:
        lock = await store.lock_ended(conn, job_id)
        assert lock is not None
        await store.drop_items(conn, bench.who.org_id, job_id, lock, 0, 7)
        await store.drop_changes(conn, job_id, UUID(int=0), 7)
    left = await rows_of(bench, job_id)
    assert (left["job_items"], left["product_changes"]) == (23, 13)
    planned = await count_prunable(bench.runtime)
    pruned = await prune(bench).run()
    left = await rows_of(bench, job_id)
    assert (left["jobs"], left["job_items"], left["product_changes"]) == (1, 0, 0)
    assert (pruned.counts["items"], pruned.counts["changes"]) == (23, 13)
    assert planned["changes"] == 13


async def test_jobs_in_use_are_left_alone(bench: Bench) -> None:
    with_letter, reopened = await ended(bench, 5, 100), await ended(bench, 5, 100)
    async with bench.runtime.db.transaction() as conn:
        await conn.execute(
            "INSERT INTO dead_letters (id, org_id, user_id, job_id, pipeline, name, config,"
            " priority, attempts, code, message, signature, first_failed_at)"
            " VALUES (gen_random_uuid(), $1, $2, $3, 'noop', '', '{}', 5, 1, 'X', 'x', 's', now())",
            bench.who.org_id, bench.who.user_id, with_letter,
        )  # fmt: skip
        await conn.execute(
            "UPDATE jobs SET state = 'running', finished_at = NULL WHERE id = $1", reopened
        )
    assert (await count_prunable(bench.runtime))["jobs"] == 0
    await prune(bench).run()
    assert (await rows_of(bench, with_letter))["job_items"] == 5
    assert (await rows_of(bench, reopened))["job_items"] == 5


async def test_each_shop_keeps_its_newest_imports(bench: Bench) -> None:
    await set_policy(bench, done_imports=3, failed_imports=1)
    jobs = [await ended(bench, 1, number / 100) for number in range(12)]
    async with bench.runtime.db.transaction() as conn:
        for number, job_id in enumerate(jobs):
            await conn.execute(
                "UPDATE jobs SET pipeline = 'shop_import', state = $2, config = $3::jsonb"
                " WHERE id = $1",
                job_id, "failed" if number % 4 == 0 else "done",
                f'{{"connectionId": "shop-{number % 2}"}}',
            )  # fmt: skip
    planned = await count_prunable(bench.runtime)
    pruned = await prune(bench).run()
    left = [number for number, job_id in enumerate(jobs) if (await rows_of(bench, job_id))["jobs"]]
    # The newest is number 0. Failed: 0, 4, 8 of one shop. Done: 2, 6, 10 of it; the odd ones.
    assert left == [0, 1, 2, 3, 5, 6, 10]
    assert planned["jobs"] == pruned.counts["jobs"] == 5


async def test_usage_and_files(bench: Bench) -> None:
    """Rows no longer count towards the quota, and the file is left to the tidier."""
    job_id = await ended(bench, 20, 10)
    file_id = new_id()
    async with bench.runtime.db.transaction() as conn:
        await conn.execute(
            "INSERT INTO files (id, org_id, user_id, name, media_type, sha256, size, blob_key)"
            " VALUES ($1, $2, $3, 'a.csv', 'text/csv', repeat('0', 64), 1, 'blob')",
            file_id, bench.who.org_id, bench.who.user_id,
        )  # fmt: skip
        await conn.execute(
            "UPDATE jobs SET file_id = $2, ingest_cursor = '{}' WHERE id = $1", job_id, file_id
        )
        await conn.execute(
            "INSERT INTO org_usage (org_id, rows, row_bytes) VALUES ($1, 50, 5000)"
            " ON CONFLICT (org_id) DO UPDATE SET rows = 50, row_bytes = 5000",
            bench.who.org_id,
        )
    await set_policy(bench, items=9, files=9)
    pruned = await prune(bench).run()
    assert (pruned.counts["files"], pruned.counts["items"]) == (1, 20)
    async with bench.runtime.db.acquire() as conn:
        usage = await conn.fetchrow("SELECT rows, row_bytes FROM org_usage")
        used = await conn.fetchval("SELECT count(*) FROM jobs WHERE file_id = $1", file_id)
    assert usage is not None
    assert (usage["rows"], used) == (30, 0)
    assert abs(usage["row_bytes"] - 3000) < 10


async def test_logs_and_pages(bench: Bench) -> None:
    async with bench.runtime.db.transaction() as conn:
        await conn.execute(
            "INSERT INTO events (event, created_at) SELECT 'worker.lost', now() - n * interval"
            " '1 day' FROM generate_series(80, 100) n"
        )
        page = await conn.fetchval(
            "INSERT INTO pages (id, org_id, company, url_hash, url, version, job_id) VALUES"
            " (gen_random_uuid(), $1, 'acme', 'h', 'https://x.example', 3, gen_random_uuid())"
            " RETURNING id",
            bench.who.org_id,
        )
        await conn.execute(
            "INSERT INTO page_versions (page_id, version, org_id, job_id, row_no, final_url,"
            " blob_key, sha256, size, fetched_at) SELECT $1, n, $2, gen_random_uuid(), 1, 'u',"
            " 'blob-' || n, 's', 1, now() - interval '200 days' FROM generate_series(1, 3) n",
            page, bench.who.org_id,
        )  # fmt: skip
        await conn.execute(
            "INSERT INTO blob_refs (blob_key, org_id, kind, owner)"
            " SELECT 'blob-' || n, $1, 'page', $2 || ':' || n FROM generate_series(1, 3) n",
            bench.who.org_id, str(page),
        )  # fmt: skip
    pruned = await prune(bench).run()
    assert (pruned.counts["pages"], pruned.counts["events"]) == (2, 11)
    async with bench.runtime.db.acquire() as conn:
        versions = await conn.fetchval("SELECT array_agg(version) FROM page_versions")
        kept = await conn.fetchval("SELECT array_agg(blob_key) FROM blob_refs")
        sizes = await store.table_sizes(conn)
    assert (versions, kept) == ([3], ["blob-3"])
    assert {"jobs", "job_items", "events"} <= {one.name for one in sizes}


async def test_the_invariants_hold_while_rows_are_pruned(bench: Bench, db: Database) -> None:
    old = [await ended(bench, 300, 100) for _ in range(10)]
    sent: dict[UUID, Submitted] = {}
    over = asyncio.Event()

    async def work() -> None:
        async with bench.worker() as worker:
            while not over.is_set():
                sent[await bench.submit("noop", {"items": 20})] = Submitted(20)
                await worker.run_once()

    running = asyncio.create_task(work())
    pruned = await Pruner(bench.runtime, 60, PruneConfig(chunk=50)).run()
    over.set()
    await running
    await bench.work()
    assert pruned.counts["items"] == 3000
    assert [await bench.job(one) for one in old] == [None] * len(old)
    async with db.acquire() as conn:
        # Rows that retention deletes are the one way in which a row that has ended may go.
        for table in ("history_items", "history_slices", "history_jobs"):
            await conn.execute(f"DELETE FROM {table} WHERE job_id = ANY ($1)", old)
        assert await check(conn, submitted=sent, drained=True, blobs=bench.runtime.blobs) == []
