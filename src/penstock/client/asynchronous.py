"""The client for programs with an event loop: the same calls, awaited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

import httpx2

from . import calls
from .calls import Call, JobRef, Page, Patience, Source
from .common import (
    ENDINGS,
    FAILURES,
    STREAM_TIMEOUT,
    TIMEOUT,
    Attempts,
    answer_of,
    beside,
    error_of,
    is_last,
    request_of,
    server_of,
)
from .errors import JobFailed
from .resources import AsyncResource, Resources
from .shapes import BatchResult, Event, File, Item, Job, Preview, Receipt, Reprocessed, Undone

T = TypeVar("T")


class AsyncClient(Resources[AsyncResource]):
    """Penstock over HTTP. What may pass is tried again; a job is never submitted twice by that."""

    def __init__(
        self, url: str | None = None, key: str | None = None, *,
        patience: Patience | None = None, transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:  # fmt: skip
        address, headers = server_of(url, key)
        self._patience = patience or Patience()
        self._add_resources(AsyncResource)
        self._http = httpx2.AsyncClient(
            base_url=address, headers=headers, timeout=TIMEOUT, transport=transport
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def submit(
        self, file: Source | None = None, *, pipeline: str = "extraction",
        config: Mapping[str, Any] | None = None, priority: int | str = "medium", name: str = "",
        file_id: UUID | str | None = None, url: str | None = None, file_name: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:  # fmt: skip
        """Create a job of a file (a path, bytes or an open file), of one uploaded before, or of one
        that the server fetches from ``url``."""
        return await self._do(
            calls.submit(
                file, pipeline=pipeline, config=config, priority=priority, name=name,
                file_id=file_id, url=url, file_name=file_name,
                idempotency_key=idempotency_key,
            )
        )  # fmt: skip

    async def submit_many(self, jobs: Sequence[Mapping[str, Any]]) -> list[BatchResult]:
        """Create up to 200 jobs, each a mapping with the fields of a new job in the API. Answers
        one result for each, in order."""
        return await self._do(calls.submit_many(jobs))

    async def preview(
        self, file: Source | None = None, *, config: Mapping[str, Any] | None = None,
        file_id: UUID | str | None = None, url: str | None = None, file_name: str | None = None,
    ) -> Preview:  # fmt: skip
        """What a job would make of a file; nothing is written."""
        return await self._do(
            calls.preview(file, config=config, file_id=file_id, url=url, file_name=file_name)
        )

    async def research(self, query: str, **order: Any) -> Receipt:
        """Ask sources for products; ``price_range``, ``sources``, … as in the API."""
        return await self._do(calls.order("/api/research", {"query": query, **order}))

    async def import_shop(self, connection_id: UUID | str, **order: Any) -> Receipt:
        """Import products of a connected shop: ``all=True``, ``product_ids`` or ``since``."""
        fields = {"connectionId": str(connection_id), **order}
        return await self._do(calls.order("/api/products/import", fields))

    async def upload(self, file: Source, *, file_name: str | None = None) -> File:
        return await self._do(calls.upload(file, file_name))

    async def job(self, job_id: JobRef) -> Job:
        return await self._do(calls.job(job_id))

    def jobs(self, **filters: Any) -> AsyncIterator[Job]:
        """All jobs that match, newest first, page by page."""
        return self._pages(lambda after: calls.jobs(after, **filters))

    def items(self, job_id: JobRef, **filters: Any) -> AsyncIterator[Item]:
        """A job's rows, page by page; filters as in the API: ``statuses``, ``code``, ``q``, …"""
        return self._pages(lambda after: calls.items(job_id, after, **filters))

    def listed(self, path: str, **filters: Any) -> AsyncIterator[dict[str, Any]]:
        """Any other list, such as ``/api/products`` or ``/api/dead-letters``, page by page."""
        return self._pages(lambda after: calls.page(path, after, **filters))

    async def pause(self, job_id: JobRef) -> Job:
        return await self._do(calls.control(job_id, "pause"))

    async def resume(self, job_id: JobRef) -> Job:
        return await self._do(calls.control(job_id, "resume"))

    async def cancel(self, job_id: JobRef) -> Job:
        return await self._do(calls.control(job_id, "cancel"))

    async def set_priority(self, job_id: JobRef, priority: int | str) -> Job:
        return await self._do(calls.control(job_id, "priority", {"priority": priority}))

    async def reprocess(self, job_id: JobRef, **selection: Any) -> Reprocessed:
        """Run failed rows again; ``statuses``, ``codes``, ``itemIds``, … as in the API."""
        return await self._do(calls.reprocess(job_id, selection))

    async def fix(
        self, job_id: JobRef, row_no: int, cells: Mapping[str, str | None]
    ) -> Reprocessed:
        """Put cells of a row right and run the row again."""
        return await self._do(calls.fix(job_id, row_no, cells))

    async def edit(
        self, job_id: JobRef, change: Mapping[str, Any], select: Mapping[str, Any] | None = None, *,
        dry_run: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """Change cells of all rows that match; with ``dry_run`` only count them."""
        return await self._do(calls.edit(job_id, select or {}, change, dry_run))

    async def undo_edit(self, job_id: JobRef) -> dict[str, Any]:
        """Undo the last edit of rows of the job."""
        return await self._do(calls.undo_edit(job_id))

    async def remap(self, job_id: JobRef, config: Mapping[str, Any]) -> Reprocessed:
        """Run all rows again with other options, without sending the file again."""
        return await self._do(calls.remap(job_id, config))

    async def undo(self, job_id: JobRef, *, dry_run: bool = False) -> Undone:
        """Undo what a job wrote to the catalog, all of it; with ``dry_run`` only count it."""
        undone = await self._do(calls.undo(job_id, dry_run, None))
        while undone.more:
            undone = undone.plus(await self._do(calls.undo(job_id, dry_run, undone.next)))
        return undone

    async def clone(self, job_id: JobRef, **changes: Any) -> Receipt:
        return await self._do(calls.clone(job_id, changes))

    async def export(
        self, job_id: JobRef, to: str | Path, *, format: str = "csv", which: str = "all",
        **filters: Any,
    ) -> Path:  # fmt: skip
        """Write a job's rows to a file, which is there whole or not at all."""
        path = Path(to)
        part = beside(path)
        wanted = {"format": format, "which": which, **filters}
        try:
            with part.open("wb") as out:
                async for piece in self.pieces(f"/api/jobs/{job_id}/export", **wanted):
                    out.write(piece)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return path

    async def pieces(self, path: str, **options: Any) -> AsyncIterator[bytes]:
        """Any export, such as ``/api/products/export``, as it comes in."""
        with request_of(calls.export(path, **options)) as wanted:
            async with self._http.stream(**wanted) as response:
                if response.status_code >= 400:
                    await response.aread()
                    raise error_of(response)
                async for piece in response.aiter_bytes():
                    yield piece

    async def wait(
        self, job_id: JobRef, *, timeout: float | None = None, check: bool = False,
        on_update: Callable[[Job], None] | None = None,
    ) -> Job:  # fmt: skip
        """Wait until the job has ended. ``on_update`` is called with the job meanwhile; ``check``
        raises JobFailed for a job that is not done."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = 0.1
        while True:
            job = await self.job(job_id)
            if on_update is not None:
                on_update(job)
            if job.ended:
                if check and job.state != "done":
                    raise JobFailed(job)
                return job
            if until is not None and time.monotonic() + pause > until:
                raise TimeoutError(f"job {job_id} is {job.state} after {timeout} s")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 2.0)

    async def watch(self, job_id: JobRef, *, since: int = 0) -> AsyncIterator[Event]:
        """A job's events, each once and in order, until the job has ended."""
        last = since
        attempts = Attempts(self._patience, calls.job_events(job_id, last))
        while True:
            try:
                async for event in self._stream(calls.job_events(job_id, last)):
                    attempts.went_well()
                    last = event.seq or last
                    yield event
                    if event.event in ENDINGS and is_last(event, await self.job(job_id)):
                        return
            except FAILURES as error:
                await asyncio.sleep(attempts.wait_after(error))

    async def call(
        self, method: str, path: str, *, params: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any call of the API, for what has no method here."""
        safe = method in ("GET", "PUT", "DELETE")
        return await self._do(calls.any_call(method, path, params, body, safe))

    async def _do(self, call: Call[T]) -> T:
        attempts = Attempts(self._patience, call)
        while True:
            try:
                with request_of(call) as wanted:
                    return answer_of(call, await self._http.request(**wanted))
            except FAILURES as error:
                await asyncio.sleep(attempts.wait_after(error))

    async def _pages(self, page: Callable[[str | None], Call[Page[T]]]) -> AsyncIterator[T]:
        after: str | None = None
        while True:
            found = await self._do(page(after))
            for one in found.items:
                yield one
            if found.next is None:
                return
            after = found.next

    async def _stream(self, call: Call[Event]) -> AsyncIterator[Event]:
        """What comes through one connection."""
        async with self._http.sse(
            call.path, params=dict(call.params), timeout=STREAM_TIMEOUT
        ) as source:
            if source.response.status_code >= 400:
                await source.response.aread()
                raise error_of(source.response)
            async for sent in source:
                if sent.data:
                    yield call.read(sent.json())
        raise httpx2.RemoteProtocolError("The stream ended.")
