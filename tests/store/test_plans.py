"""Every hot statement walks the index made for it, however large the tables are."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from penstock.store.database import Connection, Database
from penstock.store.queries import load

SEED = """
INSERT INTO orgs (name, plan) SELECT 'org' || n, 'standard' FROM generate_series(1, 50) n;
INSERT INTO org_time (org_id) SELECT id FROM orgs;
INSERT INTO users (org_id, email, role) SELECT id, name || '@x', 'member' FROM orgs;
INSERT INTO jobs (id, org_id, user_id, pipeline, lane, state, total, pending, done, finished_at)
SELECT gen_random_uuid(), 1 + n % 50, 1 + n % 50, 'noop', 'standard',
       CASE WHEN n % 10 = 0 THEN 'queued' ELSE 'done' END,
       100, CASE WHEN n % 10 = 0 THEN 100 ELSE 0 END, CASE WHEN n % 10 = 0 THEN 0 ELSE 100 END,
       CASE WHEN n % 10 = 0 THEN NULL ELSE now() END
FROM generate_series(1, 1000) n;
INSERT INTO job_stages (job_id, position, org_id, kind, name, pending, open, ready_at)
SELECT id, 0, org_id, 'items', 'work', pending, pending, now() FROM jobs;
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, due_at, group_key, input)
SELECT j.id, n, j.org_id, j.user_id, 'noop', CASE WHEN j.pending > 0 THEN 'PENDING' ELSE 'DONE' END,
       CASE WHEN n % 20 = 0 THEN now() END, CASE WHEN n % 25 = 0 THEN 'g' || n END, '[]'
FROM jobs j, generate_series(1, 100) n;
INSERT INTO events (org_id, job_id, seq, event)
SELECT org_id, id, n, 'job.progress' FROM jobs, generate_series(1, 20) n;
INSERT INTO dead_letters (id, org_id, user_id, job_id, pipeline, name, config, priority, attempts,
                          code, message, signature, first_failed_at, last_failed_at)
SELECT gen_random_uuid(), 1 + n % 50, 1 + n % 50, gen_random_uuid(), 'noop', '', '{}', 5, 1, 'X',
       'x', 'noop:X:' || n % 700, now(), now() - n * interval '1 second'
FROM generate_series(1, 10000) n;
INSERT INTO dead_letter_groups (org_id, signature, user_id, open, first_failed_at, last_failed_at,
                                newest)
SELECT org_id, signature, user_id, count(*), now(), now(), min(id::text)::uuid
FROM dead_letters GROUP BY org_id, signature, user_id;
INSERT INTO products (id, org_id, source, source_id, sku, gtin, data, job_id, row_no, updated_at)
SELECT gen_random_uuid(), 1 + n % 50, 'file', 'id-' || n, 'S-' || n, lpad(n::text, 14, '0'), '{}',
       gen_random_uuid(), n, now() - n * interval '1 second'
FROM generate_series(1, 20000) n;
INSERT INTO product_changes (job_id, product_id, org_id, row_no, version, undone_at)
SELECT job_id, id, org_id, row_no, 1, CASE WHEN row_no % 10 = 0 THEN now() END FROM products;
INSERT INTO job_keys (job_id, row_no, key, org_id)
SELECT md5((n % 2)::text)::uuid, n, 'seen:id:id-' || n, 1 FROM generate_series(1, 20000) n;
INSERT INTO job_missing (job_id, source_id, org_id, product_id, unpublished)
SELECT job_id, source_id, org_id, id, false FROM products;
INSERT INTO result_cache (org_id, sha256, key, job_id, made_at)
SELECT j.org_id, md5(n::text), j.id::text || n, j.id, now() - n * interval '1 minute'
FROM jobs j, generate_series(1, 10) n;
INSERT INTO webhook_endpoints (id, org_id, user_id, url, events, secret)
SELECT gen_random_uuid(), id, id, 'https://example.com/', '{*}', '' FROM orgs;
INSERT INTO webhook_deliveries (id, org_id, user_id, endpoint_id, event_id, event, stream_job,
                                row_no, state, settled_at)
SELECT gen_random_uuid(), w.org_id, w.user_id, w.id, n, 'job.completed', gen_random_uuid(), n,
       'delivered', now() - n * interval '1 minute'
FROM webhook_endpoints w, generate_series(1, 400) n;
INSERT INTO audit (org_id, user_id, action, target)
SELECT 1 + n % 50, 1 + n % 50, 'job.' || n % 40, 'job:' || n FROM generate_series(1, 20000) n;
INSERT INTO sign_in_tries (subject)
SELECT decode(md5((n % 500)::text), 'hex') FROM generate_series(1, 10000) n;
ANALYZE;
"""

# Statement, and the indexes its plan must use.
HOT = [
    ("claims.choose_org", {"jobs_ready"}),
    ("claims.choose_stage", {"job_stages_pkey"}),
    ("claims.choose_neighbours", {"job_stages_pkey"}),
    ("claims.pick_items", {"items_due", "items_fresh"}),
    ("claims.pick_groups", {"items_grouped"}),
    ("claims.open_slices", {"job_items_pkey"}),
    ("claims.load_items", {"job_items_pkey"}),
    ("claims.load_jobs", {"jobs_pkey"}),
    ("claims.rest_stage", {"items_due", "job_stages_pkey"}),
    ("settle.settle_items", {"job_items_pkey"}),
    ("settle.release_items", {"job_items_pkey"}),
    ("settle.lock_jobs", {"jobs_pkey"}),
    ("settle.move_stages", {"job_stages_pkey"}),
    ("settle.move_jobs", {"jobs_pkey", "job_stages_pkey"}),
    ("settle.add_children", {"items_key"}),
    ("sweep.return_items", {"job_items_pkey"}),
    ("control.skip_items", {"items_live", "job_items_pkey"}),
    ("reprocess.problem_window", {"items_problem"}),
    ("reprocess.whole_window", {"job_items_pkey"}),
    ("reprocess.named_window", {"job_items_pkey"}),
    ("reprocess.reopen_items", {"job_items_pkey"}),
    ("reprocess.failures_since", {"jobs_failures"}),
    ("reconcile.abandoned_jobs", {"jobs_reopening"}),
    ("bulk.walk_jobs", {"jobs_listed", "jobs_pkey"}),
    ("items.items_by_row", {"job_items_pkey"}),
    ("items.rows_up", {"job_items_pkey"}),
    ("items.rows_down", {"job_items_pkey"}),
    ("items.problems_up", {"items_problem"}),
    ("items.problems_down", {"items_problem"}),
    ("items.problems_oldest", {"items_problem_age"}),
    ("items.problems_newest", {"items_problem_age"}),
    ("items.open_oldest", {"items_live"}),
    ("items.open_newest", {"items_live"}),
    ("items.running_rows", {"job_items_pkey"}),
    ("items.items_of_rows", {"job_items_pkey"}),
    ("export.results", {"job_items_pkey"}),
    ("export.rows_to_export", {"job_items_pkey"}),
    ("export.problems_to_export", {"items_problem"}),
    ("pending.open_rows", {"jobs_depth", "items_live"}),
    ("missing.page_of_source", {"products_org_id_source_source_id_key"}),
    ("pending.waiting_jobs", {"jobs_depth", "items_due", "items_grouped"}),
    ("pending.waiting_rows", {"items_due", "items_grouped"}),
    ("pending.wait_no_longer", {"job_items_pkey", "jobs_pkey"}),
    ("pending.pending_rows", {"job_items_pkey", "jobs_pkey"}),
    ("pending.open_counts", {"jobs_depth"}),
    ("pending.oldest_rows", {"jobs_depth", "items_live"}),
    ("jobs.get_job", {"jobs_pkey"}),
    ("jobs.table_of_job", {"jobs_pkey"}),
    ("jobs.walk_listed", {"jobs_pkey"}),
    ("jobs.listed_jobs", {"jobs_pkey"}),
    ("products.insert_products", {"job_items_pkey"}),
    ("products.update_products", {"products_pkey", "product_changes_undone"}),
    ("products.changes_to_undo", {"product_changes_pkey"}),
    ("live.live_orgs", {"jobs_ready"}),
    ("live.live_jobs", {"jobs_pkey", "job_stages_pkey"}),
    ("live.lately_done", {"jobs_recent"}),
    ("live.lately_failed", {"dead_letters_of_all"}),
    ("live.open_letters", {"dead_letters_of_all"}),
    ("events.job_events", {"events_seq"}),
    ("events.all_events", {"events_commit_order", "jobs_pkey"}),
    ("events.tail_events", {"events_commit_order", "jobs_pkey"}),
    ("settle.add_events", {"events_seq"}),
    # As an admin sees them: over all orgs.
    ("dead_letters.list_letters", {"dead_letters_of_all"}),
    ("dead_letters.list_groups", {"dead_letter_groups_of_all", "dead_letters_pkey"}),
    ("dead_letters.pick_open", {"dead_letters_of_all"}),
    ("dead_letters.count_open", {"dead_letters_of_all"}),
    ("dead_letters.close_letters", {"dead_letters_pkey"}),
    ("dead_letters.close_letters_of_job", {"dead_letters_of_job"}),
    ("dead_letters.leave_groups", {"dead_letter_groups_pkey"}),
    ("dead_letters.drop_old_letters", {"dead_letters_of_all", "dead_letters_pkey"}),
    ("dead_letters.close_letters_of_items", {"dead_letters_of_job"}),
    ("outbox.news", {"events_commit_order"}),
    ("outbox.page_end", {"events_commit_order"}),
    ("outbox.to_tell", {"events_commit_order", "webhook_deliveries_once", "jobs_pkey"}),
    ("outbox.waiting", {"webhook_deliveries_waiting"}),
    ("outbox.add_deliveries", {"items_key"}),
    ("webhooks.list_deliveries", {"webhook_deliveries_listed"}),
    ("webhooks.get_delivery", {"webhook_deliveries_pkey", "job_items_pkey"}),
    ("webhooks.delivery_of_item", {"webhook_deliveries_item"}),
    ("webhooks.note_tries", {"webhook_deliveries_pkey"}),
    ("webhooks.drop_old_deliveries", {"webhook_deliveries_age", "webhook_deliveries_pkey"}),
]
HOT += [
    ("export.widest", {"job_items_pkey"}),
    ("missing.page_of_source", {"products_org_id_source_source_id_key", "job_keys_"}),
    ("missing.lock_absent", {"products_org_id_source_source_id_key"}),
    ("missing.unpublish", {"products_pkey", "product_changes_undone"}),
    ("missing.note_missing", {"products_org_id_source_source_id_key"}),
    ("missing.count_missing", {"job_missing_pkey"}),
    ("missing.list_missing", {"job_missing_pkey"}),
    ("missing.unnamed_rows", {"job_items_pkey", "job_keys_"}),
    ("recall.find", {"result_cache_pkey"}),
    ("recall.is_unchanged", {"jobs_pkey"}),
    ("recall.copy_items", {"job_items_pkey"}),
    ("recall.copy_keys", {"job_keys_"}),
    ("recall.say_cached", {"jobs_pkey"}),
    ("recall.drop_old", {"result_cache_age", "Tid Scan"}),
    ("audits.of_all", {"audit_pkey"}),
    ("audits.drop_old", {"audit_pkey"}),
    ("audits.of_org", {"audit_listed"}),
    ("audits.of_user", {"audit_of_user"}),
    ("audits.of_action", {"audit_of_action"}),
    ("audits.of_target", {"audit_of_target"}),
    ("sessions.wait_for_try", {"sign_in_tries_recent"}),
    ("sessions.forget_tries", {"sign_in_tries_age"}),
]
LARGE = (
    *("audit", "sign_in_tries"),
    *("job_items", "jobs", "job_stages", "events", "dead_letters", "dead_letter_groups"),
    *("products", "product_changes", "job_keys", "job_missing", "result_cache"),
    "webhook_deliveries",
)
# What a tenant's row-level security makes of a statement.
TENANTS = [
    ("dead_letters.list_letters", {"dead_letters_listed"}),
    ("dead_letters.list_alike", {"dead_letters_alike"}),
    ("dead_letters.list_groups", {"dead_letter_groups_pkey", "dead_letters_pkey"}),
    ("dead_letters.pick_open", {"dead_letters_listed"}),
    ("catalog.newest_products", {"products_listed"}),
    ("catalog.products_by_sku", {"products_sku"}),
    ("catalog.products_by_gtin", {"products_gtin"}),
    ("catalog.products_of_job", {"product_changes_pkey"}),
    ("catalog.listed_products", {"products_pkey"}),
    ("catalog.whole_products", {"products_pkey"}),
    ("catalog.products_in_order", {"products_org_id_source_source_id_key"}),
    ("catalog.get_product", {"products_pkey"}),
    ("events.all_events", {"events_of_org", "jobs_listed"}),
    ("jobs.walk_listed", {"jobs_listed"}),
    ("pending.open_rows", {"items_live"}),
    ("pending.oldest_rows", {"items_live"}),
    ("catalog.product_history", {"product_changes_history", "products_pkey"}),
    ("webhooks.list_deliveries", {"webhook_deliveries_listed"}),
]


@pytest.fixture
async def seeded(db: Database) -> AsyncIterator[Connection]:
    async with db.acquire() as conn:
        await conn.execute(SEED)
        yield conn


async def generic_plan(conn: Connection, sql: str) -> str:
    """The plan that serves all values; the ones given do not matter."""
    arguments = len((await conn.prepare(sql)).get_parameters())
    nulls = f"({', '.join(['NULL'] * arguments)})" if arguments else ""
    await conn.execute("SET plan_cache_mode = force_generic_plan")
    await conn.execute(f"PREPARE looked_at AS {sql}")
    try:
        rows = await conn.fetch(f"EXPLAIN EXECUTE looked_at{nulls}")
    finally:
        await conn.execute("DEALLOCATE looked_at")
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize(("role", "hot"), [(None, HOT), ("penstock_api", TENANTS)])
async def test_hot_statements_use_their_indexes(
    seeded: Connection, role: str | None, hot: list[tuple[str, set[str]]]
) -> None:
    if role is not None:
        await seeded.execute(f"SET ROLE {role}")
        await seeded.execute("SELECT set_config('penstock.org', '1', false)")
    problems = []
    for name, indexes in hot:
        family, statement = name.split(".")
        sql = getattr(load(family), statement)
        plan = await generic_plan(seeded, sql)
        missing = {index for index in indexes if index not in plan}
        scanned = {table for table in LARGE if f"Seq Scan on {table} " in plan}
        if missing or scanned:
            problems.append(f"{name}: misses {missing or '-'}, scans {scanned or '-'}\n{plan}")
    await seeded.execute("RESET ROLE")
    assert not problems, "\n\n".join(problems)


async def test_what_a_file_lacks_is_looked_up_key_by_key(seeded: Connection) -> None:
    """And not by looking through all keys of the job for each product, whatever index that uses."""
    plan = await generic_plan(seeded, load("missing").page_of_source)
    assert "Index Cond: ((job_id = $1) AND (key = ANY" in plan, plan


async def test_the_guard_sees_a_missing_index(seeded: Connection) -> None:
    await seeded.execute("DROP INDEX items_fresh")
    assert "items_fresh" not in await generic_plan(seeded, load("claims").pick_items)
