"""Short runs of the engine: a broken engine violates an invariant in them, a correct one does
not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import cast

import asyncpg
from tests.checker.benches import Tried
from tests.checker.case import Submitted
from tests.checker.polling import until
from tests.checker.scripted import Scripted, done

from penstock.app import bulk
from penstock.app.uploads import Upload, keep_upload
from penstock.blobs.local import LocalBlobs
from penstock.engine import ending
from penstock.engine.claim import Claim
from penstock.engine.context import StopSign
from penstock.engine.ingest import Ingest
from penstock.engine.queue_depth import QueueDepthCache
from penstock.engine.ranges import store_range
from penstock.engine.result_cache import SharedRows
from penstock.engine.services.leader import Leader
from penstock.engine.services.tidy import Tidier, TidierConfig
from penstock.engine.settle import release
from penstock.engine.worker.loop import Worker
from penstock.model.backpressure import Levels
from penstock.model.errors import BadInput, ItemError, Unavailable
from penstock.model.ids import new_id
from penstock.model.outcomes import Child, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.pipeline import Item
from penstock.model.ports import Context
from penstock.model.reprocess import Selection
from penstock.store.jobs import jobs
from penstock.store.jobs.slices import LeaseBroken

Scenario = Callable[[Tried], Awaitable[None]]
# A broken engine may claim for ever.
_MOST_TURNS = 300
_NOT_NOW = ItemError("API_TIMEOUT", "not now")


@contextmanager
def tolerant() -> Iterator[None]:
    """A broken engine may raise an error; its history is checked all the same."""
    with suppress(LeaseBroken, asyncpg.PostgresError, AssertionError, KeyError):
        yield


def _script(tried: Tried, name: str = "scripted") -> Scripted:
    found = tried.runtime.pipeline(name)
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
    """The reading of the input fails half way and continues later."""
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
    """Cancelled while a worker runs it, which then settles."""
    job_id = await tried.send({"rows": 8})
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        async with tried.runtime.db.transaction() as conn:
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


async def raced(tried: Tried) -> None:
    """Many workers claim the same items at once."""
    await tried.send({"rows": 3})
    workers = [Worker(tried.runtime, sweeps=False, announces=False) for _ in range(6)]
    for _ in range(3):
        with tolerant():
            found = await asyncio.gather(*(worker._claim() for worker in workers))
            for worker, claimed in zip(workers, found, strict=True):
                if claimed is not None:
                    await release(tried.runtime, claimed, worker.id)
    await drain(tried)


async def paused(tried: Tried) -> None:
    """One of two jobs is paused for a while."""
    first = await tried.send({"rows": 3}, priority=9)
    await tried.send({"rows": 3})
    async with tried.runtime.db.transaction() as conn:
        await jobs.pause(conn, first)
    await drain(tried)
    async with tried.runtime.db.transaction() as conn:
        await jobs.resume(conn, first)
    await drain(tried)


async def barred(tried: Tried) -> None:
    """The last stage waits for all items, one of which is late."""

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if item.row_no == 1 and stage == 0 and item.attempts == 0:
            return Retry(_NOT_NOW, after_ms=50)
        return done(item, stage, ctx)

    _script(tried).work = work
    await tried.send({"rows": 3, "stages": 2, "barrier": 1})
    await drain(tried)
    await asyncio.sleep(0.06)
    await drain(tried)


async def grouped(tried: Tried) -> None:
    """The same group in two jobs, which must not be worked at once."""
    for _ in range(2):
        await tried.send({"rows": 2, "groups": 1})
    async with tried.by_hand() as one, tried.by_hand() as other:
        first = await claim(one)
        with tolerant():
            second = await other._claim()
            if second is not None:
                await tried.run(other, second)
        with tolerant():
            await tried.run(one, first)
    # A job whose group was another's looks again after half a second.
    for _ in range(2):
        await drain(tried)
        await tried.hurry()
    await drain(tried)


async def dying(tried: Tried) -> None:
    """Workers die over the same items again and again, until one is found that kills them."""
    tried.runtime = replace(
        tried.runtime, settings=tried.runtime.settings.model_copy(update={"claim_max": 4})
    )
    await tried.send({"rows": 2})
    async with tried.by_hand() as worker:
        for _ in range(2):
            with tolerant():
                while await worker._claim() is not None:
                    pass
            await tried.expire()
        for _ in range(6):
            with tolerant():
                claimed = await worker._claim()
                if claimed is not None and 1 in [row.row_no for row in claimed.items]:
                    await tried.expire()
                elif claimed is not None:
                    await tried.run(worker, claimed)
    await drain(tried)


async def released(tried: Tried) -> None:
    """What was claimed goes back as it came."""
    await tried.send({"rows": 2})
    async with tried.by_hand() as worker:
        with tolerant():
            await release(tried.runtime, await claim(worker), worker.id)
    await drain(tried)


async def zombie_ingest(tried: Tried) -> None:
    """A worker reads the input beyond its lease, and continues after its successor."""
    await tried.send({"rows": 6, "inline": False, "batch": 2})
    async with tried.by_hand() as late, tried.by_hand() as successor:
        first = await claim(late)
        await tried.expire()
        with tolerant():
            second = await claim(successor)
            await Ingest(tried.runtime, second, StopSign(), successor.id).run(lambda seconds: False)
        with tolerant():
            await Ingest(tried.runtime, first, StopSign(), late.id).run(lambda seconds: False)
    await drain(tried)


async def keyed(tried: Tried) -> None:
    """The same request twice."""
    first = await tried.send({"rows": 2}, idempotency_key="once")
    tried.sent[first] = replace(tried.sent[first], key="once")
    with tolerant():
        await tried.submit("scripted", {"rows": 2}, idempotency_key="once")
    await drain(tried)


async def filed(tried: Tried) -> None:
    """A job with a file, and an unused upload; the tidier runs."""
    for content, used in ((b"sku,title\n1,Hammer\n", True), (b"sku,title\n2,Nail\n", False)):
        blob = await tried.runtime.blobs.put(_chunks(content), 1000)
        upload = Upload(new_id(), "list.csv", "text/csv", blob)
        async with tried.runtime.db.transaction() as conn:
            await keep_upload(tried.runtime, conn, tried.who, upload)
        if used:
            job_id = await tried.submit("extraction", {}, file_id=upload.id)
            tried.sent[job_id] = Submitted(1)
        os.utime(cast(LocalBlobs, tried.runtime.blobs).path(blob.key), (0, 0))
    async with tried.runtime.db.acquire() as conn:
        await conn.execute("UPDATE files SET created_at = created_at - interval '2 days'")
    with tolerant():
        await Tidier(tried.runtime, TidierConfig(orphan_hours=24)).run_once()
    await drain(tried)


async def ranged(tried: Tried) -> None:
    """Rows of a file in ranges: a worker outlives its lease and stores its range before its
    successor does, and after; two workers die over another one."""
    content = b"sku,title\n" + b"".join(b"A-%d,Nail %d\n" % (n % 11, n) for n in range(12))
    blob = await tried.runtime.blobs.put(_chunks(content), 1000)
    upload = Upload(new_id(), "list.csv", "text/csv", blob)
    async with tried.runtime.db.transaction() as conn:
        await keep_upload(tried.runtime, conn, tried.who, upload)
    job_id = await tried.submit("extraction", {"intent": "merge"}, file_id=upload.id)
    tried.sent[job_id] = Submitted(12)
    async with tried.by_hand() as late, tried.by_hand() as successor:
        assert await late.run_once()
        first = await claim(late)
        await tried.expire()
        second = await claim(successor)
        for worker, claimed in ((late, first), (successor, second), (late, first)):
            with tolerant():
                await store_range(tried.runtime, claimed, StopSign(), worker.id)
        for _ in range(2):
            with tolerant():
                await claim(late)
                await tried.expire()
    await drain(tried)


async def cached(tried: Tried) -> None:
    """The same file twice: the second job has the rows of the first one, and copies them in two
    steps."""
    content = b"sku,title\n" + b"".join(b"A-%d,Nail %d\n" % (n % 5, n) for n in range(6))
    blob = await tried.runtime.blobs.put(_chunks(content), 1000)
    upload = Upload(new_id(), "list.csv", "text/csv", blob)
    async with tried.runtime.db.transaction() as conn:
        await keep_upload(tried.runtime, conn, tried.who, upload)
    for _ in range(2):
        job_id = await tried.submit("extraction", {"intent": "check"}, file_id=upload.id)
        tried.sent[job_id] = Submitted(6)
        await drain(tried)
    async with tried.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT shared_from IS NOT NULL FROM jobs WHERE id = $1", job_id)
    with tolerant():
        await SharedRows(tried.runtime, seconds=0, chunk=4).run_once()


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content


async def reprocessed(tried: Tried) -> None:
    """What failed runs again, in a job that is done and in one that failed as a whole."""
    fails = True

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        if fails and item.row_no % 2:
            return Fail(ItemError("VALIDATION_ERROR", "not yet"))
        return done(item, stage, ctx)

    def fail(start: int) -> None:
        if fails and start == 4:
            raise BadInput("UNSUPPORTED_TYPE", "row 4 is no row")

    _script(tried).work, _script(tried).before_rows = work, fail
    ids = [
        await tried.send({"rows": 4}),
        await tried.send({"rows": 6, "inline": False, "batch": 2}),
    ]
    await drain(tried)
    fails = False
    for job_id in ids:
        with tolerant():
            async with tried.runtime.db.transaction() as conn:
                await bulk.reprocess_job(tried.runtime, conn, tried.who, job_id, Selection())
    await drain(tried)


async def summed(tried: Tried) -> None:
    """A job that learns from its rows and makes a summary."""
    await tried.send({"rows": 3, "inline": False}, pipeline="whole")
    await drain(tried)


async def led(tried: Tried) -> None:
    """A worker has died, and only the leader's sweeper can detect it."""
    # An election takes a second or two.
    tried.limits["reclaim_seconds"] = 5
    await tried.send({"rows": 1})
    async with tried.by_hand() as dead:
        await claim(dead)
    async with tried.runtime.db.acquire() as conn:
        await conn.execute("UPDATE slices SET expires_at = now() - interval '1 second'")
    leading = asyncio.create_task(Leader(tried.runtime, "leader").run())

    async def swept() -> bool:
        async with tried.runtime.db.acquire() as conn:
            return not await conn.fetchval("SELECT count(*) FROM slices")

    with tolerant():
        await until(swept, "the lease to be taken back", timeout=4)
    leading.cancel()
    await asyncio.gather(leading, return_exceptions=True)
    await drain(tried)


async def refused(tried: Tried) -> None:
    """A queue that is full refuses, and keeps nothing of what it refused."""
    await tried.send({"rows": 2})
    sound = tried.runtime
    tried.runtime = replace(sound, queue=QueueDepthCache(Levels(0, 0, 0)))
    with suppress(Unavailable):
        await tried.submit("scripted", {"rows": 2})
    tried.runtime = sound
    await drain(tried)
