"""Store the rows of a job as items, in batches of adaptive size, each with the cursor after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from penstock.engine.claim import Claim
from penstock.engine.context import StageContext, StopSign, Timer, stage_context
from penstock.engine.ending import fail_or_retry
from penstock.engine.result_cache import CachedResults, look_up
from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.engine.worker_errors import CHILD_CRASHED, report_worker_error
from penstock.model.adaptive import IngestSizer
from penstock.model.errors import BadInput, ChildCrashed, PermanentError
from penstock.model.pipeline import Job, Pipeline, Row, RowBatch, Traits
from penstock.model.ticket import Ticket
from penstock.store.accounts import usage
from penstock.store.database import from_json, to_json
from penstock.store.errors import QueryCanceledError, UniqueViolationError
from penstock.store.jobs import ingest as stored
from penstock.store.jobs import jobs, ranges, result_cache, slices
from penstock.store.jobs.result_cache import WHOLE, Source

# Rows of another user that are copied with all their results; one's own are shared.
_COPIED_WHOLE = 20_000
_MIN_RANGE_ROWS, _MAX_RANGE_ROWS = 1000, 2500
_MAX_WARNINGS = 20
# Attempts to store a slow batch before the ingest starts over with small batches.
_BATCH_TRIES = 5


class _SourceChanged(Exception):
    """The job whose results are copied was changed meanwhile."""


class LeaseLost(Exception):
    """The lease of this ingest was lost; nothing more may be written."""


class Ingest:
    """One lease over the ingest of one job."""

    def __init__(self, runtime: Runtime, claimed: Claim, stop: StopSign, worker: str) -> None:
        self._runtime = runtime
        self._claim = claimed
        self._lease = claimed.leases[0]
        self._row = claimed.jobs[0]
        self._stop = stop
        self._worker = worker
        settings = runtime.settings
        least, most = settings.ingest_min_rows, settings.ingest_max_rows
        if self._pipeline.ranges is not None:
            # A range is one lease: of at most about half a second, and few for a small file.
            least, most = min(max(least, _MIN_RANGE_ROWS), most), min(most, _MAX_RANGE_ROWS)
        self._sizer = IngestSizer(
            least,
            most,
            settings.db_p50_ms,
            settings.db_p95_ms,
            settings.ingest_max_batch_bytes,
        )
        self._traits = Traits()
        self._timer = Timer()

    async def run(self, must_yield: Callable[[float], bool]) -> None:
        """Read and store rows until the input ends, or until ``must_yield(seconds)`` is true; then
        a later lease continues."""
        try:
            pipeline = self._pipeline
            job = self._runtime.job(self._row)
            self._traits = pipeline.traits(job.config)
            cursor = from_json(self._row.ingest_cursor)
            # Only `must_yield` stops the reading, between batches.
            ctx = stage_context(self._runtime, self._stop, float("inf"), self._runtime.log)
            ctx.batch_rows = self._sizer.rows
            if cursor is None or "recalled" in cursor:
                found = await look_up(self._runtime, pipeline, job, ctx)
                if found is not None:
                    cursor, copied = await self._copy(found, cursor, must_yield)
                    if copied:
                        return await self._end_copied(job, found.source, ctx)
                    if cursor is not None and self._must_rest(must_yield):
                        return await self._yield()
                await self._own_rows(cursor)
            async with aclosing(pipeline.rows(job, ctx, cursor)) as batches:
                async for batch in batches:
                    cursor = batch.cursor
                    if batch.header is not None:
                        job = replace(job, header=batch.header)
                    await self._store(batch)
                    ctx.batch_rows = self._sizer.rows
                    self._runtime.failpoints.reach("between_batches")
                    if self._must_rest(must_yield):
                        return await self._yield()
            learned = await pipeline.after_ingest(job, cursor or {}, ctx)
            await self._end(learned, self._waiting_rows(job, cursor or {}, learned))
        except UniqueViolationError:
            twice = BadInput("DUPLICATE_KEY", "Two rows of the input have the same key")
            await fail_or_retry(
                self._runtime, self._lease.id, self._row, jobs.INGEST, twice, self._worker
            )
        except LeaseLost:
            self._runtime.log.info("ingest lease was lost", job=str(self._row.id))
        except Exception as error:
            if isinstance(error, ChildCrashed):
                await report_worker_error(
                    self._runtime, self._worker, CHILD_CRASHED, str(error), self._row.id, "ingest"
                )
            await fail_or_retry(
                self._runtime, self._lease.id, self._row, jobs.INGEST, error, self._worker
            )

    @property
    def _pipeline(self) -> Pipeline:
        return self._runtime.pipeline(self._row.pipeline)

    def _must_rest(self, must_yield: Callable[[float], bool]) -> bool:
        return self._stop.reason is not None or must_yield(self._timer.ms / 1000)

    async def _copy(
        self, found: CachedResults, cursor: Any, must_yield: Callable[[float], bool]
    ) -> tuple[Any, bool]:
        """Copy rows of an earlier job of the same file; answers the cursor, and whether all rows
        are copied. If that job is changed meanwhile, the rest is read from the file."""
        source, whole = found.source, found.whole
        if cursor is not None and cursor["recalled"] != str(source.job_id):
            return cursor, False
        if not whole:
            await self._own_rows(cursor)
        # Once rows were copied without their results, the job is matched and summed up as usual.
        whole = whole and (cursor is None or cursor.get(WHOLE, False))
        done = cursor["rows"] if cursor else 0
        while done < source.total:
            last = min(done + self._copied_at_once(source, whole), source.total)
            # The columns are known only with the last row.
            known = {name: one for name, one in source.cursor.items()
                     if name != "columns" or last == source.total}  # fmt: skip
            there = {**known, "rows": last, "recalled": str(source.job_id), WHOLE: whole}
            try:
                await self._copy_once(source, done, there)
            except _SourceChanged:
                return cursor, False
            cursor, done = there, last
            self._runtime.failpoints.reach("cached_results_after_commit")
            if done < source.total and self._must_rest(must_yield):
                return cursor, False
        return cursor, True

    def _shares(self, source: Source) -> bool:
        """Row-level security may hide rows of another user."""
        return source.user_id == self._row.user_id

    def _copied_at_once(self, source: Source, whole: bool) -> int:
        if whole:
            return source.total if self._shares(source) else _COPIED_WHOLE
        settings = self._runtime.settings
        fitting = int(settings.ingest_max_batch_bytes / max(source.row_bytes, 1.0))
        return max(1, min(_MAX_RANGE_ROWS, settings.ingest_max_rows, fitting))

    async def _copy_once(self, source: Source, after: int, there: Mapping[str, Any]) -> None:
        last = there["rows"]
        size = self._row.size or 0
        async with self._runtime.db.transaction() as conn:
            if not await slices.hold(conn, [self._lease.id]):
                raise LeaseLost
            _, total = await stored.saved_cursor(conn, self._row.id)
            if total >= last:
                return
            if not await result_cache.is_unchanged(conn, source.job_id):
                raise _SourceChanged
            if there[WHOLE] and self._shares(source):
                move, row_bytes = await result_cache.share_rows(conn, source.job_id, self._row.id)
            else:
                copy = result_cache.copy_results if there[WHOLE] else result_cache.copy_as_range
                move, row_bytes = await copy(conn, source.job_id, self._row, after, last)
            await stored.save_move(
                conn, self._row.id, move, row_bytes=row_bytes, cursor=there,
                bytes_read=size * last // source.total, bytes_total=size, header=source.header,
                worker=self._worker,
            )  # fmt: skip
            await self._count(conn, last - after, round(row_bytes * (last - after)))
            self._runtime.failpoints.reach("cached_results_before_commit")

    async def _end_copied(self, job: Job, source: Source, ctx: StageContext) -> None:
        job = replace(job, header=source.header)
        learned = await self._pipeline.after_ingest(job, source.cursor, ctx)
        await self._end(learned, self._waiting_rows(job, source.cursor, learned), source)

    async def _own_rows(self, cursor: Any) -> None:
        """Copy rows that are shared: the others are compared with them."""
        if cursor is None or not cursor.get(WHOLE):
            return
        async with self._runtime.db.transaction() as conn:
            if not await slices.hold(conn, [self._lease.id]):
                raise LeaseLost
            await result_cache.own_rows(conn, self._row.id)

    async def _store(self, batch: RowBatch) -> None:
        inputs = [to_json(row.input) for row in batch.rows]
        self._require_bounded(inputs)
        tries = 0
        while True:
            timer = Timer()
            try:
                pool_wait = await self._store_once(batch, inputs)
            except TRANSIENT_DB_ERRORS as error:
                tries += 1
                wait = self._sizer.error(self._runtime.chance.random())
                if tries == 1:
                    self._runtime.log.warning("ingest batch will be retried", error=repr(error))
                # Wait for a server that is full or does not answer while the lease lasts. If it
                # is too slow for this batch, smaller batches may succeed.
                too_slow = isinstance(error, QueryCanceledError) and tries >= _BATCH_TRIES
                if too_slow or self._stop.reason is not None:
                    raise
                await asyncio.sleep(wait / 1000)
            else:
                # Time that this process spent computing says nothing about the database.
                rows = len(batch.rows)
                size = sum(map(len, inputs))
                self._sizer.batch_written(timer.waited_ms - pool_wait, rows, pool_wait, size)
                self._runtime.figures.times.observe("ingest_batch", (), timer.ms / 1000)
                self._runtime.figures.ingested(
                    rows, self._sizer.rows, self._sizer.latency_ms or 0.0, pool_wait
                )
                return

    def _require_bounded(self, inputs: Sequence[str]) -> None:
        most = self._runtime.settings.max_row_bytes
        largest = max(map(len, inputs), default=0)
        if largest > most:
            raise PermanentError(
                "ROW_TOO_LARGE",
                f"A row has {largest:,} bytes with all its cells; at most {most:,} are taken"
                " (PENSTOCK_MAX_ROW_BYTES). Is the file one record that should be many?",
                limit=most,
            )

    async def _store_once(self, batch: RowBatch, inputs: Sequence[str]) -> float:
        """Store one batch in one transaction; answers the wait for a connection.

        The cursor in the database says which rows are stored, so that a batch is recognised as
        stored after an ambiguous commit.
        """
        timer = Timer()
        async with self._runtime.db.transaction() as conn:
            pool_wait = timer.ms
            if not await slices.hold(conn, [self._lease.id]):
                raise LeaseLost
            done, total = await stored.saved_cursor(conn, self._row.id)
            if done == from_json(to_json(dict(batch.cursor))):
                return pool_wait
            if batch.rows:
                first = total + 1
                if self._traits.spawns:
                    first = await stored.next_row(conn, self._row.id)
                await self._write_rows(conn, first, batch.rows, inputs)
            written = await stored.save_batch(
                conn, self._row.id, rows=len(batch.rows),
                row_bytes=sum(map(len, inputs)) / max(len(inputs), 1), cursor=batch.cursor,
                bytes_read=batch.bytes_read, bytes_total=batch.bytes_total, header=batch.header,
                grouped=any(row.group is not None for row in batch.rows),
                ready=not self._traits.needs_full_input, worker=self._worker,
                in_range=self._pipeline.ranges is not None,
            )  # fmt: skip
            await self._count(conn, len(inputs), sum(map(len, inputs)))
        self._runtime.db.note_written(len(batch.rows))
        if not self._traits.needs_full_input:
            await self._wake(written.lanes)
        return pool_wait

    async def _write_rows(
        self, conn: Any, first: int, rows: Sequence[Row], inputs: Sequence[str]
    ) -> None:
        if self._pipeline.ranges is None:
            await stored.copy_rows(conn, self._runtime.db.schema, self._row, first, rows, inputs)
            return
        noticed = {first + n: row.noticed for n, row in enumerate(rows) if row.noticed is not None}
        lines = "\n".join(inputs).encode()
        await ranges.add(conn, self._row, first, lines, len(rows), noticed)

    async def _count(self, conn: Any, rows: int, size: int) -> None:
        """Add the rows to the org's usage. Last, since other ingests of the org wait for that
        row."""
        await usage.add_rows(conn, self._row.org_id, rows, size, self._runtime.settings.quota)

    def _waiting_rows(
        self, job: Job, cursor: Mapping[str, Any], learned: Mapping[str, Any]
    ) -> Sequence[int] | None:
        if self._pipeline.ranges is None:
            return None
        taught = replace(job, context={**job.context, **learned})
        return self._pipeline.waiting_rows(taught, cursor)

    async def _end(
        self, learned: Any, waiting: Sequence[int] | None, source: Source | None = None
    ) -> None:
        async with self._runtime.db.transaction() as conn:
            if not await slices.take(conn, [self._lease.id]):
                raise LeaseLost
            if source is not None:
                await result_cache.mark_cached(conn, self._row.id, source.job_id)
                data = {"from": str(source.job_id), "rows": source.total}
                await jobs.add_event(conn, self._row.id, "job.cached", data, self._worker)
            for one in self._pipeline.warnings(learned)[:_MAX_WARNINGS]:
                await jobs.add_event(conn, self._row.id, "job.warning", one, self._worker)
            labels = self._pipeline.labels(learned)
            written = await stored.end_ingest(
                conn, self._row.id, learned, labels, waiting, self._worker
            )
            await self._charge(conn)
        await self._wake(written.lanes)

    async def _yield(self) -> None:
        """Release the lease; the next one continues from the cursor."""
        async with self._runtime.db.transaction() as conn:
            if not await slices.take(conn, [self._lease.id]):
                raise LeaseLost
            await slices.yield_whole(
                conn, self._row.id, jobs.INGEST, after_ms=0, attempts=self._row.attempts
            )
            await self._charge(conn)

    async def _charge(self, conn: Any) -> None:
        await slices.charge(conn, self._claim.turn, self._timer.ms)

    async def _wake(self, lanes: frozenset[str]) -> None:
        for lane in lanes:
            await self._runtime.broker.send(Ticket(lane))
