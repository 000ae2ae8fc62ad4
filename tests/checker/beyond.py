"""Invariants beyond the single item: keys, orgs, files, pauses, barriers, suspects, and the end."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import orjson
from tests.checker.case import SHOWN, Case, found

from penstock.blobs.local import LocalBlobs

_OPEN = "('PENDING', 'PROCESSING')"
# Denormalised for speed and for row-level security: it must be the job's own.
_OF_JOBS = ("job_items", "job_stages", "job_errors", "events", "dead_letters", "slices")


async def letters_are_answered(case: Case) -> list[str]:
    """7. An open letter is that of a job that has failed, not of one taken up again since."""
    return await found(case, "an open letter of a job that goes on", """
        SELECT d.id, d.job_id, j.state FROM dead_letters d JOIN jobs j ON j.id = d.job_id
        WHERE d.state = 'open' AND d.row_no IS NULL AND j.state NOT IN ('failed', 'cancelling')
        """)  # fmt: skip


async def suspects_go_alone(case: Case) -> list[str]:
    """7. An item that saw two crashes is alone under its lease, so that the next crash is its
    own."""
    return await found(case, "a suspect in company", """
        SELECT h.job_id, h.row_no, h.crashes, cardinality(s.row_nos) AS together
        FROM history_items h JOIN history_slices s ON s.id = h.to_slice AND s.op = 'INSERT'
        WHERE h.to_status = 'PROCESSING' AND h.crashes >= 2 AND cardinality(s.row_nos) > 1
        """)  # fmt: skip


async def errors_are_counted(case: Case) -> list[str]:
    """10. The counters of errors agree with the items."""
    return await found(case, "errors are counted wrong", """
        SELECT coalesce(i.job_id, e.job_id) AS job_id, coalesce(i.code, e.code) AS code,
               i.items, e.count
        FROM (SELECT j.id AS job_id, i.error ->> 'code' AS code, count(*) AS items
              FROM jobs j JOIN job_items i ON i.job_id = rows_of(j.id)
              WHERE i.status IN ('ERROR', 'NOT_FOUND', 'SKIPPED') AND i.error IS NOT NULL
              GROUP BY 1, 2) AS i
        FULL JOIN (SELECT * FROM job_errors WHERE count <> 0) AS e
            ON e.job_id = i.job_id AND e.code = i.code
        WHERE i.items IS DISTINCT FROM e.count""")  # fmt: skip


async def keys_name_one_job(case: Case) -> list[str]:
    """14. An idempotency key is kept, and names the job that was answered to it."""
    rows = await case.conn.fetch("SELECT key, job_id, response FROM idempotency_keys")
    known: dict[str, list[str]] = {}
    for row in rows:
        known.setdefault(row["key"], []).append(str(row["job_id"]))
    wrong = [
        f"key {sent.key!r} was answered with {job_id}, and is kept for {known.get(sent.key)}"
        for job_id, sent in case.submitted.items()
        if sent.key is not None and sent.acked and known.get(sent.key) != [str(job_id)]
    ]
    wrong += [
        f"key {row['key']!r} is {row['job_id']}'s, but answers {row['response']}" for row in rows
        if orjson.loads(row["response"])["jobId"] != str(row["job_id"])
    ]  # fmt: skip
    return wrong[:SHOWN]


async def tenants_stay_apart(case: Case) -> list[str]:
    """17. Rows that belong to a job have its org; the API, as an org, sees nothing of another, and
    without one nothing at all."""
    wrong = []
    for table in _OF_JOBS:
        wrong += await found(case, f"{table} of another org than its job", f"""
            SELECT t.job_id, t.org_id, j.org_id AS of_job FROM {table} t
            JOIN jobs j ON j.id = t.job_id WHERE t.org_id <> j.org_id""")  # fmt: skip
    tables = [row["name"] for row in await case.conn.fetch("""
        SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
          AND a.attname = 'org_id' AND c.relname NOT LIKE 'history%'
          AND has_any_column_privilege('penstock_api', c.oid, 'SELECT')""")]  # fmt: skip
    orgs = [row["id"] for row in await case.conn.fetch("SELECT id FROM orgs ORDER BY id LIMIT 3")]
    for org in (*orgs, None):
        wrong += await _seen(case, tables, org)
    return wrong


async def _seen(case: Case, tables: Sequence[str], org: int | None) -> list[str]:
    """Rows of these tables that the API sees as this org, and should not."""
    foreign = "true" if org is None else f"org_id IS DISTINCT FROM {org}"
    async with case.conn.transaction():
        await case.conn.execute("SET LOCAL ROLE penstock_api")
        await case.conn.execute("SELECT set_config('penstock.org', $1, true)", str(org or ""))
        counts = {
            table: await case.conn.fetchval(f"SELECT count(org_id) FROM {table} WHERE {foreign}")
            for table in tables
        }
    return [f"as org {org} the API sees {n} rows of {t}" for t, n in counts.items() if n]


async def files_are_there(case: Case) -> list[str]:
    """19. The file of a job is there, with the bytes that were sent."""
    if case.blobs is None:
        return []
    rows = await case.conn.fetch("""
        SELECT DISTINCT f.id, f.sha256, f.blob_key FROM jobs j JOIN files f ON f.id = j.file_id
        """)  # fmt: skip
    wrong = []
    for row in rows:
        path = cast(LocalBlobs, case.blobs).path(row["blob_key"])
        if not path.exists():
            wrong.append(f"file {row['id']} is gone")
        elif await asyncio.to_thread(_sha256, path) != row["sha256"]:
            wrong.append(f"file {row['id']} has other bytes than were sent")
    return wrong[:SHOWN]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def pauses_hold(case: Case) -> list[str]:
    """21. Once a pause is acknowledged, nothing of the job is claimed until it is resumed."""
    return await found(case, "claimed while it was paused", """
        SELECT s.job_id, s.id, s.kind FROM history_slices s CROSS JOIN LATERAL (
            SELECT h.paused FROM history_jobs h WHERE h.job_id = s.job_id AND h.n < s.n
            ORDER BY h.n DESC LIMIT 1) AS last
        WHERE s.op = 'INSERT' AND last.paused""")  # fmt: skip


async def barriers_hold(case: Case) -> list[str]:
    """22. Behind a barrier nothing starts while an item is in an earlier stage. Not looked at in
    jobs that grow or run again: there, earlier stages open again."""
    return await found(case, "claimed before its barrier opened", f"""
        WITH plain AS (
            SELECT st.job_id, st.position FROM job_stages st JOIN jobs j ON j.id = st.job_id
            WHERE st.barrier AND j.generation = 1 AND NOT EXISTS (
                SELECT 1 FROM job_items c WHERE c.job_id = j.id AND c.parent_row IS NOT NULL)
        )
        SELECT job_id, row_no, earlier FROM (
            SELECT h.job_id, h.row_no, h.from_status, h.to_status, h.to_stage, p.position,
                   sum(coalesce((h.to_status IN {_OPEN} AND h.to_stage < p.position)::int, 0)
                     - coalesce((h.from_status IN {_OPEN} AND h.from_stage < p.position)::int, 0))
                       OVER (PARTITION BY h.job_id, p.position ORDER BY h.n) AS earlier
            FROM history_items h JOIN plain p ON p.job_id = h.job_id) AS h
        WHERE from_status = 'PENDING' AND to_status = 'PROCESSING' AND to_stage = position
          AND earlier > 0
        UNION ALL
        -- Rows of a range are in the first stage until they are items.
        SELECT h.job_id, h.row_no, r.first_row FROM history_items h
        JOIN plain p ON p.job_id = h.job_id AND p.position = h.to_stage
        JOIN history_ranges r ON r.job_id = h.job_id AND r.op = 'DELETE' AND r.n > h.n
        WHERE h.from_status = 'PENDING' AND h.to_status = 'PROCESSING'""")  # fmt: skip


async def retries_wait_their_time(case: Case) -> list[str]:
    """22. A retry waits at least as long as its rule says."""
    rows = await case.conn.fetch("""
        SELECT error_code, attempts,
               min(extract(epoch FROM due_at - began) * 1000)::float8 AS waited
        FROM history_items
        WHERE from_status = 'PROCESSING' AND to_status = 'PENDING' AND to_stage = from_stage
          AND attempts > from_attempts GROUP BY error_code, attempts""")
    wrong = []
    for row in rows:
        code = row["error_code"] or ""
        rule = case.policy.not_found if code == "NOT_FOUND" else case.policy.rule(code)
        least = rule.delay_ms(row["attempts"], 0.0)
        if row["waited"] is None or row["waited"] < least - 1:
            wrong.append(f"retry {row['attempts']} of {code} after {row['waited']} of {least} ms")
    return wrong


async def all_has_ended(case: Case) -> list[str]:
    """25. When no work is left, every job has ended."""
    if not case.drained:
        return []
    return await found(case, "did not come to its end", """
        SELECT id, state, pending, processing, ready_at::text FROM jobs
        WHERE finished_at IS NULL AND NOT standing AND NOT paused""")  # fmt: skip
