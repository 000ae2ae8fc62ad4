"""Engines broken on purpose, in one place each: the checker must notice every one."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from penstock.blobs.local import LocalBlobs
from penstock.engine import claim as claiming
from penstock.engine import ending
from penstock.engine import ranges as ranging
from penstock.engine import settle as settling
from penstock.engine import submit as submitting
from penstock.model.backpressure import Admission
from penstock.model.decide import Transition, decide
from penstock.model.ranges import RangeResult
from penstock.model.states import ItemStatus
from penstock.store.database import Connection, Database
from penstock.store.jobs import dead_letters, ingest, jobs, slices, transitions
from penstock.store.jobs.transitions import JobMove
from penstock.store.queries import load

Break = Callable[[pytest.MonkeyPatch, Database], Awaitable[None] | None]


def rewrite(patch: pytest.MonkeyPatch, family: str, name: str, old: str, new: str) -> None:
    """Replace a piece of a named statement; a piece that is not there is a mistake of the test."""
    statements = load(family)._statements
    assert old in statements[name], f"{family}.{name} does not say {old!r}"
    patch.setitem(statements, name, statements[name].replace(old, new))


def replace_whole(patch: pytest.MonkeyPatch, family: str, name: str, statement: str) -> None:
    statements = load(family)._statements
    assert name in statements
    patch.setitem(statements, name, statement)


def _fence_always_open(patch: pytest.MonkeyPatch) -> None:
    async def take(conn: Connection, slice_ids: Sequence[UUID]) -> set[UUID]:
        await conn.fetch(load("settle").take_slices, list(slice_ids))
        return set(slice_ids)

    patch.setattr(slices, "take", take)


_GUARD = "AND i.slice_id = o.slice_id"


def ingest_garbles_a_row(patch: pytest.MonkeyPatch, db: Database) -> None:
    sound = ingest.copy_rows

    async def copy_rows(
        conn: Connection, schema: str, job: Any, first: int, rows: Any, inputs: Any
    ) -> None:
        await sound(conn, schema, job, first, rows, [*inputs[:-1], '{"row": "garbled"}'])

    patch.setattr(ingest, "copy_rows", copy_rows)


def ingest_forgets_its_cursor(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "ingest", "ingest_batch", "ingest_cursor = $2::jsonb",
            "ingest_cursor = CASE WHEN false THEN $2::jsonb END")  # fmt: skip


def sweeper_overwrites_results(patch: pytest.MonkeyPatch, db: Database) -> None:
    """River #1302: settle leaves the lease, and the rescuer is guarded by the id alone."""
    replace_whole(
        patch, "settle", "take_slices", "SELECT id FROM slices WHERE id = ANY ($1::uuid[])"
    )
    rewrite(patch, "sweep", "return_items", "AND i.slice_id = $2", "AND $2::uuid IS NOT NULL")


def cancel_invents_a_state(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "control", "skip_items", "status = 'SKIPPED'", "status = 'NOT_FOUND'")


def settle_without_fence(patch: pytest.MonkeyPatch, db: Database) -> None:
    _fence_always_open(patch)
    rewrite(patch, "settle", "settle_items", _GUARD, "AND i.slice_id IS NOT NULL")


def settle_guarded_by_id_alone(patch: pytest.MonkeyPatch, db: Database) -> None:
    _fence_always_open(patch)
    rewrite(patch, "settle", "settle_items", _GUARD, "")


def _decides(patch: pytest.MonkeyPatch, change: Callable[[Transition], Transition]) -> None:
    def decided(*args: Any, **values: Any) -> Transition:
        return change(decide(*args, **values))

    patch.setattr(settling, "decide", decided)


def retries_without_end(patch: pytest.MonkeyPatch, db: Database) -> None:
    def again(to: Transition) -> Transition:
        exhausted = to.status is ItemStatus.ERROR and to.attempts == 4
        return replace(to, status=ItemStatus.PENDING, delay_ms=0) if exhausted else to

    _decides(patch, again)


def gives_up_at_once(patch: pytest.MonkeyPatch, db: Database) -> None:
    def give_up(to: Transition) -> Transition:
        retried = to.status is ItemStatus.PENDING and to.error is not None
        return replace(to, status=ItemStatus.ERROR) if retried else to

    _decides(patch, give_up)


def sweeper_leaves_the_lease(patch: pytest.MonkeyPatch, db: Database) -> None:
    replace_whole(patch, "sweep", "take_expired",
                  "SELECT * FROM slices WHERE id = $1 AND ($2 OR expires_at < now())")  # fmt: skip


def sweeper_dawdles(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "sweep", "return_items", "due_at = now()",
            "due_at = now() + interval '1 second'")  # fmt: skip


def settle_counts_wrong(patch: pytest.MonkeyPatch, db: Database) -> None:
    patch.setitem(transitions.COUNTER_OF, ItemStatus.DONE, "error")


def sweeper_forgets_to_count(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def write_nothing(*args: Any) -> transitions.Written:
        return transitions.Written()

    patch.setattr("penstock.engine.services.sweep.write_moves", write_nothing)


def jobs_never_complete(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "move_jobs",
            "AND j.pending + m.pending + j.processing + m.processing = 0 AS complete",
            "AND false AS complete")  # fmt: skip


def an_event_is_lost(patch: pytest.MonkeyPatch, db: Database) -> None:
    sound = transitions.write_events

    async def write_events(conn: Connection, events: list[Any], worker: str | None) -> None:
        await sound(conn, [e for e in events if e[3] != "job.progress"], worker)

    patch.setattr(transitions, "write_events", write_events)


def events_are_written_apart(patch: pytest.MonkeyPatch, db: Database) -> None:
    sound = transitions.write_events

    async def write_events(conn: Connection, events: list[Any], worker: str | None) -> None:
        async with db.transaction() as another:
            await sound(another, events, worker)

    patch.setattr(transitions, "write_events", write_events)


def the_end_is_told_wrong(patch: pytest.MonkeyPatch, db: Database) -> None:
    def final_counts(row: Any) -> Mapping[str, Any]:
        return {"total": row["total"], "done": row["total"]}

    patch.setattr(transitions, "final_counts", final_counts)


def progress_follows_the_total(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "move_jobs", "greatest(j.percent, 100", "greatest(0, 100")


def failures_leave_nothing(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def add_letter(*args: Any, **more: Any) -> None:
        return None

    patch.setattr(dead_letters, "add_letter", add_letter)


def letters_are_not_counted(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "dead_letters", "join_group", "VALUES ($1, $2, $3, 1,", "VALUES ($1, $2, $3, 0,")


def claims_are_impatient(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "claims", "pick_items", "i.due_at <= statement_timestamp()",
            "i.due_at <= now() + interval '1 hour'")  # fmt: skip


def cancel_leaves_stages_open(patch: pytest.MonkeyPatch, db: Database) -> None:
    patch.setattr(ending, "MAX_SKIPPED_AT_ONCE", -1)
    rewrite(patch, "control", "shut_stages", "kind = 'finish'", "kind = 'items'")


# Cached files


def shared_rows_are_miscounted(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "result_cache", "share_rows", "s.done, s.error, s.not_found, s.skipped",
            "s.done - 1 AS done, s.error, s.not_found, s.skipped + 1 AS skipped")  # fmt: skip


def copies_leave_out_a_row(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "result_cache", "copy_results", "i.row_no > $4", "i.row_no > greatest($4, 1)")


def copies_change_a_row(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "result_cache", "copy_results", "i.stage, i.status,",
            "i.stage, CASE WHEN i.row_no = 2 THEN 'NOT_FOUND' ELSE i.status END,")  # fmt: skip


# Claims


def claims_are_not_alone(patch: pytest.MonkeyPatch, db: Database) -> None:
    """Without the lock that serialises claims, and with claims of held items."""
    replace_whole(patch, "claims", "begin_claim", "SELECT 1")
    rewrite(patch, "claims", "open_slices", "AND CASE WHEN i.status = 'PENDING' THEN true END", "")


def claims_ignore_pauses(patch: pytest.MonkeyPatch, db: Database) -> None:
    for name in ("choose_work", "pick_items"):
        statement = load("claims")._statements[name].replace("NOT j.paused", "true")
        replace_whole(patch, "claims", name, statement.replace("NOT paused", "true"))


def barriers_stand_open(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "move_barriers", "e.open > 0)\n        THEN 'infinity'",
            "e.open > 0)\n        THEN now()")  # fmt: skip


async def groups_are_shared(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "claims", "pick_groups", "s.group_key = g.group_key)", "s.group_key = '')")
    async with db.acquire() as conn:
        await conn.execute("DROP INDEX slices_one_per_group")


def suspects_keep_company(patch: pytest.MonkeyPatch, db: Database) -> None:
    patch.setattr(claiming, "max_batch_after_crashes", lambda crashes, size: size)


def claims_do_not_tell_of_a_start(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "claims", "take_items", "FROM changed c WHERE c.starts",
            "FROM changed c WHERE c.starts AND false")  # fmt: skip


def stages_rest_for_ever(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "move_stages",
            "ELSE least(st.ready_at, now() + m.delay_ms * interval '1 millisecond') END",
            "ELSE st.ready_at + m.delay_ms * interval '0 milliseconds' END")  # fmt: skip


# Settles


def releases_burn_an_attempt(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "release_items", "SET status = 'PENDING'",
            "SET attempts = i.attempts + 1, status = 'PENDING'")  # fmt: skip


def settle_counts_apart(patch: pytest.MonkeyPatch, db: Database) -> None:
    """Items in one transaction, counters in the next: the end is right, a crash between is not."""
    sound = transitions.write_moves

    async def write_moves(conn: Connection, *args: Any) -> transitions.Written:
        async with db.transaction() as another:
            return await sound(another, *args)

    patch.setattr(settling, "write_moves", write_moves)


def errors_go_uncounted(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "count_errors", "FROM unnest(", "FROM (SELECT false) AS n, unnest(")
    rewrite(patch, "settle", "count_errors", "ON CONFLICT", "WHERE e.count < 0\nON CONFLICT")


def retries_come_too_soon(patch: pytest.MonkeyPatch, db: Database) -> None:
    def hurry(to: Transition) -> Transition:
        return to if to.delay_ms is None else replace(to, delay_ms=to.delay_ms // 100)

    _decides(patch, hurry)


def children_leave_a_gap(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "add_children", "j.total + c.place,", "j.total + 1 + c.place,")


def children_go_to_another_org(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "add_children", "j.total + c.place, j.org_id,",
            "j.total + c.place, j.org_id + 1,")  # fmt: skip


def summaries_are_never_made(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "ready_finish", "ready_at = now()", "ready_at = 'infinity'")


def jobs_end_as_failed(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "move_jobs", "CASE WHEN n.ends THEN 'done'",
            "CASE WHEN n.ends THEN 'failed'")  # fmt: skip


# Sweeps and leaders


def sweeper_burns_attempts(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "sweep", "return_items", "crashes = i.crashes + 1,",
            "crashes = i.crashes + 1, attempts = i.attempts + 1,")  # fmt: skip


def sweeper_blames_at_once(patch: pytest.MonkeyPatch, db: Database) -> None:
    statement = load("sweep")._statements["return_items"]
    alone = "i.crashes >= 2 AND cardinality($3::integer[]) = 1 AND i.solo_crashes >= 2"
    assert alone in statement
    patch.setitem(load("sweep")._statements, "return_items", statement.replace(alone, "true"))


def sweeper_forgets_what_it_took(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "sweep", "return_items", "AND i.slice_id = $2", "AND i.slice_id = $2 AND false")


def nobody_leads(patch: pytest.MonkeyPatch, db: Database) -> None:
    replace_whole(patch, "leaders", "leader_lives",
                  "SELECT true FROM (VALUES ($1::text, $2::float8)) AS v (a, b)")  # fmt: skip


# Ingests and submits


def ingest_without_fence(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def hold(conn: Connection, slice_ids: Sequence[UUID]) -> set[UUID]:
        return set(slice_ids)

    patch.setattr(slices, "hold", hold)


def ingest_miscounts(patch: pytest.MonkeyPatch, db: Database) -> None:
    sound = ingest.save_batch

    async def save_batch(conn: Connection, job_id: UUID, *, rows: int, **more: Any) -> Any:
        return await sound(conn, job_id, rows=rows + (rows == 2), **more)

    patch.setattr(ingest, "save_batch", save_batch)


def submit_drops_a_row(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "jobs", "add_jobs", "JOIN job j ON j.place = i.place",
            "JOIN job j ON j.place = i.place WHERE i.row_no > 1 OR j.total = 1")  # fmt: skip


def keys_are_forgotten(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def add_keys(*args: Any, **kwargs: Any) -> None:
        return None

    patch.setattr(jobs, "add_keys", add_keys)


def keys_are_not_looked_up(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "jobs", "find_key", "AND key = $3", "AND key = $3 AND false")
    known = "AS k (org_id, user_id, key, request_hash, job_id, response, status, headers)"
    rewrite(patch, "jobs", "add_keys", known,
            f"{known} ON CONFLICT (org_id, user_id, key)"
            " DO UPDATE SET job_id = excluded.job_id, response = excluded.response")  # fmt: skip


def the_full_queue_takes_more(patch: pytest.MonkeyPatch, db: Database) -> None:
    patch.setattr(submitting, "admission", lambda plan, level: Admission.ACCEPT)


def the_tidier_takes_what_is_used(patch: pytest.MonkeyPatch, db: Database) -> None:
    replace_whole(patch, "orphans", "unreferenced_blobs", "SELECT unnest($1::text[]) AS key")
    rewrite(
        patch, "jobs", "is_blob_referenced", "WHERE blob_key = $1", "WHERE blob_key = $1 AND false"
    )


def uploads_lose_their_end(patch: pytest.MonkeyPatch, db: Database) -> None:
    sound = LocalBlobs.put

    async def put(self: LocalBlobs, chunks: Any, limit: int) -> Any:
        blob = await sound(self, chunks, limit)
        os.truncate(self.path(blob.key), blob.size - 1)
        return blob

    patch.setattr(LocalBlobs, "put", put)


# Control


def pauses_add_no_event(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def write_nothing(*args: Any) -> None:
        return None

    patch.setattr(jobs, "write_events", write_nothing)


def reprocess_keeps_the_generation(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "reprocess", "reopen_items", "generation = i.generation + 1",
            "generation = i.generation")  # fmt: skip


def reprocess_begins_no_new_job(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "reprocess", "requeue_job", "generation = generation + 1",
            "generation = generation")  # fmt: skip


def reprocess_forgets_to_count(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def write_nothing(*args: Any) -> transitions.Written:
        return transitions.Written()

    patch.setattr("penstock.engine.reprocess.write_moves", write_nothing)


def letters_stay_open(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def close_nothing(*args: Any) -> None:
        return None

    for name in ("close_of_job", "close_taken_up"):
        if hasattr(dead_letters, name):
            patch.setattr(dead_letters, name, close_nothing)


# Orgs


async def everyone_sees_jobs(patch: pytest.MonkeyPatch, db: Database) -> None:
    async with db.acquire() as conn:
        await conn.execute("DROP POLICY own_rows ON jobs")
        await conn.execute("CREATE POLICY own_rows ON jobs TO penstock_api USING (true)")


def ranges_without_fence(patch: pytest.MonkeyPatch, db: Database) -> None:
    """A range is stored under any lease, and under one that is gone."""
    _fence_always_open(patch)
    rewrite(patch, "ranges", "end_range", " AND slice_id = $3", " AND ($3::uuid IS NOT NULL)")


def ranges_are_stored_twice(patch: pytest.MonkeyPatch, db: Database) -> None:
    """A stored range stays, and waits for the next lease."""
    _fence_always_open(patch)
    stays = "UPDATE job_ranges SET slice_id = NULL WHERE job_id = $1 AND first_row = $2"
    replace_whole(patch, "ranges", "end_range", f"{stays} AND $3::uuid IS NOT NULL RETURNING rows")


def ranges_are_miscounted(patch: pytest.MonkeyPatch, db: Database) -> None:
    """One row of a range counts as skipped although it is done."""
    sound = ranging._move_of

    def counted(result: RangeResult, count: int) -> JobMove:
        move = sound(result, count)
        move.count("done", -1)
        move.count("skipped", 1)
        return move

    patch.setattr(ranging, "_move_of", counted)


def barriers_ignore_ranges(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "move_barriers", "e.kind IN ('ranges', 'items')", "e.kind = 'items'")
