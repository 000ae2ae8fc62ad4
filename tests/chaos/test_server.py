"""F4, F6: connections that are cut, and a PostgreSQL that is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.chaos.crew import Crew
from tests.chaos.ordeal import Ordeal
from tests.checker.polling import until

from penstock.settings import Settings
from penstock.supervisor.postgres import EmbeddedPostgres

_CUT = """
    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE application_name = 'penstock worker ' || $1 OR query LIKE '%penstock_work_' || $1 || '%'
      AND pid <> pg_backend_pid()
"""


async def test_connections_are_cut_again_and_again(ordeal: Ordeal, crew: Crew) -> None:
    """Every connection of every worker, the listening and the beating ones too."""
    job_id = await ordeal.send(8000, inline=False, stages=2, workMs=0.1)
    for _ in range(2):
        await crew.start().is_up()
    for share in (1, 2, 3, 4, 5):
        await ordeal.reaches(job_id, "done", 1000 * share)
        assert await ordeal.value(_CUT, ordeal.parts.db.schema) > 0
    (job,) = await ordeal.ended(job_id)
    assert (job["done"], job["total"], job["error"]) == (8000, 8000, 0)
    assert not [hand.said() for hand in crew.hands if hand.dead]
    await ordeal.is_clean()


async def test_connections_are_cut_during_the_ingest(ordeal: Ordeal, crew: Crew) -> None:
    job_id = await ordeal.send(20_000, inline=False, learns=True)
    await crew.start(ingest_max_rows=200).is_up()
    for share in (1, 2, 3, 4, 5):
        await ordeal.reaches(job_id, "total", 3000 * share)
        await ordeal.value(_CUT, ordeal.parts.db.schema)
    (job,) = await ordeal.ended(job_id)
    assert (job["state"], job["total"], job["done"]) == ("done", 20_000, 20_000)
    retried = "SELECT string_agg(data::text, ' ') FROM events WHERE event = 'job.retrying'"
    assert await ordeal.value(retried) is None
    await ordeal.is_clean()


class TestKilledServer:
    """A server of the test's own, killed with all its backends."""

    @pytest.fixture
    async def server(self, tmp_path: Path) -> AsyncIterator[EmbeddedPostgres]:
        async with EmbeddedPostgres(tmp_path / "server") as running:
            yield running

    @pytest.fixture
    def owner_dsn(self, server: EmbeddedPostgres) -> str:
        return server.owner_dsn

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"ingest_max_rows": 500, "claim_max": 200})

    @pytest.mark.parametrize(("column", "at"), [("total", 4000), ("done", 3000)])
    async def test_the_job_completes_after_the_restart(
        self, server: EmbeddedPostgres, ordeal: Ordeal, crew: Crew, column: str, at: int
    ) -> None:
        """While rows come in, and while results are settled."""
        learns = column == "total"
        job_id = await ordeal.send(10_000, inline=False, learns=learns, workMs=0.2)
        for _ in range(2):
            await crew.start().is_up()
        await ordeal.reaches(job_id, column, at)
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)

        async def gone() -> bool:
            return server.pid is None

        await until(gone, "the server to die")
        await server.start()
        (job,) = await ordeal.ended(job_id, timeout=60)
        assert (job["state"], job["done"], job["total"]) == ("done", 10_000, 10_000)
        assert not [hand.said() for hand in crew.hands if hand.dead]
        await ordeal.is_clean()
