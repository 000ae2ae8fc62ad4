"""Every hot statement walks the index made for it, however large the tables are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.store.plenty import fill

from penstock import store
from penstock.store.database import Connection, Database
from penstock.store.queries import load

pytestmark = pytest.mark.slow

# Statement, and the indexes its plan must use.
HOT = [
    ("claims.choose_work", {"jobs_ready", "jobs_claimable", "job_stages_pkey"}),
    ("claims.pick_items", {"job_stages_pkey", "items_due", "items_fresh"}),
    ("claims.pick_groups", {"items_grouped"}),
    ("claims.open_slices", {"job_items_pkey", "jobs_pkey"}),
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
    ("pictures.unused_pictures", {"pictures_pkey", "jobs_pkey", "products_images"}),
    ("pictures.drop_pictures", {"pictures_pkey", "products_images", "blob_refs_owner"}),
    ("pending.search_open", {"items_live", "job_items_pkey"}),
    ("pending.waiting_jobs", {"jobs_depth", "items_due", "items_grouped"}),
    ("pending.waiting_rows", {"items_due", "items_grouped"}),
    ("pending.make_due", {"job_items_pkey", "jobs_pkey"}),
    ("pending.pending_rows", {"job_items_pkey", "jobs_pkey"}),
    ("pending.open_counts", {"jobs_depth"}),
    ("pending.oldest_rows", {"jobs_depth", "items_live"}),
    ("jobs.get_job", {"jobs_pkey"}),
    ("job_tables.table_of_job", {"jobs_pkey"}),
    ("jobs.walk_listed", {"jobs_pkey"}),
    ("jobs.listed_jobs", {"jobs_pkey"}),
    ("products.insert_products", {"job_items_pkey"}),
    ("products.update_products", {"products_pkey", "product_changes_pkey"}),
    ("products.keep_images", {"products_pkey", "product_changes_undone"}),
    ("products.changes_to_undo", {"product_changes_pkey"}),
    ("products.walk_changes", {"product_changes_pkey"}),
    ("products.changes_of_edit", {"product_changes_pkey", "job_edit_rows_pkey"}),
    ("activity.live_orgs", {"jobs_ready"}),
    ("activity.live_jobs", {"jobs_pkey", "job_stages_pkey"}),
    ("activity.last_ended", {"job_metrics_age"}),
    ("monitor.recent_counts", {"job_metrics_age", "events_of_installation"}),
    ("monitor.job_figures", {"job_metrics_age"}),
    ("monitor.recent_failures", {"job_metrics_age"}),
    ("monitor.roll_up_minutes", {"job_metrics_age"}),
    ("monitor.drop_old_metrics", {"job_metrics_age"}),
    ("monitor.job_history", {"job_rollups_pkey"}),
    ("monitor.duration_history", {"job_rollups_pkey"}),
    ("monitor.newest_check", {"health_checks_pkey"}),
    ("monitor.check_history", {"health_checks_pkey"}),
    ("settle.name_errors", {"job_metrics_job"}),
    ("notifications.waiting", {"notifications_waiting"}),
    ("notifications.recently_picked", {"notifications_of_target"}),
    ("notifications.note_try", {"notifications_pkey"}),
    ("notifications.note_silent_ends", {"notifications_pending", "job_items_pkey"}),
    ("notifications.targets_of_alert", {"notifications_told"}),
    ("notifications.drop_old", {"notifications_age"}),
    ("activity.last_failed", {"dead_letters_of_all"}),
    ("activity.open_letters", {"dead_letters_of_all"}),
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
    ("followers.news", {"events_commit_order"}),
    ("followers.page_end", {"events_commit_order"}),
    ("outbox.events_to_deliver", {"events_commit_order", "webhook_deliveries_once", "jobs_pkey"}),
    ("outbox.waiting_tests", {"webhook_deliveries_waiting"}),
    ("outbox.add_deliveries", {"items_key"}),
    ("webhooks.list_deliveries", {"webhook_deliveries_listed"}),
    ("webhooks.get_delivery", {"webhook_deliveries_pkey", "job_items_pkey"}),
    ("webhooks.delivery_of_item", {"webhook_deliveries_item"}),
    ("webhooks.note_tries", {"webhook_deliveries_pkey"}),
    ("webhooks.drop_old_deliveries", {"webhook_deliveries_age", "webhook_deliveries_pkey"}),
]
HOT += [
    ("search.by_gtin", {"products_gtin"}),
    ("search.by_sku", {"products_sku"}),
    ("search.by_maker", {"products_maker"}),
    ("search.by_words", {"products_words"}),
    ("search.products_by_id", {"products_pkey"}),
    ("search.written_by_job", {"product_changes_pkey", "products_pkey"}),
    ("pictures.near_pictures", {"pictures_bands", "products_images"}),
    ("searches.add_searches", {"job_items_pkey"}),
    ("searches.searches_of_rows", {"job_items_pkey", "search_events_item"}),
    ("searches.searches_of_item", {"search_events_item"}),
    ("pages.known_page", {"pages_org_id_company_url_hash_key", "page_versions_pkey"}),
    ("pages.baselines", {"page_versions_pkey"}),
    ("pages.count_failures", {"items_failed_in_group"}),
    ("pages.known_keys", {"items_key"}),
    ("pages.drop_old_robots", {"robots_rules_age", "Tid Scan"}),
    ("pages.known_robots", {"robots_rules_pkey"}),
    ("runs.counts_by_company", {"job_items_pkey"}),
    ("pictures.known_pictures", {"pictures_pkey"}),
    ("pictures.same_content", {"pictures_content"}),
    ("provider_states.lock_state", {"provider_states_pkey"}),
    ("provider_states.save_state", {"provider_states_pkey"}),
    ("provider_states.list_states", {"provider_calls_pkey"}),
    ("provider_states.drop_old_calls", {"provider_calls_age", "Tid Scan"}),
    ("export.widest", {"job_items_pkey"}),
    ("missing.page_of_source", {"products_org_id_source_source_id_key", "job_keys_"}),
    ("missing.lock_absent", {"products_org_id_source_source_id_key"}),
    ("missing.unpublish", {"products_pkey", "product_changes_pkey"}),
    ("missing.note_missing", {"products_org_id_source_source_id_key"}),
    ("missing.count_missing", {"job_missing_pkey"}),
    ("missing.list_missing", {"job_missing_pkey"}),
    ("missing.unnamed_rows", {"job_items_pkey", "job_keys_"}),
    ("result_cache.find", {"result_cache_pkey"}),
    ("result_cache.is_unchanged", {"jobs_pkey"}),
    ("result_cache.copy_range", {"job_items_pkey"}),
    ("result_cache.copy_keys", {"job_keys_"}),
    ("result_cache.copy_results", {"job_items_pkey"}),
    ("result_cache.count_problems", {"items_problem"}),
    ("result_cache.share_rows", {"jobs_pkey"}),
    ("result_cache.error_codes", {"job_errors_pkey"}),
    ("result_cache.last_copied", {"job_items_pkey"}),
    ("result_cache.lock_own_sharing", {"jobs_"}),
    ("result_cache.next_sharing", {"jobs_shared_from"}),
    ("result_cache.copied_summary", {"jobs_pkey"}),
    ("products.catalog_changed_since", {"products_listed", "product_changes_undone_at"}),
    ("result_cache.mark_cached", {"jobs_pkey"}),
    ("result_cache.drop_old", {"result_cache_age", "Tid Scan"}),
    ("audit_log.of_all", {"audit_pkey"}),
    ("audit_log.drop_old", {"audit_pkey"}),
    ("audit_log.of_org", {"audit_listed"}),
    ("audit_log.of_user", {"audit_of_user"}),
    ("audit_log.of_action", {"audit_of_action"}),
    ("audit_log.of_target", {"audit_of_target"}),
    ("sessions.wait_for_pair", {"sign_in_tries_"}),
    ("sessions.wait_for_account", {"sign_in_tries_account"}),
    ("sessions.wait_for_network", {"sign_in_tries_network"}),
    ("sessions.knows_network", {"sign_in_networks_pkey"}),
    ("sessions.forget_networks", {"sign_in_networks_age", "Tid Scan"}),
    ("sessions.forget_tries", {"sign_in_tries_age"}),
    ("sessions.forgive_pair", {"sign_in_tries_"}),
    ("sessions.forgive_account", {"sign_in_tries_account"}),
    ("sessions.forget_sessions", {"sessions_age", "sessions_pkey"}),
    ("sweep.forget_keys", {"idempotency_keys_age", "Tid Scan"}),
    ("uploads.expired_uploads", {"uploads_expiry", "uploads_pkey"}),
    ("orphans.files_after", {"files_age", "jobs_file", "dead_letters_file"}),
    ("orphans.drop_files", {"files_pkey", "jobs_file", "dead_letters_file"}),
    ("orphans.unreferenced_blobs", {"files_blob"}),
    ("jobs.find_key", {"idempotency_keys_pkey"}),
    ("claims.choose_stage_of_job", {"jobs_pkey", "job_stages_pkey"}),
    ("claims.take_items", {"jobs_pkey", "job_stages_pkey", "events_seq", "job_items_pkey"}),
    ("claims.refresh_ready", {"jobs_pkey", "job_stages_pkey"}),
    ("claims.next_ready", {"Scan using jobs_"}),
    ("claims.extend_slices", {"slices_pkey"}),
    ("claims.extend_free_slices", {"slices_pkey"}),
    ("claims.locked_jobs", {"jobs_pkey"}),
    ("settle.hold_slices", {"slices_pkey"}),
    ("settle.take_slices", {"slices_pkey"}),
    ("settle.move_barriers", {"job_stages_pkey"}),
    ("settle.end_jobs", {"jobs_pkey"}),
    ("settle.ready_jobs", {"jobs_pkey"}),
    ("settle.next_seq", {"jobs_pkey"}),
    ("sweep.take_expired", {"slices_pkey"}),
    ("control.drop_slices", {"slices_job"}),
    ("ingest.ingest_batch", {"jobs_pkey"}),
    ("products.lock_products", {"products_org_id_source_source_id_key"}),
    (
        "products.find_products",
        {"products_org_id_source_source_id_key", "products_sku", "products_gtin", "products_pkey"},
    ),
    ("products.find_unchanged", {"products_org_id_source_source_id_key"}),
    ("products.find_links", {"products_gtin", "products_maker"}),
    ("product_links.decided_with", {"product_links_first", "product_links_second"}),
    ("product_links.states_of", {"product_links_pkey"}),
    ("product_links.decide", {"product_links_pkey"}),
    ("product_links.decided_page", {"product_links_decided"}),
    (
        "product_links.decided_of_product",
        {"product_links_first", "product_links_second", "products_org_id_source_source_id_key"},
    ),
    ("product_links.products_to_link", {"products_pkey"}),
    ("product_links.products_named", {"products_org_id_source_source_id_key"}),
    (
        "product_links.proposed_in_rows",
        {"job_items_pkey", "products_org_id_source_source_id_key", "products_pkey"},
    ),
    ("products.files_of_source", {"products_org_id_source_source_id_key", "jobs_pkey"}),
    ("products.forget_row_keys", {"job_keys_pkey"}),
    ("products.rows_by_key", {"job_keys_found"}),
    ("products.names_of_rows", {"job_keys_pkey"}),
    ("edits.edit_window", {"job_items_pkey"}),
    ("edits.named_rows", {"job_items_pkey"}),
    ("column_values.rows_by_value", {"job_items_pkey", "items_problem"}),
    ("column_values.distribution", {"job_items_pkey"}),
    ("edits.set_inputs", {"job_items_pkey"}),
    ("edits.edit_rows", {"job_edit_rows_pkey"}),
    ("edits.last_edit", {"job_edits_listed", "bulk_operations_pkey", "users_pkey"}),
    ("products.first_of_key", {"job_keys_found"}),
    ("products.last_of_key", {"job_keys_found"}),
    ("products.fullest_of_key", {"job_keys_most_complete"}),
    ("products.row_documents", {"job_items_pkey"}),
    ("products.tally_changes", {"job_items_pkey"}),
    ("products.tally_states", {"job_items_pkey"}),
    ("products.tally_problems", {"job_items_pkey"}),
    ("products.lock_changed", {"products_pkey"}),
    ("products.restore_products", {"products_pkey"}),
    ("products.mark_undone", {"product_changes_pkey"}),
    ("result_cache.remember", {"jobs_pkey", "files_pkey", "job_errors_pkey"}),
    ("reconcile.overdue_jobs", {"jobs_pkey"}),
    ("reconcile.stuck_jobs", {"jobs_depth"}),
    ("bulk.live_operations", {"bulk_live"}),
    ("outbox.idle_streams", {"jobs_depth", "webhook_streams_pkey"}),
]
LARGE = (
    *("audit", "sign_in_tries", "sign_in_networks", "users", "passwords", "api_keys", "sessions"),
    *("files", "uploads", "idempotency_keys", "bulk_operations", "profiles", "rates"),
    *("job_errors", "webhook_streams"),
    *("job_items", "jobs", "job_stages", "events", "dead_letters", "dead_letter_groups"),
    *("products", "product_changes", "job_keys", "job_missing", "result_cache"),
    *("webhook_deliveries", "search_events", "job_metrics", "job_rollups", "health_checks"),
    *("notifications", "job_edits", "job_edit_rows", "product_links", "product_edits"),
)
# What may be read whole nevertheless.
WHOLE = {
    # One row for each kind of failure, looked through now and then.
    "dead_letters.drop_old_groups": {"dead_letter_groups"},
    # When somebody ceases to be an admin, and before anybody is one.
    "users.has_other_admin": {"users"},
    "sessions.has_admin_with_password": {"users"},
    # Only ever run by the owner and for admins, from whom no other org's rows are hidden.
    "uploads.expired_uploads": {"uploads"},
}
# Statements by an index that only bitmap scans can use; they are run with these switched on.
BY_BITMAP = {
    *("search.by_words", "pictures.near_pictures", "pictures.unused_pictures"),
    "pictures.drop_pictures",
}
# What a tenant's row-level security makes of a statement.
TENANTS = [
    ("dead_letters.list_letters", {"dead_letters_listed"}),
    ("dead_letters.list_alike", {"dead_letters_alike"}),
    ("dead_letters.list_groups", {"dead_letter_groups_pkey", "dead_letters_pkey"}),
    ("dead_letters.pick_open", {"dead_letters_listed"}),
    ("catalog.newest_products", {"products_listed"}),
    ("catalog.products_by_sku", {"products_sku"}),
    ("catalog.products_by_gtin", {"products_gtin"}),
    ("catalog.oldest_products", {"products_listed"}),
    ("catalog.products_by_title", {"products_by_title"}),
    ("catalog.products_by_title_down", {"Backward using products_by_title"}),
    ("catalog.products_without_title", {"products_by_title"}),
    ("catalog.products_by_price", {"products_by_price"}),
    ("catalog.products_by_price_down", {"Backward using products_by_price"}),
    ("catalog.products_without_price", {"products_by_price"}),
    ("catalog.sources_of_org", {"products_org_id_source_source_id_key"}),
    ("catalog.filter_values", {"products_pkey"}),
    ("product_edits.price_points", {"product_changes_history", "products_pkey"}),
    ("product_edits.kept_by_others", {"product_edits_product"}),
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
        await fill(conn)
        yield conn


async def plan_of(conn: Connection, name: str) -> str:
    """The plan that serves all values; the ones given do not matter."""
    family, statement = name.split(".")
    sql = getattr(load(family), statement)
    arguments = len((await conn.prepare(sql)).get_parameters())
    nulls = f"({', '.join(['NULL'] * arguments)})" if arguments else ""
    await conn.execute("SET plan_cache_mode = force_generic_plan")
    await conn.execute(f"SET enable_bitmapscan = {'on' if name in BY_BITMAP else 'off'}")
    await conn.execute(f"PREPARE looked_at AS {sql}")
    try:
        rows = await conn.fetch(f"EXPLAIN EXECUTE looked_at{nulls}")
    finally:
        await conn.execute("DEALLOCATE looked_at")
    return "\n".join(row[0] for row in rows)


async def wear(conn: Connection, role: str | None) -> None:
    await conn.execute("RESET ROLE" if role is None else f"SET ROLE {role}")
    await conn.execute("SELECT set_config('penstock.org', '1', false)")


async def test_hot_statements_use_their_indexes(seeded: Connection) -> None:
    problems = []
    for role, hot in ((None, HOT), ("penstock_api", TENANTS)):
        await wear(seeded, role)
        for name, indexes in hot:
            plan = await plan_of(seeded, name)
            missing = {index for index in indexes if index not in plan}
            if missing:
                problems.append(f"{name} as {role or 'owner'} misses {missing}\n{plan}")
    await wear(seeded, None)
    assert not problems, "\n\n".join(problems)
    await seeded.execute("DROP INDEX items_fresh")
    assert "items_fresh" not in await plan_of(seeded, "claims.pick_items")


def every_statement() -> list[str]:
    files = sorted(Path(store.__file__).with_name("sql").rglob("*.sql"))
    assert files
    return [f"{file.stem}.{name}" for file in files for name in load(file.stem).names()]


async def test_no_statement_reads_a_large_table_whole(seeded: Connection) -> None:
    """Also those that nobody thinks of as hot, whoever runs them."""
    problems = []
    for role in (None, "penstock_api", "penstock_admin"):
        await wear(seeded, role)
        for name in every_statement():
            try:
                plan = await plan_of(seeded, name)
            except asyncpg.InsufficientPrivilegeError:
                continue
            scanned = {table for table in LARGE if f"Seq Scan on {table} " in plan}
            if scanned - WHOLE.get(name, set()):
                problems.append(f"{name} as {role or 'owner'} scans {scanned}\n{plan}")
    await wear(seeded, None)
    assert not problems, "\n\n".join(problems)
    # What a file lacks is looked up key by key, and not by looking through all keys of the job for
    # each product, whatever index that uses.
    plan = await plan_of(seeded, "missing.page_of_source")
    assert "Index Cond: ((job_id = $1) AND (key = ANY" in plan, plan
