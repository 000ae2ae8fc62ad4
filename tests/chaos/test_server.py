"""F4: PostgreSQL is killed during transactions of all kinds."""

from __future__ import annotations

import os
import signal

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.own_server import OwnServer, kill
from tests.chaos.submitters import submitting
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until

from penstock.settings import Settings
from penstock.supervisor.postgres import EmbeddedPostgres


class TestKilledServer(OwnServer):
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"ingest_max_rows": 500, "claim_max": 200})

    @pytest.mark.parametrize(("column", "at"), [("total", 4000), ("done", 3000)])
    async def test_the_job_completes_after_the_restart(
        self,
        server: EmbeddedPostgres,
        chaos_bench: ChaosBench,
        worker_pool: WorkerPool,
        column: str,
        at: int,
    ) -> None:
        """While rows come in, and while results are settled."""
        learns = column == "total"
        job_id = await chaos_bench.send(10_000, inline=False, learns=learns, workMs=0.2)
        for _ in range(2):
            await worker_pool.start().is_up()
        await chaos_bench.reaches(job_id, column, at)
        await kill(server)
        await server.start()
        (job,) = await chaos_bench.ended(job_id, timeout=60)
        assert (job["state"], job["done"], job["total"]) == ("done", 10_000, 10_000)
        assert not [hand.said() for hand in worker_pool.processes if hand.dead]
        await chaos_bench.is_clean()

    async def test_a_killed_backend_takes_all_others_along(
        self, server: EmbeddedPostgres, chaos_bench: ChaosBench, worker_pool: WorkerPool
    ) -> None:
        """The server then recovers by itself, without being started again."""
        job_id = await chaos_bench.send(6000, inline=False, workMs=0.2)
        for _ in range(2):
            await worker_pool.start().is_up()
        for share in (1, 2):
            await chaos_bench.reaches(job_id, "done", 1500 * share)
            pid = await chaos_bench.value("""
                SELECT pid FROM pg_stat_activity
                WHERE application_name LIKE 'penstock worker%' LIMIT 1""")
            os.kill(pid, signal.SIGKILL)
            await _is_over(chaos_bench, pid)
        (job,) = await chaos_bench.ended(job_id, timeout=60)
        assert (job["state"], job["done"]) == ("done", 6000)
        assert not [hand.said() for hand in worker_pool.processes if hand.dead]
        await chaos_bench.is_clean()

    async def test_an_unknown_commit_is_settled_by_asking_with_the_same_key(
        self, server: EmbeddedPostgres, chaos_bench: ChaosBench, worker_pool: WorkerPool
    ) -> None:
        """Clients submit all the time; without an answer they repeat the request. One job for each
        key."""
        async with submitting(chaos_bench, clients=6, items=3) as progress:
            for _ in range(2):
                await progress.accepts(40)
                await kill(server)
                await server.start()
            await progress.accepts(40)
        assert progress.unsure > 0
        worker_pool.start()
        await chaos_bench.ended(*chaos_bench.sent, timeout=60)
        await chaos_bench.is_clean()


async def _is_over(chaos_bench: ChaosBench, backend: int) -> None:
    """The server has noticed, recovered, and answers."""

    async def recovered() -> bool:
        left = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
        return bool(await chaos_bench.value_or_none(left, backend) == 0)

    await until(recovered, "the server to recover")
