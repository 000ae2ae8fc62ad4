"""Cancel, pause, barriers, groups, retries and fairness, with real workers."""

from __future__ import annotations

from typing import Any

import orjson
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until
from tests.fixtures import MakePrincipal

from penstock.store.jobs import jobs


async def test_nothing_starts_after_a_cancel(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    """Of a large job, skipped in chunks, and of one cancelled in its own transaction."""
    # Neither ends before it is cancelled, also on a fast machine.
    large = await chaos_bench.send(30_000, inline=False, workMs=0.5)
    small = await chaos_bench.send(1900, inline=False, workMs=5)
    for _ in range(2):
        worker_pool.start()
    await chaos_bench.reaches(large, "done", 500)
    await chaos_bench.reaches(small, "done", 100)
    for job_id in (large, small):
        await chaos_bench.cancel(job_id)
        await chaos_bench.cancel(job_id)
    for job in await chaos_bench.ended(large, small):
        assert job["state"] == "cancelled"
        assert job["done"] + job["skipped"] == job["total"]
    await chaos_bench.is_clean()


async def test_a_cancel_survives_the_worker_that_skips(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    job_id = await chaos_bench.send(12_000, inline=False, learns=True, workMs=5)
    worker_pool.start()
    await chaos_bench.reaches(job_id, "total", 12_000)
    worker_pool.processes[0].kill()
    await chaos_bench.cancel(job_id)
    for _ in range(4):
        await worker_pool.start("in_finish:kill").dies()
    worker_pool.start()
    (job,) = await chaos_bench.ended(job_id)
    assert (job["state"], job["skipped"]) == ("cancelled", 12_000 - job["done"])
    await chaos_bench.is_clean()


async def test_pause_and_resume(chaos_bench: ChaosBench, worker_pool: WorkerPool) -> None:
    job_id = await chaos_bench.send(5000, inline=False, workMs=2)
    for _ in range(2):
        worker_pool.start()
    await chaos_bench.reaches(job_id, "done", 200)
    async with chaos_bench.runtime.db.transaction() as conn:
        await jobs.pause(conn, job_id)
    paused_at = await chaos_bench.value("SELECT max(n) FROM history_jobs WHERE job_id = $1", job_id)

    async def quiet() -> bool:
        return bool(
            await chaos_bench.value("SELECT processing = 0 FROM jobs WHERE id = $1", job_id)
        )

    await until(quiet, "what runs to settle")
    claimed = "SELECT count(*) FROM history_items WHERE to_status = 'PROCESSING' AND n > $1"
    assert await chaos_bench.value(claimed, paused_at) == 0
    assert (await chaos_bench.job(job_id))["done"] < 5000
    async with chaos_bench.runtime.db.transaction() as conn:
        await jobs.resume(conn, job_id)
    (job,) = await chaos_bench.ended(job_id)
    assert job["done"] == 5000
    await chaos_bench.is_clean()


async def test_two_workers_and_a_barrier(chaos_bench: ChaosBench, worker_pool: WorkerPool) -> None:
    job_id = await chaos_bench.send(
        2000, inline=False, stages=3, barrier=True, childrenPer=1, summarizes=True
    )
    for _ in range(2):
        worker_pool.start()
    (job,) = await chaos_bench.ended(job_id)
    assert (job["done"], job["total"]) == (4000, 4000)
    # Children are born behind the barrier, and open an earlier stage again.
    early = """
        SELECT count(*) FROM history_items late WHERE late.to_status = 'PROCESSING'
            AND late.to_stage = 2 AND EXISTS (
                SELECT 1 FROM history_items e WHERE e.row_no <= 2000 AND e.n > late.n
                AND e.to_stage < 2 AND late.row_no <= 2000 AND e.job_id = late.job_id)"""
    assert await chaos_bench.value(early) == 0
    await chaos_bench.is_clean()


async def test_groups_keep_their_order_over_two_jobs_and_a_kill(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    """The same groups in two jobs; a worker dies; no item overtakes another."""
    ids = [await chaos_bench.send(200, inline=False, groups=6, workMs=2) for _ in range(2)]
    victim = worker_pool.start()
    worker_pool.start()
    await chaos_bench.reaches(ids[0], "done", 40)
    victim.kill()
    ended = await chaos_bench.ended(*ids)
    assert [job["done"] for job in ended] == [200, 200]
    overtaken = """
        SELECT count(*) FROM history_items a JOIN history_items b
            ON b.job_id = a.job_id AND b.group_key = a.group_key AND b.row_no > a.row_no
           AND b.to_status = 'DONE' AND b.n < a.n AND b.xid <> a.xid
        WHERE a.to_status = 'DONE'"""
    assert await chaos_bench.value(overtaken) == 0
    await chaos_bench.is_clean()


async def test_retries_wait_for_their_time_and_waits_cost_nothing(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    retried = await chaos_bench.send(
        60, failEvery=10, failHow="retry", failCode="API_TIMEOUT", failTimes=1
    )
    waited = await chaos_bench.send(60, failEvery=10, failHow="wait", failTimes=5)
    worker_pool.start()
    jobs_ended = await chaos_bench.ended(retried, waited)
    assert [job["done"] for job in jobs_ended] == [60, 60]
    assert {i["attempts"] for i in await chaos_bench.items(retried, "row_no % 10 = 0")} == {2}
    assert {i["attempts"] for i in await chaos_bench.items(waited)} == {1}
    # The rule's first delay is two seconds; nothing above may have shortened it. Items that only
    # lost their lease come again at once.
    tried = """
        FROM history_items b WHERE b.job_id = $1 AND b.attempts > b.from_attempts
        AND b.to_status = 'PENDING' AND b.from_status = 'PROCESSING'"""
    early = """
        AND EXISTS (SELECT FROM history_items a
            WHERE a.job_id = b.job_id AND a.row_no = b.row_no AND a.to_status = 'PROCESSING'
            AND a.n > b.n AND a.at < b.at + interval '1.9 seconds')"""
    assert await chaos_bench.value(f"SELECT count(*) {tried}", retried) == 6
    assert await chaos_bench.value(f"SELECT count(*) {tried} {early}", retried) == 0
    await chaos_bench.is_clean()


async def test_jobs_of_every_other_kind(chaos_bench: ChaosBench, worker_pool: WorkerPool) -> None:
    """No rows; one that never ends; one that learns and sums up."""
    empty = [await chaos_bench.send(0), await chaos_bench.send(0, inline=False, summarizes=True)]
    standing = await chaos_bench.send(30, standing=True)
    learnt = await chaos_bench.send(500, inline=False, learns=True, summarizes=True)
    worker_pool.start()
    *ended, whole = await chaos_bench.ended(*empty, learnt)
    assert {job["state"] for job in ended} == {"done"}
    summary = orjson.loads(whole["summary"])
    assert (summary["counters"]["done"], summary["learnt"]) == (500, {"rows": 500})
    await chaos_bench.reaches(standing, "done", 30)
    assert (await chaos_bench.job(standing))["state"] == "running"
    await chaos_bench.is_clean()


async def test_a_newcomer_does_not_wait_behind_a_crowd(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, principal: MakePrincipal
) -> None:
    """An org with 50,000 items came first; one with 100 gets its share beside it."""
    newcomer: Any = await principal("globex")
    crowd = await chaos_bench.send(50_000, inline=False, workMs=2)
    for _ in range(2):
        worker_pool.start()
    await chaos_bench.reaches(crowd, "done", 1000)
    before = (await chaos_bench.job(crowd))["done"]
    small = await chaos_bench.send(100, who=newcomer, workMs=1)
    await chaos_bench.ended(small)
    meanwhile = (await chaos_bench.job(crowd))["done"] - before
    assert meanwhile <= 100 + 2000, f"{meanwhile} items went first"
    for hand in worker_pool.processes:
        hand.end()
    await chaos_bench.is_clean(drained=False)


async def test_workers_told_to_end_give_back_what_they_hold(
    chaos_bench: ChaosBench, worker_pool: WorkerPool
) -> None:
    """F14: within their time, without counting an attempt or a crash; twice."""
    job_id = await chaos_bench.send(4000, inline=False, workMs=2)
    for least in (300, 800):
        processes = [worker_pool.start() for _ in range(2)]
        await chaos_bench.reaches(job_id, "done", least)
        for hand in processes:
            hand.end()
        assert await chaos_bench.value("SELECT count(*) FROM slices") == 0
    assert await chaos_bench.value("SELECT max(crashes) + max(attempts) FROM history_items") <= 1
    worker_pool.start()
    worker_pool.start()
    (job,) = await chaos_bench.ended(job_id)
    assert job["done"] == 4000
    await chaos_bench.is_clean()
