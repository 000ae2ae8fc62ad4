"""The client for programs without an event loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from .resources import Resources, SyncResource
from .shapes import BatchResult, Event, File, Item, Job, Preview, Receipt, Reprocessed, Undone

T = TypeVar("T")


class Client(Resources[SyncResource]):
    """Penstock over HTTP. What may pass is tried again; a job is never submitted twice by that."""

    def __init__(
        self, url: str | None = None, key: str | None = None, *,
        patience: Patience | None = None, transport: httpx2.BaseTransport | None = None,
    ) -> None:  # fmt: skip
        address, headers = server_of(url, key)
        self._patience = patience or Patience()
        self._add_resources(SyncResource)
        self._http = httpx2.Client(
            base_url=address, headers=headers, timeout=TIMEOUT, transport=transport
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        self._http.close()

    def submit(
        self, file: Source | None = None, *, pipeline: str = "extraction",
        config: Mapping[str, Any] | None = None, priority: int | str = "medium", name: str = "",
        file_id: UUID | str | None = None, url: str | None = None, file_name: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:  # fmt: skip
        """Create a job of a file (a path, bytes or an open file), of one uploaded before, or of one
        that the server fetches from ``url``."""
        return self._do(
            calls.submit(
                file, pipeline=pipeline, config=config, priority=priority, name=name,
                file_id=file_id, url=url, file_name=file_name,
                idempotency_key=idempotency_key,
            )
        )  # fmt: skip

    def submit_many(self, jobs: Sequence[Mapping[str, Any]]) -> list[BatchResult]:
        """Create up to 200 jobs, each a mapping with the fields of a new job in the API. Answers
        one result for each, in order."""
        return self._do(calls.submit_many(jobs))

    def preview(
        self, file: Source | None = None, *, config: Mapping[str, Any] | None = None,
        file_id: UUID | str | None = None, url: str | None = None, file_name: str | None = None,
    ) -> Preview:  # fmt: skip
        """What a job would make of a file; nothing is written."""
        return self._do(
            calls.preview(file, config=config, file_id=file_id, url=url, file_name=file_name)
        )

    def research(self, query: str, **order: Any) -> Receipt:
        """Ask sources for products; ``price_range``, ``sources``, … as in the API."""
        return self._do(calls.order("/api/research", {"query": query, **order}))

    def import_shop(self, connection_id: UUID | str, **order: Any) -> Receipt:
        """Import products of a connected shop: ``all=True``, ``product_ids`` or ``since``."""
        fields = {"connectionId": str(connection_id), **order}
        return self._do(calls.order("/api/products/import", fields))

    def upload(self, file: Source, *, file_name: str | None = None) -> File:
        return self._do(calls.upload(file, file_name))

    def job(self, job_id: JobRef) -> Job:
        return self._do(calls.job(job_id))

    def jobs(self, **filters: Any) -> Iterator[Job]:
        """All jobs that match, newest first, page by page."""
        return self._pages(lambda after: calls.jobs(after, **filters))

    def items(self, job_id: JobRef, **filters: Any) -> Iterator[Item]:
        """A job's rows, page by page; filters as in the API: ``statuses``, ``code``, ``q``, …"""
        return self._pages(lambda after: calls.items(job_id, after, **filters))

    def listed(self, path: str, **filters: Any) -> Iterator[dict[str, Any]]:
        """Any other list, such as ``/api/products`` or ``/api/dead-letters``, page by page."""
        return self._pages(lambda after: calls.page(path, after, **filters))

    def pause(self, job_id: JobRef) -> Job:
        return self._do(calls.control(job_id, "pause"))

    def resume(self, job_id: JobRef) -> Job:
        return self._do(calls.control(job_id, "resume"))

    def cancel(self, job_id: JobRef) -> Job:
        return self._do(calls.control(job_id, "cancel"))

    def set_priority(self, job_id: JobRef, priority: int | str) -> Job:
        return self._do(calls.control(job_id, "priority", {"priority": priority}))

    def reprocess(self, job_id: JobRef, **selection: Any) -> Reprocessed:
        """Run failed rows again; ``statuses``, ``codes``, ``itemIds``, … as in the API."""
        return self._do(calls.reprocess(job_id, selection))

    def fix(self, job_id: JobRef, row_no: int, cells: Mapping[str, str | None]) -> Reprocessed:
        """Put cells of a row right and run the row again."""
        return self._do(calls.fix(job_id, row_no, cells))

    def edit(
        self, job_id: JobRef, change: Mapping[str, Any], select: Mapping[str, Any] | None = None, *,
        dry_run: bool = False,
    ) -> dict[str, Any]:  # fmt: skip
        """Change cells of all rows that match; with ``dry_run`` only count them."""
        return self._do(calls.edit(job_id, select or {}, change, dry_run))

    def undo_edit(self, job_id: JobRef) -> dict[str, Any]:
        """Undo the last edit of rows of the job."""
        return self._do(calls.undo_edit(job_id))

    def remap(self, job_id: JobRef, config: Mapping[str, Any]) -> Reprocessed:
        """Run all rows again with other options, without sending the file again."""
        return self._do(calls.remap(job_id, config))

    def undo(self, job_id: JobRef, *, dry_run: bool = False) -> Undone:
        """Undo what a job wrote to the catalog, all of it; with ``dry_run`` only count it."""
        undone = self._do(calls.undo(job_id, dry_run, None))
        while undone.more:
            undone = undone.plus(self._do(calls.undo(job_id, dry_run, undone.next)))
        return undone

    def clone(self, job_id: JobRef, **changes: Any) -> Receipt:
        return self._do(calls.clone(job_id, changes))

    def export(
        self, job_id: JobRef, to: str | Path, *, format: str = "csv", which: str = "all",
        **filters: Any,
    ) -> Path:  # fmt: skip
        """Write a job's rows to a file, which is there whole or not at all."""
        path = Path(to)
        part = beside(path)
        wanted = {"format": format, "which": which, **filters}
        try:
            with part.open("wb") as out:
                for piece in self.pieces(f"/api/jobs/{job_id}/export", **wanted):
                    out.write(piece)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return path

    def pieces(self, path: str, **options: Any) -> Iterator[bytes]:
        """Any export, such as ``/api/products/export``, as it comes in."""
        with (
            request_of(calls.export(path, **options)) as wanted,
            self._http.stream(**wanted) as response,
        ):
            if response.status_code >= 400:
                response.read()
                raise error_of(response)
            yield from response.iter_bytes()

    def wait(
        self, job_id: JobRef, *, timeout: float | None = None, check: bool = False,
        on_update: Callable[[Job], None] | None = None,
    ) -> Job:  # fmt: skip
        """Wait until the job has ended. ``on_update`` is called with the job meanwhile; ``check``
        raises JobFailed for a job that is not done."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = 0.1
        while True:
            job = self.job(job_id)
            if on_update is not None:
                on_update(job)
            if job.ended:
                if check and job.state != "done":
                    raise JobFailed(job)
                return job
            if until is not None and time.monotonic() + pause > until:
                raise TimeoutError(f"job {job_id} is {job.state} after {timeout} s")
            time.sleep(pause)
            pause = min(pause * 1.5, 2.0)

    def watch(self, job_id: JobRef, *, since: int = 0) -> Iterator[Event]:
        """A job's events, each once and in order, until the job has ended."""
        last = since
        attempts = Attempts(self._patience, calls.job_events(job_id, last))
        while True:
            try:
                for event in self._stream(calls.job_events(job_id, last)):
                    attempts.went_well()
                    last = event.seq or last
                    yield event
                    if event.event in ENDINGS and is_last(event, self.job(job_id)):
                        return
            except FAILURES as error:
                time.sleep(attempts.wait_after(error))

    def call(
        self, method: str, path: str, *, params: Mapping[str, Any] | None = None, body: Any = None
    ) -> Any:
        """Any call of the API, for what has no method here."""
        safe = method in ("GET", "PUT", "DELETE")
        return self._do(calls.any_call(method, path, params, body, safe))

    def _do(self, call: Call[T]) -> T:
        attempts = Attempts(self._patience, call)
        while True:
            try:
                with request_of(call) as wanted:
                    return answer_of(call, self._http.request(**wanted))
            except FAILURES as error:
                time.sleep(attempts.wait_after(error))

    def _pages(self, page: Callable[[str | None], Call[Page[T]]]) -> Iterator[T]:
        after: str | None = None
        while True:
            found = self._do(page(after))
            yield from found.items
            if found.next is None:
                return
            after = found.next

    def _stream(self, call: Call[Event]) -> Iterator[Event]:
        """What comes through one connection."""
        with self._http.sse(call.path, params=dict(call.params), timeout=STREAM_TIMEOUT) as source:
            if source.response.status_code >= 400:
                source.response.read()
                raise error_of(source.response)
            for sent in source:
                if sent.data:
                    yield call.read(sent.json())
        raise httpx2.RemoteProtocolError("The stream ended.")
