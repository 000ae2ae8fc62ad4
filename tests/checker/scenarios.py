"""Short runs of the engine, by hand: enough to trip a broken one, clean with a sound one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import asyncpg
from tests.checker.benches import Tried
from tests.checker.polling import until
from tests.checker.scripted import Scripted, done

from penstock.engine import ending
from penstock.engine.claim import Claim
from penstock.engine.worker import Worker
from penstock.model.errors import BadInput, ItemError
from penstock.model.outcomes import Child, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.pipeline import Item
from penstock.model.ports import Context
from penstock.store.slices import LeaseBroken

Scenario = Callable[[Tried], Awaitable[None]]
# A broken engine may claim for ever.
_MOST_TURNS = 300
_NOT_NOW = ItemError("API_TIMEOUT", "not now")


@contextmanager
def tolerant() -> Iterator[None]:
    """A broken engine may stumble over its own mistake; the history is judged all the same."""
    with suppress(LeaseBroken, asyncpg.PostgresError, AssertionError, KeyError):
        yield


def _script(tried: Tried, name: str = "scripted") -> Scripted:
    found = tried.parts.pipeline(name)
    assert isinstance(found, Scripted)
    return found


async def claim(worker: Worker) -> Claim:
    """What is due next; it may be due in a moment."""
    claimed = await until(worker._claim, "something to claim", timeout=5)
    assert claimed is not None
    return claimed


async def drain(tried: Tried) -> None:
    """Work until nothing is due any more, and a moment longer for retries."""
    quiet = 0
    async with tried.by_hand() as worker:
        for _ in range(_MOST_TURNS):
            worked = False
            with tolerant():
                worked = await worker.run_once()
            quiet = 0 if worked else quiet + 1
            if quiet == 5:
                return
            if not worked:
                await asyncio.sleep(0.01)


def _every_kind(item: Item, stage: int, ctx: Context) -> Outcome:
    match item.row_no % 6:
        case 0:
            return Fail(ItemError("VALIDATION_ERROR", "never"))
        case 1:
            return Retry(_NOT_NOW)
        case 2:
            return NotFound()
        case 3:
            return Skip("no need")
        case 4 if item.attempts == 0:
            return Retry(_NOT_NOW)
        case _:
            return done(item, stage, ctx)


async def plain(tried: Tried) -> None:
    """Jobs of every outcome, through two stages, with rows by ingest and by submit."""
    _script(tried).work = _every_kind
    await tried.send({"rows": 6, "stages": 2})
    await tried.send({"rows": 12, "inline": False, "batch": 5})
    await drain(tried)


async def zombie(tried: Tried) -> None:
    """A worker outlives its lease: it settles while its successor works, and once more after."""
    await tried.send({"rows": 8})
    async with tried.by_hand() as late, tried.by_hand() as next_one, tried.by_hand() as other:
        first = await claim(late)
        await tried.expire()
        second = await claim(next_one)
        third = await claim(other)
        with tolerant():
            await tried.run(late, first)
        with tolerant():
            await tried.run(next_one, second)
        with tolerant():
            await tried.run(late, first)
        with tolerant():
            await tried.run(other, third)
    await drain(tried)


async def overtaken(tried: Tried) -> None:
    """The sweeper comes for a lease whose work was just settled."""
    await tried.send({"rows": 8})
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        await claim(worker)
        with tolerant():
            await tried.run(worker, claimed)
        with tolerant():
            await tried.expire()
    await drain(tried)


async def crashed(tried: Tried) -> None:
    """A worker dies; what it held is claimed again."""
    await tried.send({"rows": 2})
    async with tried.by_hand() as dead, tried.by_hand() as successor:
        await claim(dead)
        await tried.expire()
        await tried.run(successor, await claim(successor))
        with tolerant():
            await tried.run(successor, await claim(successor))
    await drain(tried)


async def broken_ingest(tried: Tried) -> None:
    """The reading of the input fails half way and goes on later."""
    script = _script(tried)
    failed: list[int] = []

    def fail_once(start: int) -> None:
        if start == 8 and not failed:
            failed.append(start)
            raise RuntimeError("the disk hiccups")

    script.before_rows = fail_once
    job_id = await tried.send({"rows": 20, "inline": False, "batch": 4})

    async def ended() -> bool:
        await drain(tried)
        return (await tried.job(job_id))["finished_at"] is not None

    with tolerant():
        await until(ended, "the ingest to go on", timeout=4)


async def failing(tried: Tried) -> None:
    """An input that no try can read, beside one that is cancelled."""

    def fail(start: int) -> None:
        if start == 8:
            raise BadInput("UNSUPPORTED_TYPE", "row 8 is no row")

    _script(tried).before_rows = fail
    await tried.send({"rows": 20, "inline": False, "batch": 4})
    await drain(tried)
    await cancelled(tried)


async def cancelled(tried: Tried) -> None:
    """Cancelled while a worker is at it, which then settles."""
    job_id = await tried.send({"rows": 8})
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        async with tried.parts.db.transaction() as conn:
            await ending.cancel(conn, job_id)
        with tolerant():
            await tried.run(worker, claimed)
    await drain(tried)


async def waiting(tried: Tried) -> None:
    """One row asks for patience while others keep the stage busy."""

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if item.row_no == 1 and item.attempts == 0:
            return Retry(_NOT_NOW, after_ms=300)
        return done(item, stage, ctx)

    _script(tried).work = work
    await tried.send({"rows": 4})
    await drain(tried)
    await asyncio.sleep(0.3)
    await drain(tried)


async def children(tried: Tried) -> None:
    """The job grows while it is worked on."""

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        grown = 12 if item.row_no == 4 else 0
        return Done({}, spawn=[Child(f"{item.row_no}.{n}", {}) for n in range(grown)])

    _script(tried, "spawning").work = work
    await tried.send({"rows": 6}, pipeline="spawning")
    await drain(tried)
