"""F9: clocks that are wrong by an hour, and that jump during the work."""

from __future__ import annotations

import time

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.clocks import Clock
from tests.chaos.own_server import OwnServer
from tests.chaos.tools import needs_faketime
from tests.chaos.worker_pool import WorkerPool

from penstock.supervisor import cluster as files
from penstock.supervisor.postgres import EmbeddedPostgres

pytestmark = needs_faketime
HOUR = 3600


@pytest.mark.parametrize("hours", [1, -1])
async def test_a_workers_clock_is_wrong(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, clock: Clock, hours: int
) -> None:
    """One worker's clock jumps and jumps back; the other one dies and is replaced by it."""
    job_id = await chaos_bench.send(3000, inline=False, stages=2, workMs=0.3)
    worker_pool.start(env=clock.env)
    victim = worker_pool.start(elsewhere=True)
    await chaos_bench.reaches(job_id, "done", 100)
    clock.jump(hours * HOUR)
    await chaos_bench.reaches(job_id, "done", 800)
    victim.kill()
    (job,) = await chaos_bench.ended(job_id)
    assert (job["state"], job["done"]) == ("done", 3000)
    wrong = [begun.at - time.time() for begun in worker_pool.processes[0].begun]
    assert max(map(abs, wrong)) > HOUR / 2, "the clock was right all the time"
    await chaos_bench.is_clean()


class TestServer(OwnServer):
    @pytest.fixture(autouse=True)
    def faked(self, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "SERVER_ENV", {**files.SERVER_ENV, **clock.env})

    @pytest.mark.parametrize("hours", [1, -1])
    async def test_the_servers_clock_jumps(
        self,
        server: EmbeddedPostgres,
        chaos_bench: ChaosBench,
        worker_pool: WorkerPool,
        clock: Clock,
        hours: int,
    ) -> None:
        """All leases run out at once, or none for an hour: work may be done twice, never lost, and
        neither a job that waits nor what a dead worker held waits for that hour."""
        job_id = await chaos_bench.send(3000, inline=False, stages=2, workMs=0.3)
        worker_pool.start()
        victim = worker_pool.start(elsewhere=True)
        await chaos_bench.reaches(job_id, "done", 100)
        behind = await chaos_bench.send(200, inline=False)
        before = await chaos_bench.value("SELECT clock_timestamp()")
        victim.stop()
        clock.jump(hours * HOUR)
        victim.kill()
        jumped = await chaos_bench.value("SELECT clock_timestamp()") - before
        assert abs(jumped.total_seconds()) > HOUR / 2
        jobs = await chaos_bench.ended(job_id, behind, timeout=60)
        assert [(job["state"], job["done"]) for job in jobs] == [("done", 3000), ("done", 200)]
        await chaos_bench.is_clean(reclaim_seconds=2 * HOUR)
