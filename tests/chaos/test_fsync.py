"""F5: a disk whose writes fail. A kill alone does not show this."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.own_server import OwnServer
from tests.chaos.submitters import submitting
from tests.chaos.tools import needs_strace
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until

from penstock.supervisor.postgres import EmbeddedPostgres

pytestmark = needs_strace


@contextmanager
def failing_syncs(server: EmbeddedPostgres, log: Path, after: int) -> Iterator[Path]:
    """One call of fdatasync of each process fails with EIO, the nth; answers what was injected."""
    assert server.pid is not None
    family = psutil.Process(server.pid)
    pids = [server.pid, *(child.pid for child in family.children(recursive=True))]
    tracer = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", log, "-e", "trace=fdatasync",
         "-e", f"inject=fdatasync:error=EIO:when={after}",
         *(word for pid in pids for word in ("-p", str(pid)))],
    )  # fmt: skip
    try:
        yield log
    finally:
        tracer.terminate()
        tracer.wait(timeout=60)


class TestFailingDisk(OwnServer):
    @pytest.mark.parametrize("after", [5, pytest.param(40, marks=pytest.mark.long)])
    async def test_what_was_acknowledged_survives_a_failed_sync(
        self,
        server: EmbeddedPostgres,
        chaos_bench: ChaosBench,
        worker_pool: WorkerPool,
        tmp_path: Path,
        after: int,
    ) -> None:
        """PostgreSQL stops at once instead of trusting the disk, and recovers by itself."""
        for _ in range(2):
            await worker_pool.start().is_up()
        async with submitting(chaos_bench, clients=3, items=5) as progress:
            await progress.accepts(20)
            with failing_syncs(server, tmp_path / "strace", after) as log:
                await until(lambda: _injected(log), "a sync to fail")
                await progress.is_unsure()
            await progress.accepts(40)
        await chaos_bench.ended(*chaos_bench.sent, timeout=60)
        assert "could not fdatasync" in server.log.read_text(errors="replace")
        assert not [hand.said() for hand in worker_pool.processes if hand.dead]
        await chaos_bench.is_clean()


async def _injected(log: Path) -> bool:
    return "INJECTED" in (log.read_text(errors="replace") if log.exists() else "")
