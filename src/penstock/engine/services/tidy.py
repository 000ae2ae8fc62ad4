"""Deletes what is old and unused: uploads without a job, blobs without a reference, partial files,
old sessions and workers. In chunks, so that no run takes long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.engine.runtime import Runtime
from penstock.settings import Settings
from penstock.store import orphans, uploads
from penstock.store.accounts import sessions
from penstock.store.jobs import claims, jobs
from penstock.store.workers import workers


@dataclass(frozen=True, slots=True)
class TidierConfig:
    orphan_hours: float
    every_ms: int = 60_000
    files_at_once: int = 2000
    blobs_at_once: int = 2000

    @classmethod
    def of(cls, settings: Settings) -> TidierConfig:
        return cls(settings.orphan_hours)


@dataclass(frozen=True, slots=True)
class TidyResult:
    half_made: int = 0
    files: int = 0
    blobs: int = 0


class Tidier:
    name = "tidier"

    def __init__(self, runtime: Runtime, config: TidierConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or TidierConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms
        self._seconds = self._config.orphan_hours * 3600
        self._place = orphans.START
        self._after_blob = ""

    async def run_once(self) -> TidyResult:
        async with self._runtime.db.transaction() as conn:
            await workers.forget(conn)
            await sessions.forget_ended(conn)
            await claims.forget_paces(conn)
            installation = await orphans.installation_id(conn)
        if not await self._runtime.blobs.belong_to(str(installation)):
            self._runtime.log.warning(
                "the blobs belong to another installation: unused ones are not deleted"
            )
            return TidyResult()
        half_made = await self._drop_uploads() + await self._runtime.blobs.sweep(self._seconds)
        tidied = TidyResult(half_made, await self._drop_files(), await self._drop_blobs())
        if tidied != TidyResult():
            self._runtime.log.info(
                "orphans removed",
                half_made=tidied.half_made, files=tidied.files, blobs=tidied.blobs,
            )  # fmt: skip
        return tidied

    async def _drop_uploads(self) -> int:
        """Resumable uploads that have expired."""
        async with self._runtime.db.transaction() as conn:
            gone = await uploads.drop_expired(conn, self._config.files_at_once)
        for upload_id in gone:
            await self._runtime.blobs.partials.remove(upload_id.hex)
        return len(gone)

    async def _drop_files(self) -> int:
        """Uploads that no job has used."""
        config = self._config
        async with self._runtime.db.acquire() as conn:
            unused, place = await orphans.unused_files(
                conn, self._place, config.orphan_hours, config.files_at_once
            )
        self._place = place or orphans.START
        async with self._runtime.db.transaction() as conn:
            keys = await orphans.drop_files(conn, unused)
        await self._remove(keys)
        return len(keys)

    async def _drop_blobs(self) -> int:
        """Blobs that nothing refers to, such as those of uploads that crashed before their row."""
        most = self._config.blobs_at_once
        keys = await self._runtime.blobs.keys(self._after_blob, most)
        self._after_blob = keys[-1] if len(keys) == most else ""
        async with self._runtime.db.acquire() as conn:
            unnamed = await orphans.unreferenced_blobs(conn, keys)
        return await self._remove(unnamed)

    async def _remove(self, keys: Sequence[str]) -> int:
        removed = 0
        for key in keys:
            async with self._runtime.db.transaction() as conn:
                # An upload of the same bytes has either named the blob already or just written it.
                if await jobs.take_blob(conn, key):
                    removed += await self._runtime.blobs.remove(key, self._seconds)
        return removed
