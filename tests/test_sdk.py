"""The public surface, and a package that uses nothing else."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from penstock import sdk
from penstock.sdk.testing import run_pipeline
from tests.fixtures import Bench

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "examples" / "word-count"

# Pipelines of other packages stand on these names: removing one breaks them.
SURFACE = """
    PROVIDER_LIMITS AddedCells Advance Asked BadInput Blobs Call Child Children Config
    Context CountInGroup CredentialField Done Effect EffectBatch EffectWriter Emit Fail
    FetchLimits FetchPurpose FetchRequest FetchResponse FileRef InputFile Item ItemError Job
    JobEffectWriter JobRows KeepBlob ListPage LockOrder Log NameRow NotFound NotThere
    OAuthApp OAuthInstall Outcome PenstockError PermanentError Pipeline Products Provider
    ProviderBase ProviderCall RangeResult RangeWork RateLimited Reading Retry RetryPolicy
    RetryRule Row RowBatch RowRange
    ShopChange ShopConnection ShopImage ShopInfo ShopOption ShopProduct ShopVariant Skip
    SqlConnection Stage StoredRow Throttle Traits Unavailable UpsertProduct Waiting base_url
    classify_status decimal_or_none each read_answer read_cursor time_or_none transferable
    write_cursor
"""


def test_the_surface_is_what_is_listed() -> None:
    assert sdk.__all__ == SURFACE.split()
    assert all(hasattr(sdk, name) for name in sdk.__all__)


def test_the_example_imports_the_sdk_alone() -> None:
    tree = ast.parse((PACKAGE / "word_count" / "__init__.py").read_text("utf-8"))
    used = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in used if name and name.startswith("penstock")} == {"penstock.sdk"}


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which the package is installed."""
    (tmp_path / "word_count").symlink_to(PACKAGE / "word_count")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))["project"]
    made = tmp_path / "penstock_word_count-0.1.0.dist-info"
    made.mkdir()
    (made / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    [(group, points)] = project["entry-points"].items()
    lines = "".join(f"{name} = {target}\n" for name, target in points.items())
    (made / "entry_points.txt").write_text(f"[{group}]\n{lines}")
    return {**os.environ, "PYTHONPATH": ":".join([str(tmp_path), *sys.path])}


_TRIAL = """
import asyncio, os, sys, json
from penstock.app.uploads import Upload, keep_upload
from penstock.engine.submit import Order, submit
from penstock.engine.worker.loop import Worker
from penstock.model.ids import new_id
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.wiring import open_runtime, prepare

async def main():
    settings, dsn = Settings(), os.environ["DSN"]
    await prepare(settings, dsn)
    async def chunks():
        yield b"A rose is a rose\\n\\nis a ROSE\\n"
    async with open_runtime(settings, dsn, name="sdk") as runtime:
        async with runtime.db.transaction() as conn:
            org = await accounts.ensure_org(conn, "poets", "standard")
            user = await accounts.ensure_user(conn, org.id, "poet@poets", "member")
            key = await accounts.create_key(conn, org.id, user.id)
            who = await accounts.principal_of(conn, key)
            blob = await runtime.blobs.put(chunks(), 1000)
            upload = Upload(new_id(), "poem.txt", "text/plain", blob)
            await keep_upload(runtime, conn, who, upload)
            job = await submit(runtime, conn, who, Order("word-count", {}, upload.id))
        async with Worker(runtime, sweeps=False) as worker:
            while await worker.run_once():
                pass
        async with runtime.db.acquire() as conn:
            counts = await conn.fetch("SELECT word, count FROM word_counts ORDER BY word")
            sql = "SELECT state, done, error FROM jobs WHERE id = $1"
            row = await conn.fetchrow(sql, job.job_id)
    print(json.dumps({"counts": {r["word"]: r["count"] for r in counts}, "job": list(row)}))

asyncio.run(main())
"""


def test_an_installed_package_brings_a_pipeline_and_an_effect(
    installed: dict[str, str], bench: Bench, owner_dsn: str
) -> None:
    """One folder, no change of ours: migrated, submitted, worked on and written in one settle."""
    settings = bench.runtime.settings
    env = installed | {
        "DSN": owner_dsn,
        "PENSTOCK_DATA_DIR": str(settings.data_dir),
        "PENSTOCK_DATABASE_SCHEMA": settings.database_schema,
    }
    run = subprocess.run(
        [sys.executable, "-c", _TRIAL], env=env, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    assert told["counts"] == {"a": 3, "is": 2, "rose": 3}
    assert told["job"] == ["done", 2, 1], "the empty line failed"


def test_the_testing_helper_runs_a_pipeline_without_a_database(installed: dict[str, str]) -> None:
    code = """
import asyncio, word_count
from penstock.sdk.testing import run_pipeline
files = {"a.txt": b"a rose\\n", "b.txt": b"is"}
run = asyncio.run(run_pipeline(word_count.WordCount(), files=files))
print(run.results, [effect.counts["rose"] for effect in run.items[0].effects])
"""
    run = subprocess.run(
        [sys.executable, "-c", code], env=installed, capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == (
        "[{'line': 'a rose', 'words': 2}, {'line': 'is', 'words': 1}] [1]"
    )


async def test_the_testing_helper_follows_children_and_stages() -> None:
    from penstock.pipelines.noop import Noop

    run = await run_pipeline(Noop(), {"items": 2, "childrenPer": 1, "stages": 2, "failEvery": 4})
    assert len(run.items) == 4
    assert run.items[3].outcome is not None
    assert type(run.items[3].outcome).__name__ == "Fail"
