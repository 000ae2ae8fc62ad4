"""F10: a worker behind a network that is cut stops before its lease is anyone else's."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.network import Network, network
from tests.chaos.own_server import OwnServer
from tests.chaos.tools import needs_namespaces
from tests.chaos.worker_pool import WorkerPool, WorkerProcess
from tests.checker.polling import until

from penstock.supervisor import cluster as files
from penstock.supervisor.postgres import EmbeddedPostgres

pytestmark = needs_namespaces


class TestPartition(OwnServer):
    @pytest.fixture
    def net(self) -> Iterator[Network]:
        with network() as made:
            yield made

    @pytest.fixture
    async def server(
        self, net: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> AsyncIterator[EmbeddedPostgres]:
        monkeypatch.setitem(files.SAFETY, "listen_addresses", net.server)
        door = f"host all all {net.worker}/32 scram-sha-256\n"
        monkeypatch.setattr(files, "_HBA", files._HBA + door)
        async with EmbeddedPostgres(tmp_path / "server") as running:
            yield running

    @pytest.mark.parametrize(
        "how",
        [
            "link down",
            pytest.param("blackhole", marks=pytest.mark.long),
            pytest.param("answers lost", marks=pytest.mark.long),
            pytest.param("requests lost", marks=pytest.mark.long),
        ],
    )
    async def test_a_worker_that_is_cut_off_starts_nothing_after_its_lease(
        self, net: Network, chaos_bench: ChaosBench, worker_pool: WorkerPool, how: str
    ) -> None:
        """The worker has one long piece; the next worker gets all of it when the lease has
        expired."""
        job_id = await chaos_bench.send(100, inline=False, workMs=60)
        lost = _start_behind(net, worker_pool)
        await _works(lost)
        net.cut(how)
        other = worker_pool.start()
        await chaos_bench.ended(job_id)
        other.end()
        net.heal()
        again = await chaos_bench.send(50)
        await chaos_bench.ended(again, timeout=60)
        await _respected_its_leases(chaos_bench, lost)
        await chaos_bench.is_clean()

    async def test_a_worker_that_is_cut_off_for_good_can_still_be_ended(
        self, net: Network, chaos_bench: ChaosBench, worker_pool: WorkerPool
    ) -> None:
        """It gives up what it cannot write, within the time it is given."""
        job_id = await chaos_bench.send(100, inline=False, workMs=60)
        lost = _start_behind(net, worker_pool)
        await _works(lost)
        net.cut("link down")
        began = time.monotonic()
        lost.end()
        assert time.monotonic() - began < 15
        worker_pool.start()
        (job,) = await chaos_bench.ended(job_id)
        assert job["done"] == 100
        await chaos_bench.is_clean()


def _start_behind(net: Network, worker_pool: WorkerPool) -> WorkerProcess:
    address = urlsplit(worker_pool.owner_dsn)
    dsn = f"{address.scheme}://{address.username}:{address.password}@{net.server}/penstock"
    return worker_pool.start(
        elsewhere=True, through=net.inside, env={"PENSTOCK_TEST_OWNER_DSN": dsn},
        worker_target_slice_ms=5000,
    )  # fmt: skip


async def _works(hand: WorkerProcess, items: int = 3) -> None:
    async def enough() -> bool:
        assert not hand.dead, hand.said()
        return len(hand.begun) >= items

    await until(enough, "the worker to begin items")


async def _respected_its_leases(chaos_bench: ChaosBench, hand: WorkerProcess) -> None:
    """Every item was begun under a lease over it that had not run out by the database's clock."""
    begun = hand.begun
    late = await chaos_bench.value(
        """
        SELECT count(*)
        FROM unnest($2::float8[], $3::uuid[], $4::integer[]) AS b (at, job_id, row_no)
        WHERE NOT EXISTS (
            SELECT 1 FROM history_slices c
            WHERE c.worker = $1 AND c.op = 'INSERT' AND c.job_id = b.job_id
              AND b.row_no = ANY (c.row_nos) AND c.at <= to_timestamp(b.at)
              AND to_timestamp(b.at) < (SELECT max(e.expires_at) FROM history_slices e
                                        WHERE e.id = c.id AND e.op <> 'DELETE'))""",
        hand.id, [b.at for b in begun], [b.job_id for b in begun], [b.row_no for b in begun],
    )  # fmt: skip
    assert late == 0
