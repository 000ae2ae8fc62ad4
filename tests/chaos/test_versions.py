"""F18: workers of the version before, on the schema of this one, beside workers of this one."""

from __future__ import annotations

import io
import subprocess
import tarfile
from functools import cache
from pathlib import Path

import pytest
from tests.chaos.crew import Crew
from tests.chaos.ordeal import Ordeal

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
    ordeal: Ordeal, crew: Crew, old_worker: Path
) -> None:
    """What this version submits, the one before works through: an upgrade may go step by step."""
    sent = [
        await ordeal.send(1000, inline=False, stages=2, barrier=True, summarizes=True),
        await ordeal.send(30, failEvery=10, failHow="retry", failCode="API_TIMEOUT", failTimes=1),
        await ordeal.send(60, inline=False, groups=3, learns=True),
        await ordeal.send(20, childrenPer=2),
    ]
    crew.start(main=old_worker)
    jobs = await ordeal.ended(*sent)
    assert [job["done"] for job in jobs] == [1000, 30, 60, 60]
    await ordeal.is_clean()


async def test_workers_of_both_versions_share_the_work_and_each_others_deaths(
    ordeal: Ordeal, crew: Crew, old_worker: Path
) -> None:
    old = [crew.start(main=old_worker), crew.start(main=old_worker, elsewhere=True)]
    new = [crew.start(), crew.start(elsewhere=True)]
    # On a busy machine the first would be killed before it has begun.
    for hand in (*old, *new):
        await hand.is_up()
    job_id = await ordeal.send(6000, inline=False, stages=2, workMs=0.3)
    for share, victim in enumerate((old[0], new[1], old[1]), start=1):
        await ordeal.reaches(job_id, "done", 1500 * share)
        victim.kill()
    (job,) = await ordeal.ended(job_id)
    assert (job["state"], job["done"]) == ("done", 6000)
    workers = "SELECT count(DISTINCT worker) FROM history_slices WHERE kind = 'items'"
    assert await ordeal.value(workers) == 4
    await ordeal.is_clean()


async def test_a_zombie_of_the_version_before_writes_nothing(
    ordeal: Ordeal, crew: Crew, old_worker: Path
) -> None:
    job_id = await ordeal.send(100, workMs=0.2)
    zombie = crew.start("before_commit:stop", main=old_worker)
    await zombie.freezes()
    crew.start()
    (job,) = await ordeal.ended(job_id)
    before = [dict(row) for row in await ordeal.items(job_id)]
    zombie.wake()
    zombie.end()
    assert [dict(row) for row in await ordeal.items(job_id)] == before
    assert job["done"] == 100
    await ordeal.is_clean()
