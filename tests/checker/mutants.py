"""Engines broken on purpose, in one place each: the checker must notice every one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from penstock.engine import ending
from penstock.engine import settle as settling
from penstock.model.decide import Transition, decide
from penstock.model.states import ItemStatus
from penstock.store import dead_letters, ingest, moves, slices
from penstock.store.database import Connection, Database
from penstock.store.queries import load

Break = Callable[[pytest.MonkeyPatch, Database], None]


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
    patch.setitem(moves.COUNTER_OF, ItemStatus.DONE, "error")


def sweeper_forgets_to_count(patch: pytest.MonkeyPatch, db: Database) -> None:
    async def write_nothing(*args: Any) -> moves.Written:
        return moves.Written()

    patch.setattr("penstock.engine.sweep.write_moves", write_nothing)


def jobs_never_complete(patch: pytest.MonkeyPatch, db: Database) -> None:
    rewrite(patch, "settle", "move_jobs", "AND j.pending + j.processing = 0 AS complete",
            "AND false AS complete")  # fmt: skip


def an_event_is_lost(patch: pytest.MonkeyPatch, db: Database) -> None:
    sound = moves.write_events

    async def write_events(conn: Connection, events: list[Any], worker: str | None) -> None:
        await sound(conn, [e for e in events if e[3] != "job.progress"], worker)

    patch.setattr(moves, "write_events", write_events)


def events_are_written_apart(patch: pytest.MonkeyPatch, db: Database) -> None:
    sound = moves.write_events

    async def write_events(conn: Connection, events: list[Any], worker: str | None) -> None:
        async with db.transaction() as another:
            await sound(another, events, worker)

    patch.setattr(moves, "write_events", write_events)


def the_end_is_told_wrong(patch: pytest.MonkeyPatch, db: Database) -> None:
    def final_counts(row: Any) -> Mapping[str, Any]:
        return {"total": row["total"], "done": row["total"]}

    patch.setattr(moves, "final_counts", final_counts)


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
    patch.setattr(ending, "MOST_SKIPPED_AT_ONCE", -1)
    rewrite(patch, "control", "shut_stages", "kind = 'finish'", "kind = 'items'")
