"""Schedules and retention while leaders are killed: each due time begins one job."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until
from tests.fixtures import Bench
from tests.guards.servers import answering, serving

from penstock.model.ids import new_id
from penstock.settings import Settings
from penstock.store.schedules import schedules as store
from penstock.store.schedules.schedules import NewSchedule

CSV = b"sku,title\n1,Hammer\n"
PLACES = ("schedule_before_commit", "schedule_run_before_commit", "schedule_run_after_commit")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"fetch_allow": "127.0.0.1/32"})


async def add(bench: Bench, url: str, minutes: int) -> tuple[UUID, datetime]:
    """A schedule of every minute that was last looked at so long ago."""
    since = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=minutes)
    action = f'{{"kind": "file", "url": "{url}"}}'
    new = NewSchedule(str(new_id()), "* * * * *", None, "UTC", "all", action, 0, since)
    schedule_id = new_id()
    async with bench.runtime.db.transaction() as conn:
        await store.add(conn, schedule_id, bench.who.org_id, bench.who.user_id, new)
    return schedule_id, since


# `tests/api/test_schedules.py` has the race of four leaders in one process.
@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("places", "schedules", "minutes"), [(PLACES[1:2], 2, 4), (PLACES * 4, 8, 30)]
)
async def test_each_due_time_begins_one_job(
    bench: Bench, worker_pool: WorkerPool, places: tuple[str, ...], schedules: int, minutes: int
) -> None:
    async with serving(answering(body=CSV)) as seen:
        url = f"http://127.0.0.1:{seen.port}/goods.csv"
        made = [await add(bench, url, minutes) for _ in range(schedules)]
        deaths = 0
        for number, place in enumerate(places):
            victim = worker_pool.start(f"{place}:kill:{1 + number % 3}")
            try:
                await victim.dies(30)
                deaths += 1
            except AssertionError:
                victim.end()
        # Three that may lead: all the others are dead.
        for _ in range(3):
            worker_pool.start()

        async def all_done() -> bool:
            async with bench.runtime.db.acquire() as conn:
                done = await conn.fetchval(
                    "SELECT count(*) FROM schedule_runs WHERE state = 'done'"
                )
            return bool(done >= schedules * (minutes + 1))

        await until(all_done, "all runs to end", timeout=120 + 2 * schedules * minutes)
        # The clock is set back: the same due times come again, and begin nothing.
        async with bench.runtime.db.transaction() as conn:
            for schedule_id, since in made:
                await conn.execute(
                    "UPDATE schedules SET next_at = $2 WHERE id = $1", schedule_id, since
                )

        async def looked_at() -> bool:
            async with bench.runtime.db.acquire() as conn:
                return not await conn.fetchval("SELECT bool_or(next_at <= now()) FROM schedules")

        await until(looked_at, "the schedules to be looked at again")
        for hand in worker_pool.living():
            hand.end()
    async with bench.runtime.db.acquire() as conn:
        runs = await conn.fetch("SELECT schedule_id, due_at, job_id FROM schedule_runs")
        jobs = await conn.fetch("SELECT id FROM jobs")
    assert deaths >= len(places) - 1
    for schedule_id, since in made:
        due = sorted(one["due_at"] for one in runs if one["schedule_id"] == schedule_id)
        assert due == [since + timedelta(minutes=n) for n in range(len(due))]
    begun = [one["job_id"] for one in runs if one["job_id"] is not None]
    assert len(begun) == len(set(begun))
    # No job without a run, no run without its job.
    assert {one["id"] for one in jobs} == set(begun)
    print(f"{len(runs)} runs, {len(jobs)} jobs, {deaths} leaders killed")


async def test_a_pruner_that_is_killed_is_continued(bench: Bench, worker_pool: WorkerPool) -> None:
    job_id = await bench.submit("noop", {"items": 6000})
    await bench.work()
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE jobs SET finished_at = now() - interval '100 days'")
    victim = worker_pool.start("prune_before_commit:kill:2")
    await victim.dies()

    async def left() -> int:
        async with bench.runtime.db.acquire() as conn:
            return int(await conn.fetchval("SELECT count(*) FROM job_items"))

    assert 0 < await left() < 6000
    assert (await bench.job(job_id))["pruned_at"] is not None
    worker_pool.start()

    async def gone() -> bool:
        return await left() == 0 and await bench.job(job_id) is None

    await until(gone, "the rest to be deleted")
