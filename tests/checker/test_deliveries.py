"""Invariant 15 on the real outbox, and on broken ones, which it must detect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from tests.checker.deliveries import delivery_violations
from tests.engine.receiving import Receiver, all_due, past_all, receiving, subscribe
from tests.fixtures import Bench

from penstock.engine.failpoints import FailpointReached, Failpoints
from penstock.pipelines import webhooks as pipeline
from penstock.settings import Settings
from penstock.store import outbox
from penstock.store import webhooks as store
from penstock.store.jobs import followers, jobs
from penstock.webhooks.outbox import FOLLOWER, Outbox

EVENTS = ("job.queued", "job.completed", "job.cancelled", "job.status")
Patch = pytest.MonkeyPatch


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"webhook_allow": "127.0.0.0/8"})


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


async def run_outbox(bench: Bench, *, of_all: bool = True) -> None:
    """Run the outbox as a leader that crashes now and then. It delivers events older than every
    open transaction of the server, so it waits for those of other tests."""
    if of_all:
        await past_all(bench.runtime)
    for failpoint in ("follow_before_commit:raise", "follow_after_commit:raise", ""):
        object.__setattr__(bench.runtime, "failpoints", Failpoints(failpoint))
        try:
            await Outbox(bench.runtime).run_once()
        except FailpointReached:
            continue


async def eventful_life(bench: Bench, receiver: Receiver) -> list[str]:
    """Jobs that end well and badly, one event that commits late, one that is taken back, a receiver
    that is down for some; answers what the invariant says of it."""
    made = await subscribe(bench.runtime, bench.who, receiver.url, *EVENTS)
    # Down for good for the first, once for others, sometimes too busy.
    receiver.plan = ["500 Oops", "503 Away", "204 Fine", "302 Found", "429 Later"]
    first = await bench.submit("noop", {"items": 1})
    slow = await bench.runtime.db.connect()
    try:
        late = slow.transaction()
        await late.start()
        await jobs.add_event(slow, first, "job.status", {"late": True}, None)
        other = await bench.submit("noop", {"items": 1})
        await run_outbox(bench, of_all=False)
        await late.commit()
        taken_back = slow.transaction()
        await taken_back.start()
        await jobs.add_event(slow, other, "job.status", {"never": True}, None)
        await taken_back.rollback()
    finally:
        await slow.close()
    await bench.work()
    await run_outbox(bench)
    await bench.work()
    for turn in range(12):
        if turn == 2:
            receiver.status = "500 Oops"
            await bench.submit("noop", {"items": 1})
            await bench.work()
            await run_outbox(bench)
        if turn == 9:
            receiver.status = "204 Fine"
        await all_due(bench.runtime)
        await bench.work()
        await run_outbox(bench)
    async with bench.runtime.db.acquire() as conn:
        return await delivery_violations(conn, made.id, receiver.got)


async def test_each_event_comes_to_its_end(bench: Bench, receiver: Receiver) -> None:
    assert await eventful_life(bench, receiver) == []
    async with bench.runtime.db.acquire() as conn:
        states = await conn.fetch("SELECT DISTINCT state FROM webhook_deliveries ORDER BY 1")
    assert [row["state"] for row in states] == ["delivered", "failed"]


def _ids_by_chance(patch: Patch) -> None:
    patch.setattr(pipeline, "message_id", lambda _: f"msg_{uuid4().hex}")


def _no_letters(patch: Patch) -> None:
    async def nothing(*_: Any) -> None: ...

    patch.setattr(store, "_add_letter", nothing)


def _cursor_first(patch: Patch) -> None:
    """The place is moved in a transaction of its own, before anything is made."""
    make, next_range = Outbox._make, followers.next_range
    ends: list[followers.Place] = []

    async def noting(conn: Any, start: Any, most: int) -> Any:
        page = await next_range(conn, start, most)
        ends[:] = [] if page is None else [page.end]
        return page

    async def moving(self: Outbox, conn: Any, new: Any) -> Any:
        if ends:
            async with self._runtime.db.transaction() as other:
                await followers.move_cursor(other, FOLLOWER, ends.pop())
        return await make(self, conn, new)

    unlocked = followers._sql.hold_cursor.replace("FOR UPDATE OF c", "")
    patch.setitem(followers._sql._statements, "hold_cursor", unlocked)
    patch.setattr(followers, "next_range", noting)
    patch.setattr(Outbox, "_make", moving)


def _order_of_ids(patch: Patch) -> None:
    """Events are taken as soon as they are seen, whatever may still commit before them."""
    for name in ("page_end", "news"):
        sql = getattr(followers._sql, name)
        eager = sql.replace("xid < pg_snapshot_xmin(", "xid < pg_snapshot_xmax(")
        assert eager != sql
        patch.setitem(followers._sql._statements, name, eager)


def _deliveries_tell(patch: Patch) -> None:
    """Deliveries tell of themselves."""
    patch.setattr(outbox, "PIPELINE", "none")


def _gives_up_silently(patch: Patch) -> None:
    """A failed try is taken for a good one."""
    real: Callable[..., Any] = pipeline._outcome_of

    def judged(item: Any, note: Any, answer: Any) -> Any:
        return real(item, note, replace(answer, status=200))

    patch.setattr(pipeline, "_outcome_of", judged)


MUTANTS = [_ids_by_chance, _no_letters, _cursor_first, _order_of_ids, _deliveries_tell,
           _gives_up_silently]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda one: one.__name__.strip("_"))
async def test_a_broken_outbox_is_caught(
    bench: Bench, receiver: Receiver, monkeypatch: Patch, mutant: Callable[[Patch], None]
) -> None:
    mutant(monkeypatch)
    assert await eventful_life(bench, receiver) != []
