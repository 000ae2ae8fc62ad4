"""What nobody uses goes after its time; what somebody uses, or is about to, stays."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest
from tests.fixtures import Bench

from penstock.app.uploads import Upload, keep_upload
from penstock.blobs.local import LocalBlobs
from penstock.engine.services.tidy import Tidier, TidierConfig, TidyResult
from penstock.model.errors import NotThere
from penstock.model.ids import new_id
from penstock.store import blob_refs

pytestmark = pytest.mark.slow

_CONFIG = TidierConfig(orphan_hours=24)


async def _bytes(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def upload(bench: Bench, text: str, *, keeps: bool = True) -> Upload:
    blob = await bench.runtime.blobs.put(_bytes(text), 1000)
    made = Upload(new_id(), "list.csv", "text/csv", blob)
    if keeps:
        async with bench.runtime.db.transaction() as conn:
            await keep_upload(bench.runtime, conn, bench.who, made)
    return made


def age(bench: Bench, *uploads: Upload) -> None:
    """As if two days had passed for their bytes."""
    then = time.time() - 2 * 86400
    for one in uploads:
        os.utime(cast(LocalBlobs, bench.runtime.blobs).path(one.blob.key), (then, then))


async def age_rows(bench: Bench, *ids: UUID) -> None:
    async with bench.runtime.db.acquire() as conn:
        await conn.execute(
            "UPDATE files SET created_at = created_at - interval '2 days' WHERE id = ANY ($1)",
            list(ids),
        )


async def files(bench: Bench) -> set[UUID]:
    async with bench.runtime.db.acquire() as conn:
        return {row["id"] for row in await conn.fetch("SELECT id FROM files")}


def path(bench: Bench, one: Upload) -> Path:
    return cast(LocalBlobs, bench.runtime.blobs).path(one.blob.key)


async def test_old_orphans_go_and_all_else_stays(bench: Bench) -> None:
    unused = await upload(bench, "unused")
    used = await upload(bench, "title\nused")
    young = await upload(bench, "young")
    lone = await upload(bench, "a blob without a row", keeps=False)
    young_lone = await upload(bench, "a young blob without a row", keeps=False)
    await bench.submit("extraction", file_id=used.id)
    age(bench, unused, used, lone)
    await age_rows(bench, unused.id, used.id)
    half_made = bench.runtime.settings.blob_dir / "tmp" / "half"
    half_made.write_bytes(b"...")
    os.utime(half_made, (0, 0))
    assert await Tidier(bench.runtime, _CONFIG).run_once() == TidyResult(
        half_made=1, files=1, blobs=1
    )
    assert await files(bench) == {used.id, young.id}
    kept = [used, young, young_lone]
    assert [one for one in (*kept, unused, lone) if path(bench, one).exists()] == kept
    assert not half_made.exists()
    assert await Tidier(bench.runtime, _CONFIG).run_once() == TidyResult()


async def test_everything_is_looked_through_in_chunks(bench: Bench) -> None:
    lone = [await upload(bench, f"lone {n}", keeps=False) for n in range(5)]
    unused = [await upload(bench, f"unused {n}") for n in range(5)]
    age(bench, *lone, *unused)
    await age_rows(bench, *(one.id for one in unused))
    tidier = Tidier(bench.runtime, replace(_CONFIG, files_at_once=2, blobs_at_once=2))
    for _ in range(12):
        await tidier.run_once()
    assert await files(bench) == set()
    assert not [one for one in (*lone, *unused) if path(bench, one).exists()]


async def test_bytes_that_are_sent_again_are_kept(bench: Bench) -> None:
    """While the sweep waits, somebody keeps the same bytes."""
    lone = await upload(bench, "the same bytes", keeps=False)
    age(bench, lone)
    async with bench.runtime.db.transaction() as conn:
        again = replace(lone, id=new_id())
        await keep_upload(bench.runtime, conn, bench.who, again)
        sweeping = asyncio.create_task(Tidier(bench.runtime, _CONFIG).run_once())
        await asyncio.sleep(0.2)
        assert not sweeping.done()
    assert (await sweeping).blobs == 0
    assert path(bench, lone).exists()


async def test_a_file_given_to_a_job_this_moment_is_kept(bench: Bench) -> None:
    made = await upload(bench, "title\nlamp")
    age(bench, made)
    await age_rows(bench, made.id)
    async with bench.runtime.db.transaction() as conn:
        await conn.execute("SELECT 1 FROM files WHERE id = $1 FOR KEY SHARE", made.id)
        assert (await Tidier(bench.runtime, _CONFIG).run_once()).files == 0
    assert (await Tidier(bench.runtime, _CONFIG).run_once()).files == 1
    with pytest.raises(NotThere):
        await bench.submit("extraction", file_id=made.id)


async def test_the_blobs_of_another_installation_are_left_alone(bench: Bench) -> None:
    lone = await upload(bench, "theirs", keeps=False)
    age(bench, lone)
    assert await bench.runtime.blobs.belong_to("another")
    assert await Tidier(bench.runtime, _CONFIG).run_once() == TidyResult()
    assert path(bench, lone).exists()


async def test_a_blob_with_a_reference_stays(bench: Bench) -> None:
    """What a stage kept with an effect is no orphan; without the reference it is."""
    job_id = await bench.submit("noop", {"items": 3, "keepsBlobs": True})
    await bench.work()
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT blob_key FROM blob_refs WHERE org_id = $1 AND owner = $2",
            bench.who.org_id, str(job_id),
        )  # fmt: skip
    keys = [row["blob_key"] for row in rows]
    assert len(keys) == 3
    blobs = cast(LocalBlobs, bench.runtime.blobs)
    then = time.time() - 2 * 86400
    for key in keys:
        os.utime(blobs.path(key), (then, then))
    assert (await Tidier(bench.runtime, _CONFIG).run_once()).blobs == 0
    assert all(blobs.path(key).exists() for key in keys)
    async with bench.runtime.db.acquire() as conn:
        assert await blob_refs.remove(conn, bench.who.org_id, "noop", str(job_id)) == 3
    assert (await Tidier(bench.runtime, _CONFIG).run_once()).blobs == 3
    assert not any(blobs.path(key).exists() for key in keys)
