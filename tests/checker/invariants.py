"""The invariants of RELIABILITY.md §3, each a small function over the history it reads.

A function answers what is wrong, in words; nothing means the invariant held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from tests.checker.beyond import (
    all_has_ended,
    barriers_hold,
    errors_are_counted,
    files_are_there,
    keys_name_one_job,
    letters_are_answered,
    pauses_hold,
    retries_wait_their_time,
    suspects_go_alone,
    tenants_stay_apart,
)
from tests.checker.case import SHOWN, Case, Invariant, Submitted, found
from tests.checker.history import COUNTERS_AND_ITEMS

from penstock.model.policy import DEFAULT_RULES, PERMANENT_CODES, RetryPolicy
from penstock.model.states import ITEM_MOVES, JOB_MOVES, ItemStatus, JobState

SOLO_CRASHES = 3


async def acked_is_stored(case: Case) -> list[str]:
    """1. What was acknowledged is stored, and nothing is stored that was not sent."""
    stored = {row["id"] for row in await case.conn.fetch("SELECT id FROM jobs")}
    wrong = [f"lost job {i}" for i, s in case.submitted.items() if s.acked and i not in stored]
    wrong += [f"job {i} was never submitted" for i in stored - set(case.submitted)]
    for job_id, sent in case.submitted.items():
        if sent.inputs is not None and case.drained and await _ended_well(case, job_id):
            wrong += await _inputs_differ(case, job_id, sent.inputs)
    return wrong


async def _ended_well(case: Case, job_id: UUID) -> bool:
    return bool(await case.conn.fetchval("SELECT state = 'done' FROM jobs WHERE id = $1", job_id))


async def _inputs_differ(case: Case, job_id: UUID, inputs: Sequence[Any]) -> list[str]:
    rows = await case.conn.fetch(
        "SELECT input FROM job_items WHERE job_id = rows_of($1) AND parent_row IS NULL", job_id
    )
    have = Counter(_canonical(orjson.loads(row["input"])) for row in rows)
    want = Counter(_canonical(value) for value in inputs)
    lost, alien = want - have, have - want
    wrong = [f"job {job_id} lost input {value!r}" for value in list(lost)[:SHOWN]]
    return wrong + [f"job {job_id} has alien input {value!r}" for value in list(alien)[:SHOWN]]


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


async def rows_are_items(case: Case) -> list[str]:
    """2. Every row of the input is one item, and row numbers are dense."""
    wrong = await found(case, "row numbers are not 1..n", """
        SELECT job_id, count(*), min(row_no), max(row_no) FROM job_items GROUP BY job_id
        HAVING min(row_no) <> 1 OR max(row_no) <> count(*)""")  # fmt: skip
    for job_id, sent in case.submitted.items():
        if sent.rows is None or not case.drained or not await _ended_well(case, job_id):
            continue
        items = await case.conn.fetchval(
            "SELECT count(*) FROM job_items WHERE job_id = rows_of($1) AND parent_row IS NULL",
            job_id,
        )
        if items != sent.rows:
            wrong.append(f"job {job_id}: {sent.rows} rows were sent, {items} are items")
    return wrong


async def one_terminal_state(case: Case) -> list[str]:
    """3. An item leaves a terminal state only as a new generation; drained, each is in one."""
    wrong = await found(case, "left a terminal state", """
        SELECT job_id, row_no, from_status, to_status FROM history_items
        WHERE from_status IN ('DONE', 'ERROR', 'NOT_FOUND', 'SKIPPED')
          AND (to_status IS NULL OR to_status <> from_status)
          AND generation IS NOT DISTINCT FROM from_generation""")  # fmt: skip
    if case.drained:
        wrong += await found(case, "not terminal after the drain", """
            SELECT job_id, row_no, status, slice_id FROM job_items
            WHERE status IN ('PENDING', 'PROCESSING')""")  # fmt: skip
    return wrong


async def moves_are_allowed(case: Case) -> list[str]:
    """4. Every move is one of the table in `model.states`; items begin PENDING, jobs queued."""
    items = await case.conn.fetch("""
        SELECT DISTINCT h.from_status, h.to_status FROM history_items h
        WHERE h.from_status IS DISTINCT FROM h.to_status
          -- A row of a range is stored in the state in which the first stage left it.
          AND NOT (h.from_status IS NULL AND h.to_status <> 'PROCESSING' AND EXISTS (
              SELECT 1 FROM history_ranges r
              WHERE r.job_id = h.job_id AND r.xid = h.xid AND r.op = 'DELETE'
                AND h.row_no BETWEEN r.first_row AND r.first_row + r.rows - 1))
          -- A row of a cached file is copied in the state that it had.
          AND NOT (h.from_status IS NULL AND h.to_status NOT IN ('PENDING', 'PROCESSING')
                   AND EXISTS (
              SELECT 1 FROM jobs j LEFT JOIN sharing s ON s.job_id = j.id
              JOIN history_items o ON o.job_id IN (j.cached_from, s.source)
                AND o.row_no = h.row_no AND o.to_status = h.to_status AND o.n < h.n
              WHERE j.id = h.job_id))""")
    jobs = await case.conn.fetch("""
        SELECT DISTINCT from_state, state FROM history_jobs
        WHERE from_state IS DISTINCT FROM state""")
    return [
        *(f"item {a} to {b}" for a, b in items if not _item_may(a, b)),
        *(f"job {a} to {b}" for a, b in jobs if not _job_may(a, b)),
    ]


def _item_may(before: str | None, after: str | None) -> bool:
    if before is None or after is None:
        return after == ItemStatus.PENDING
    return ItemStatus(after) in ITEM_MOVES[ItemStatus(before)]


def _job_may(before: str | None, after: str) -> bool:
    if before is None:
        return after == JobState.QUEUED
    return JobState(after) in JOB_MOVES[JobState(before)]


async def writes_carry_the_lease(case: Case) -> list[str]:
    """5. What ends an item's turn ends or touches, in the same transaction, the very lease that
    holds it; a lease takes an item once; nothing is written to an item that no lease holds."""
    return [
        *await found(case, "written without holding its lease", """
            SELECT h.job_id, h.row_no, h.from_slice, h.from_status, h.to_status
            FROM history_items h
            WHERE h.from_status = 'PROCESSING'
              AND NOT EXISTS (SELECT 1 FROM history_slices s
                              WHERE s.id = h.from_slice AND s.op <> 'INSERT' AND s.xid = h.xid)
              -- A cancel drops the leases first and skips their items in chunks.
              AND NOT (h.to_status = 'SKIPPED' AND EXISTS (
                  SELECT 1 FROM history_jobs j
                  WHERE j.job_id = h.job_id AND j.state = 'cancelling' AND j.n < h.n))"""),
        *await found(case, "a range was stored without holding its lease", """
            SELECT r.job_id, r.first_row, r.slice_id FROM history_ranges r
            WHERE r.op = 'DELETE'
              AND NOT EXISTS (SELECT 1 FROM history_slices s
                              WHERE s.id = r.slice_id AND s.op = 'DELETE' AND s.xid = r.xid)
              -- As plain items of the first stage, or skipped, its rows need no lease.
              AND EXISTS (SELECT 1 FROM history_items h
                          WHERE h.job_id = r.job_id AND h.xid = r.xid AND h.from_status IS NULL
                            AND NOT (h.to_status = 'PENDING' AND h.to_stage = 0)
                            AND h.to_status <> 'SKIPPED')"""),
        *await found(case, "a range was stored twice", """
            SELECT job_id, first_row FROM history_ranges WHERE op = 'DELETE'
            GROUP BY job_id, first_row HAVING count(*) > 1"""),
        *await found(case, "claimed without a lease over it", """
            SELECT h.job_id, h.row_no, h.to_slice FROM history_items h
            WHERE h.to_status = 'PROCESSING'
              AND NOT EXISTS (SELECT 1 FROM history_slices s
                              WHERE s.id = h.to_slice AND s.op = 'INSERT' AND s.xid = h.xid
                                AND h.row_no = ANY (s.row_nos))"""),
        *await found(case, "one lease took an item twice", """
            SELECT job_id, row_no, to_slice FROM history_items WHERE to_status = 'PROCESSING'
            GROUP BY job_id, row_no, to_slice HAVING count(*) > 1"""),
        *await found(case, "written while no lease held it", """
            SELECT job_id, row_no, from_status, to_status FROM history_items
            WHERE from_status <> 'PROCESSING' AND generation = from_generation
              AND to_status NOT IN ('PROCESSING', 'SKIPPED')
              -- A test may make a waiting item due.
              AND (to_status <> 'PENDING' OR to_stage <> from_stage OR attempts <> from_attempts
                   OR result IS DISTINCT FROM from_result)"""),
    ]  # fmt: skip


async def one_result_each(case: Case) -> list[str]:
    """6. At most one result per item, generation and stage."""
    return await found(case, "more than one result", """
        SELECT job_id, row_no, generation, from_stage, count(*) FROM history_items
        WHERE from_status IS NOT NULL
          AND (to_status IN ('DONE', 'ERROR', 'NOT_FOUND', 'SKIPPED') OR to_stage > from_stage)
        GROUP BY job_id, row_no, generation, from_stage HAVING count(*) > 1""")  # fmt: skip


async def attempts_follow_the_policy(case: Case) -> list[str]:
    """7. Attempts stay within the policy; ERROR is exhausted, permanent, or three lone crashes."""
    turns = await case.conn.fetch("""
        SELECT DISTINCT ON (to_status, error_code, from_attempts, attempts, solo_crashes, advanced)
            *
        FROM (SELECT *, to_stage <> from_stage AS advanced FROM history_items
              WHERE from_status = 'PROCESSING') AS h""")  # fmt: skip
    wrong = []
    for turn in turns:
        problem = _wrong_turn(turn, case.policy)
        if problem:
            wrong.append(f"job {turn['job_id']} row {turn['row_no']}: {problem}")
    return wrong + await found(case, "WORKER_CRASHED without dying alone three times", f"""
        SELECT e.job_id, e.row_no FROM history_items e
        WHERE e.to_status = 'ERROR' AND e.error_code = 'WORKER_CRASHED'
          AND {SOLO_CRASHES} > (
              SELECT count(*) FROM history_items c JOIN history_slices s
                  ON s.id = c.from_slice AND s.op = 'INSERT' AND cardinality(s.row_nos) = 1
              WHERE c.job_id = e.job_id AND c.row_no = e.row_no AND c.crashes > c.from_crashes
                AND c.generation = e.generation)""")  # fmt: skip


def _wrong_turn(turn: Any, policy: RetryPolicy) -> str | None:
    """Why an item's run cannot end like this, or None."""
    after, code = turn["attempts"], turn["error_code"] or ""
    # Attempts are counted per stage, and one slice may take an item through several.
    before = 0 if turn["advanced"] else turn["from_attempts"]
    retries = _retries(policy, code)
    match turn["to_status"]:
        case "DONE":
            fine = after == before + 1
        case "SKIPPED":
            fine = after == before
        case "PENDING" if turn["advanced"] and not code:
            fine = after == 0
        case "PENDING":
            fine = after == before or (after == before + 1 and after <= retries)
        case "NOT_FOUND":
            fine = after == before + 1 and after > policy.not_found.retries
        case "ERROR" if code == "WORKER_CRASHED":
            fine = after == before and turn["solo_crashes"] >= SOLO_CRASHES
        case _:
            fine = after == before + 1 and (retries == 0 or after > retries)
    return None if fine else f"{turn['to_status']} {code} after {before} to {after} attempts"


def _retries(policy: RetryPolicy, code: str) -> int:
    known = code in policy.rules or code in DEFAULT_RULES or code in PERMANENT_CODES
    return policy.rule(code).retries if known else policy.not_found.retries * (code == "NOT_FOUND")


async def failures_leave_letters(case: Case) -> list[str]:
    """7. Each time a job fails, and at no other time, it leaves a letter; one that is about to has
    left it already. The groups count the letters that are open."""
    wrong = await found(case, "failures and letters differ", """
        SELECT j.id, j.state, f.failures, l.letters FROM jobs j
        CROSS JOIN LATERAL (SELECT count(*) AS failures FROM history_jobs h
            WHERE h.job_id = j.id AND h.state = 'failed' AND h.from_state <> 'failed') AS f
        CROSS JOIN LATERAL (SELECT count(*) AS letters FROM dead_letters d
            WHERE d.job_id = j.id AND d.row_no IS NULL) AS l
        WHERE l.letters <> f.failures + (j.state = 'cancelling' AND j.ending = 'failed')::integer
        """)  # fmt: skip
    wrong += await found(case, "a letter is told of otherwise", """
        SELECT d.job_id, d.id FROM dead_letters d WHERE d.row_no IS NULL AND 1 <> (
            SELECT count(*) FROM events e WHERE e.job_id = d.job_id
              AND e.event = 'job.dead_lettered' AND e.data ->> 'letterId' = d.id::text)
        """)  # fmt: skip
    return wrong + await found(case, "a group counts wrong", """
        SELECT g.signature, g.user_id, g.open, count(d.id) AS letters
        FROM dead_letter_groups g LEFT JOIN dead_letters d
            ON d.org_id = g.org_id AND d.signature = g.signature AND d.user_id = g.user_id
               AND d.state = 'open'
        GROUP BY g.org_id, g.signature, g.user_id, g.open HAVING count(d.id) <> g.open
        """)  # fmt: skip


async def no_two_leases(case: Case) -> list[str]:
    """8. No item, no job's ingest or finish, and no group is under two leases at once."""
    lives = """
        SELECT b.id, b.job_id, b.kind, b.pipeline, b.stage, b.group_key, b.row_nos, b.n AS since,
               coalesce(e.n, 9223372036854775807) AS till
        FROM history_slices b LEFT JOIN history_slices e ON e.id = b.id AND e.op = 'DELETE'
        WHERE b.op = 'INSERT'"""
    return [
        # An item is its lease's until a write under that very lease lets go of it, or until the
        # lease ends: long slices are settled piece by piece.
        *await found(case, "two leases over an item", f"""
            WITH stop_reopening AS (
                SELECT i.job_id, i.row_no, i.from_slice, min(i.n) AS n
                FROM history_items i JOIN history_slices s
                    ON s.id = i.from_slice AND s.op <> 'INSERT' AND s.xid = i.xid
                WHERE i.from_slice IS DISTINCT FROM i.to_slice
                GROUP BY i.job_id, i.row_no, i.from_slice
            )
            SELECT * FROM (
                SELECT l.id, l.job_id, r.row_no, l.since,
                       lag(least(l.till, g.n))
                           OVER (PARTITION BY l.job_id, r.row_no ORDER BY l.since) AS till_before
                FROM ({lives}) AS l CROSS JOIN unnest(l.row_nos) AS r (row_no)
                LEFT JOIN stop_reopening g
                    ON g.job_id = l.job_id AND g.row_no = r.row_no AND g.from_slice = l.id) AS o
            WHERE since < till_before"""),
        *await found(case, "two leases over a whole job", f"""
            SELECT * FROM (
                SELECT id, job_id, kind, since,
                       lag(till) OVER (PARTITION BY job_id, kind ORDER BY since) AS till_before
                FROM ({lives}) AS l WHERE kind IN ('ingest', 'finish')) AS o
            WHERE since < till_before"""),
        # Groups are an org's own: two orgs may use the same name at once.
        *await found(case, "two leases over a group", f"""
            SELECT * FROM (
                SELECT l.id, l.job_id, l.group_key, l.since, lag(l.till) OVER (
                    PARTITION BY j.org_id, l.pipeline, l.stage, l.group_key ORDER BY l.since
                ) AS till_before
                FROM ({lives}) AS l JOIN jobs j ON j.id = l.job_id
                WHERE l.group_key IS NOT NULL) AS o
            WHERE since < till_before"""),
    ]  # fmt: skip


async def reclaimed_soon(case: Case) -> list[str]:
    """9. What a dead worker held is claimed again soon after its last sign of life."""
    return await found(case, "claimed again too late", """
        WITH crash AS (
            SELECT job_id, row_no, n, from_slice FROM history_items
            WHERE from_status = 'PROCESSING' AND to_status = 'PENDING' AND crashes > from_crashes
        ), sign AS (
            SELECT id, max(at) AS at FROM history_slices
            WHERE op <> 'DELETE' AND id IN (SELECT from_slice FROM crash) GROUP BY id
        )
        SELECT c.job_id, c.row_no, s.at AS last_sign, next.at - s.at AS took
        FROM crash c JOIN sign s ON s.id = c.from_slice
        CROSS JOIN LATERAL (
            SELECT h.at, h.to_status FROM history_items h
            WHERE h.job_id = c.job_id AND h.row_no = c.row_no AND h.n > c.n
              AND h.to_status <> 'PENDING' ORDER BY h.n LIMIT 1) AS next
        -- Not what was skipped by a cancel meanwhile, and perhaps taken up again much later.
        WHERE next.to_status = 'PROCESSING' AND next.at - s.at > $1 * interval '1 second'""",
        case.reclaim_seconds)  # fmt: skip


# Not a row that is copied while its job has those of another one: it counts already.
_IS_OWN = """NOT (h.from_status IS NULL AND EXISTS (
    SELECT 1 FROM sharing s WHERE s.job_id = h.job_id AND h.n > s.began AND h.n < s.ended))"""
_NET = ("total", "pending", "processing", "done", "error", "not_found", "skipped")


async def counters_are_items(case: Case) -> list[str]:
    """10. Each transaction changes a job's counters by what it does to items: so every snapshot
    agrees. The stages' own counters agree in the end."""
    statuses = {name: name.upper() for name in _NET[1:]}
    moved = ", ".join(
        f"sum((to_status IS NOT DISTINCT FROM '{status}')::int"
        f" - (from_status IS NOT DISTINCT FROM '{status}')::int) AS {name}"
        for name, status in statuses.items()
    )
    shared = ", ".join(
        f"count(*) FILTER (WHERE to_status = '{status}')" for status in statuses.values()
    )
    told = ", ".join(f"sum(d_{name}) AS {name}" for name in _NET)
    summed = ", ".join(f"sum({name}) AS {name}" for name in statuses)
    of_ranges = "sum(CASE WHEN op = 'INSERT' THEN rows ELSE -rows END)"
    differ = " OR ".join(f"coalesce(i.{name}, 0) <> coalesce(j.{name}, 0)" for name in _NET)
    wrong = await found(case, "counters and items moved apart", f"""
        SELECT coalesce(i.job_id, j.job_id) AS job_id, coalesce(i.xid, j.xid)::text AS xid,
               to_jsonb(i)::text AS items, to_jsonb(j)::text AS job
        FROM (SELECT job_id, xid, sum(total) AS total, {summed} FROM (
                  SELECT job_id, xid, count(*) FILTER (WHERE from_status IS NULL) AS total, {moved}
                  FROM history_items h WHERE {_IS_OWN} GROUP BY job_id, xid
                  UNION ALL
                  -- Rows of another job count as its own, as they are then.
                  SELECT e.job_id, e.xid, count(*), {shared}
                  FROM history_jobs e CROSS JOIN LATERAL (
                      SELECT DISTINCT ON (row_no) to_status FROM history_items h
                      WHERE h.job_id = e.shared AND h.n < e.n ORDER BY row_no, n DESC) AS last
                  WHERE e.shared IS NOT NULL AND e.from_shared IS NULL GROUP BY e.job_id, e.xid
                  UNION ALL
                  -- Rows of a range count as pending.
                  SELECT job_id, xid, {of_ranges} AS total, {of_ranges} AS pending, 0, 0, 0, 0, 0
                  FROM history_ranges WHERE op <> 'UPDATE' GROUP BY job_id, xid) AS moves
              GROUP BY job_id, xid) AS i
        FULL JOIN (SELECT job_id, xid, {told} FROM history_jobs GROUP BY job_id, xid) AS j
            ON j.job_id = i.job_id AND j.xid = i.xid
        WHERE {differ}""")  # fmt: skip
    for row in await case.conn.fetch(COUNTERS_AND_ITEMS):
        if row["counters"] != row["items"]:
            wrong.append(f"job {row['job_id']} says {row['counters']}, items {row['items']}")
    wrong += await found(case, "copied rows are not those of the other job", """
        SELECT s.job_id, s.source, (SELECT count(*) FROM history_items c
            WHERE c.job_id = s.job_id AND c.from_status IS NULL AND c.n > s.began
              AND c.n < s.ended) AS copied, count(o.*) AS shared
        FROM sharing s CROSS JOIN LATERAL (
            SELECT DISTINCT ON (row_no) row_no, to_status, result FROM history_items h
            WHERE h.job_id = s.source AND h.n < s.began ORDER BY row_no, n DESC) AS o
        WHERE s.ended < 9223372036854775807
        GROUP BY s.job_id, s.source, s.began, s.ended
        HAVING count(*) <> count(*) FILTER (WHERE EXISTS (
            SELECT 1 FROM history_items c
            WHERE c.job_id = s.job_id AND c.row_no = o.row_no AND c.from_status IS NULL
              AND c.n > s.began AND c.n < s.ended AND c.to_status = o.to_status
              AND c.result IS NOT DISTINCT FROM o.result))""")  # fmt: skip
    return wrong + await found(case, "a stage's counters are not its items", """
        SELECT st.job_id, st.name, st.pending, st.open, i.pending AS items_pending,
               i.open AS items_open
        FROM job_stages st JOIN jobs j ON j.id = st.job_id
        CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE i.status = 'PENDING') AS pending,
                   count(*) FILTER (WHERE i.status IN ('PENDING', 'PROCESSING')) AS open
            FROM job_items i WHERE i.job_id = st.job_id AND i.stage = st.position) AS i
        WHERE st.kind = 'items' AND j.state IN ('queued', 'running', 'done')
          AND (st.pending <> i.pending OR st.open <> i.open)
        UNION ALL
        SELECT st.job_id, 'ranges', st.pending, st.open, r.pending, r.open
        FROM job_stages st JOIN jobs j ON j.id = st.job_id
        CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE r.slice_id IS NULL) AS pending, count(*) AS open
            FROM job_ranges r WHERE r.job_id = st.job_id) AS r
        WHERE st.kind = 'ranges' AND j.state IN ('queued', 'running', 'done')
          AND (st.pending <> r.pending OR st.open <> r.open)""")  # fmt: skip


async def jobs_end_with_their_items(case: Case) -> list[str]:
    """11. A job is terminal exactly when all its items are."""
    # Items are written before their job is locked: what a transaction did to them counts from its
    # own word on the job, since only those are in the order of the commits.
    wrong = await found(case, "ended with open items", """
        WITH told AS MATERIALIZED (
            SELECT job_id, xid, max(n) AS n FROM history_jobs GROUP BY job_id, xid)
        SELECT e.job_id, e.state, last.row_no, last.to_status
        FROM history_jobs e
        CROSS JOIN LATERAL (
            SELECT DISTINCT ON (h.row_no) h.row_no, h.to_status
            FROM history_items h LEFT JOIN told t ON t.job_id = h.job_id AND t.xid = h.xid
            WHERE h.job_id = e.job_id AND h.n < e.n
              AND (h.xid = e.xid OR coalesce(t.n, h.n) < e.n)
            ORDER BY h.row_no, h.n DESC) AS last
        WHERE e.state IN ('done', 'failed', 'cancelled') AND e.from_state <> e.state
          AND last.to_status IN ('PENDING', 'PROCESSING')""")  # fmt: skip
    wrong += await found(case, "has open items after its end", """
        SELECT j.id, j.state, i.row_no, i.status FROM jobs j JOIN job_items i ON i.job_id = j.id
        WHERE j.state IN ('done', 'failed', 'cancelled')
          AND i.status IN ('PENDING', 'PROCESSING')""")  # fmt: skip
    if case.drained:
        wrong += await found(case, "did not end with its items", """
            SELECT j.id, j.state FROM jobs j
            WHERE j.state IN ('queued', 'running', 'cancelling') AND NOT j.standing
              AND NOT EXISTS (SELECT 1 FROM job_items i WHERE i.job_id = j.id
                              AND i.status IN ('PENDING', 'PROCESSING'))""")  # fmt: skip
    return wrong


async def events_tell_all(case: Case) -> list[str]:
    """12. Events of a job are 1..n, numbered by the transaction that holds its row, and folding
    them gives the job."""
    wrong = await found(case, "event numbers are not 1..n", """
        SELECT j.id, j.seq, count(e.*), min(e.seq), max(e.seq)
        FROM jobs j LEFT JOIN events e ON e.job_id = j.id GROUP BY j.id
        HAVING count(e.*) <> j.seq OR min(e.seq) <> 1 OR max(e.seq) <> j.seq""")  # fmt: skip
    # Never before its own transaction; later only so as to follow the job's event before it.
    wrong += await found(case, "numbered outside the job's lock", """
        SELECT e.job_id, e.seq, e.event FROM events e
        WHERE e.job_id IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM history_jobs h
            WHERE h.job_id = e.job_id AND e.seq > h.from_seq AND e.seq <= h.seq
              AND (h.xid = e.xid OR h.xid < e.xid AND e.xid = (
                   SELECT p.xid FROM events p WHERE p.job_id = e.job_id AND p.seq = e.seq - 1)))
        """)  # fmt: skip
    events = await case.conn.fetch("""
        SELECT job_id, event, data FROM events WHERE job_id IS NOT NULL ORDER BY job_id, seq""")
    folded: dict[UUID, Folded] = {}
    for row in events:
        folded.setdefault(row["job_id"], Folded()).take(row["event"], orjson.loads(row["data"]))
    for job in await case.conn.fetch("SELECT * FROM jobs"):
        problem = folded.get(job["id"], Folded()).differs(job)
        if problem:
            wrong.append(f"job {job['id']}: {problem}")
    return wrong


_ENDS = {"job.completed": "done", "job.failed": "failed", "job.cancelled": "cancelled"}


@dataclass
class Folded:
    """A job as its events tell it."""

    started: bool = False
    paused: bool = False
    ended: str | None = None
    counts: Mapping[str, Any] = field(default_factory=dict)
    percent: float = 0

    def take(self, event: str, data: Mapping[str, Any]) -> None:
        match event:
            case "job.queued":
                # The first time, or again: by reprocessing, as a new generation.
                self.started, self.ended, self.counts, self.percent = False, None, {}, 0
            case "job.status" if "generation" in data:
                self.percent = 0
            case "job.started":
                self.started = True
            case "job.paused" | "job.resumed":
                self.paused = event == "job.paused"
            case "job.progress":
                self.percent = max(self.percent, data["percent"])
            case "job.completed" | "job.failed" | "job.cancelled":
                self.ended, self.counts, self.paused = _ENDS[event], data, False

    def differs(self, job: Any) -> str | None:
        if self.started != (job["started_at"] is not None):
            return f"started={self.started} by its events, {job['started_at']} by its row"
        ended = job["state"] if job["finished_at"] is not None else None
        if self.ended != ended:
            return f"{self.ended} by its events, {job['state']} by its row"
        # A job that is being cancelled is not paused any more; its last event will say so.
        if self.paused != job["paused"] and job["state"] != "cancelling":
            return f"paused={self.paused} by its events, {job['paused']} by its row"
        if self.percent > job["percent"] + 0.1:
            return f"{self.percent} % by its events, {job['percent']} by its row"
        names = {"total": "total", "done": "done", "error": "error", "notFound": "not_found",
                 "skipped": "skipped"}  # fmt: skip
        unlike = {k: v for k, v in self.counts.items() if k in names and v != job[names[k]]}
        return f"its last event says {unlike}" if unlike else None


async def progress_never_falls(case: Case) -> list[str]:
    """13. The percentage never falls within a generation."""
    return await found(case, "progress fell", """
        SELECT job_id, from_percent, percent FROM history_jobs
        WHERE percent < from_percent AND generation = from_generation""")  # fmt: skip


async def nothing_starts_after_cancel(case: Case) -> list[str]:
    """21. Once a cancel is acknowledged, no item of the job is claimed."""
    return await found(case, "claimed after the cancel", """
        SELECT h.job_id, h.row_no, h.n FROM history_items h
        JOIN history_jobs c ON c.job_id = h.job_id AND c.state = 'cancelling'
            AND c.from_state <> 'cancelling' AND h.n > c.n
        WHERE h.to_status = 'PROCESSING' AND NOT EXISTS (
            -- Someone took the job up again.
            SELECT 1 FROM history_jobs r WHERE r.job_id = h.job_id AND r.n > c.n AND r.n < h.n
            AND r.generation > c.generation)""")  # fmt: skip


async def nothing_starts_before_its_time(case: Case) -> list[str]:
    """22. An item that waits is not claimed before it is due."""
    return await found(case, "claimed before it was due", """
        SELECT * FROM (
            SELECT job_id, row_no, at, to_status,
                   lag(due_at) OVER (PARTITION BY job_id, row_no ORDER BY n) AS due_at
            FROM history_items) AS h
        WHERE to_status = 'PROCESSING' AND at < due_at""")  # fmt: skip


INVARIANTS: Sequence[tuple[int, Invariant]] = (
    (1, acked_is_stored),
    (2, rows_are_items),
    (3, one_terminal_state),
    (4, moves_are_allowed),
    (5, writes_carry_the_lease),
    (6, one_result_each),
    (7, attempts_follow_the_policy),
    (7, failures_leave_letters),
    (7, letters_are_answered),
    (7, suspects_go_alone),
    (8, no_two_leases),
    (9, reclaimed_soon),
    (10, counters_are_items),
    (10, errors_are_counted),
    (11, jobs_end_with_their_items),
    (12, events_tell_all),
    (13, progress_never_falls),
    (14, keys_name_one_job),
    (17, tenants_stay_apart),
    (19, files_are_there),
    (21, nothing_starts_after_cancel),
    (21, pauses_hold),
    (22, nothing_starts_before_its_time),
    (22, barriers_hold),
    (22, retries_wait_their_time),
    (25, all_has_ended),
)
__all__ = ["INVARIANTS", "Case", "Submitted"]
