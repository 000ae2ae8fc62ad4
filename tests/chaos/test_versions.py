"""F18: workers of the previous version on the schema of this one, beside workers of this one."""

from __future__ import annotations

import io
import subprocess
import tarfile
from functools import cache
from pathlib import Path

import pytest
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool

_ROOT = Path(__file__).resolve().parents[2]
_MIGRATIONS = "src/penstock/store/migrations"


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", _ROOT, *words], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def _before() -> str:
    """The last release, or else the last commit that changed the baseline: its workers know that
    schema only."""
    released = _git("describe", "--tags", "--abbrev=0", "HEAD^")
    if released:
        return released
    return _git("log", "-1", "--format=%H", "--", f"{_MIGRATIONS}/0001_baseline.sql")


@pytest.fixture
def old_worker(tmp_path: Path) -> Path:
    version = _before()
    if not version:
        pytest.skip("the version before is not here: not a git checkout, or a shallow one")
    packed = subprocess.run(
        ["git", "-C", _ROOT, "archive", version, "src", "tests"], capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as tar:
        tar.extractall(tmp_path / "before", filter="data")
    return tmp_path / "before" / "tests" / "chaos" / "worker_main.py"


async def test_a_worker_of_the_version_before_works_alone(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, old_worker: Path
) -> None:
    """What this version submits, the one before works through: an upgrade may go step by step."""
    sent = [
        await chaos_bench.send(1000, inline=False, stages=2, barrier=True, summarizes=True),
        await chaos_bench.send(
            30, failEvery=10, failHow="retry", failCode="API_TIMEOUT", failTimes=1
        ),
        await chaos_bench.send(60, inline=False, groups=3, learns=True),
        await chaos_bench.send(20, childrenPer=2),
    ]
    worker_pool.start(main=old_worker)
    jobs = await chaos_bench.ended(*sent)
    assert [job["done"] for job in jobs] == [1000, 30, 60, 60]
    await chaos_bench.is_clean()


async def test_workers_of_both_versions_share_the_work_and_each_others_deaths(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, old_worker: Path
) -> None:
    old = [worker_pool.start(main=old_worker), worker_pool.start(main=old_worker, elsewhere=True)]
    new = [worker_pool.start(), worker_pool.start(elsewhere=True)]
    # On a busy machine the first would be killed before it has begun.
    for hand in (*old, *new):
        await hand.is_up()
    job_id = await chaos_bench.send(6000, inline=False, stages=2, workMs=0.3)
    for share, victim in enumerate((old[0], new[1], old[1]), start=1):
        await chaos_bench.reaches(job_id, "done", 1500 * share)
        victim.kill()
    (job,) = await chaos_bench.ended(job_id)
    assert (job["state"], job["done"]) == ("done", 6000)
    workers = "SELECT count(DISTINCT worker) FROM history_slices WHERE kind = 'items'"
    assert await chaos_bench.value(workers) == 4
    await chaos_bench.is_clean()


async def test_a_zombie_of_the_version_before_writes_nothing(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, old_worker: Path
) -> None:
    job_id = await chaos_bench.send(100, workMs=0.2)
    zombie = worker_pool.start("before_commit:stop", main=old_worker)
    await zombie.freezes()
    worker_pool.start()
    (job,) = await chaos_bench.ended(job_id)
    before = [dict(row) for row in await chaos_bench.items(job_id)]
    zombie.wake()
    zombie.end()
    assert [dict(row) for row in await chaos_bench.items(job_id)] == before
    assert job["done"] == 100
    await chaos_bench.is_clean()
