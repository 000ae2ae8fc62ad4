"""Reuse the results of an earlier job with the same file and configuration: look them up in memory,
then in the database, check that they are still valid, and copy them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.chunks import delete_in_chunks
from penstock.engine.context import StageContext
from penstock.engine.lookup_cache import Key
from penstock.engine.runtime import Runtime
from penstock.model.pipeline import Job, Pipeline
from penstock.settings import Settings
from penstock.store.jobs import result_cache
from penstock.store.jobs.result_cache import Source


def key_of(pipeline: Pipeline, job: Job) -> Key | None:
    """The cache key of a job; None if its results must not be reused."""
    named = pipeline.cache_key(job.config)
    if named is None or job.file is None:
        return None
    return (job.org_id, job.file.sha256, named)


async def look_up(
    runtime: Runtime, pipeline: Pipeline, job: Job, ctx: StageContext
) -> CachedResults | None:
    """The results of an earlier job that are still valid, or None. The database may know a later
    job than the memory, compared with the catalog as it is now."""
    key = key_of(pipeline, job)
    if key is None or not runtime.settings.cache_hours:
        return None
    found = await _check(pipeline, job, runtime.lookup_cache.get(key), ctx)
    if found is None or not found.whole:
        async with runtime.db.acquire() as conn:
            stored = await result_cache.find(conn, *key, runtime.settings.cache_hours)
        if found is None or stored != found.source:
            found = await _check(pipeline, job, stored, ctx)
    if found is None:
        runtime.lookup_cache.forget(key)
        return None
    runtime.lookup_cache.put(key, found.source)
    return found


@dataclass(frozen=True, slots=True)
class CachedResults:
    """``whole``: every row would end as it did in that job, so that all its results are copied.
    Otherwise its rows are, which need not be read from the file again."""

    source: Source
    whole: bool


async def _check(
    pipeline: Pipeline, job: Job, source: Source | None, ctx: StageContext
) -> CachedResults | None:
    if source is None or not await pipeline.is_still_valid(
        job, source.header, source.cursor, source.context, ctx
    ):
        return None
    whole = await pipeline.has_same_outcome(job, source.config, source.started_at, ctx)
    return CachedResults(source, whole) if whole or pipeline.ranges is not None else None


@dataclass(frozen=True, slots=True)
class CacheRetentionConfig:
    hours: float
    every_ms: int = 600_000
    chunk: int = 500

    @classmethod
    def of(cls, settings: Settings) -> CacheRetentionConfig:
        return cls(settings.cache_hours)


class CacheRetention:
    """Deletes cache entries that are too old."""

    name = "cache retention"

    def __init__(self, runtime: Runtime, config: CacheRetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or CacheRetentionConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers the number of deleted entries."""
        return await delete_in_chunks(
            self._runtime, self._config.chunk,
            lambda conn, chunk: result_cache.drop_old(conn, self._config.hours, chunk),
        )  # fmt: skip


class SharedRows:
    """Gives jobs that share the rows of another their own. Not at once: what the user does next
    should not have to wait for it."""

    name = "shared rows"
    every_ms = 5_000

    def __init__(self, runtime: Runtime, seconds: float = 30.0, chunk: int = 5_000) -> None:
        self._runtime = runtime
        self._seconds = seconds
        self._chunk = chunk

    async def run_once(self) -> int:
        """Answers the number of jobs. Each chunk is its own transaction."""
        async with self._runtime.db.acquire() as conn:
            sharing = await result_cache.next_sharing(conn, 100, self._seconds)
        for job_id in sharing:
            more = True
            while more:
                async with self._runtime.db.transaction() as conn:
                    more = await result_cache.own_some(conn, job_id, self._chunk)
        return len(sharing)
