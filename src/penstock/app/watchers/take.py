"""Take one file of a watched place: claim, read, create its job, then keep, move, rename or
delete it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

from penstock.app.submission import submit_upload
from penstock.app.uploads import Upload, forget_upload
from penstock.app.watchers.watchers import order_of
from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.engine.submit import Order
from penstock.model.errors import (
    NotThere,
    PenstockError,
    TransientError,
    Unavailable,
    UnexpectedError,
    error_shape,
    file_too_large,
)
from penstock.model.ids import new_id
from penstock.model.places.names import DONE_FOLDER, TAKEN_SUFFIX
from penstock.model.places.ports import Place, PlaceFile
from penstock.model.text.media_types import media_type_of
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import Caller
from penstock.store.watchers import files
from penstock.store.watchers.files import KnownFile
from penstock.store.watchers.watchers import WatcherRow

_SOON_SECONDS = 5.0
_MAX_ATTEMPTS = 10
_FIRST_RETRY_SECONDS = 30.0
_LAST_RETRY_SECONDS = 3600.0
_LONGEST_NAME = 255


class FileTaker:
    """Takes files of one watcher, one after the other."""

    def __init__(self, runtime: Runtime, row: WatcherRow, creator: Principal, place: Place) -> None:
        self._runtime = runtime
        self._row = row
        self._creator = creator
        self._place = place
        self._claim_seconds = runtime.settings.lock_cap_ms / 1000

    async def take(self, known: KnownFile, file: PlaceFile, marker: PlaceFile | None) -> bool:
        """Whether a job was created. False: another scanner was faster, or the file changed while
        it was read. Raises what made it fail, after it was recorded."""
        claim = uuid4()
        async with self._runtime.db.transaction() as conn:
            if not await files.claim(conn, known.id, claim, self._claim_seconds):
                return False
        self._runtime.failpoints.reach("watch_after_claim")
        try:
            async with self._renewing_claim(known.id, claim):
                taken = await self._submit(known.id, claim, file)
        except PenstockError as error:
            await self._record_failure(known, claim, error)
            raise
        except TRANSIENT_DB_ERRORS:
            raise
        except Exception as error:
            self._runtime.log.error("a watched file failed", name=file.name, exc_info=True)
            failure = UnexpectedError("INTERNAL_ERROR", f"{type(error).__name__}: {error}")
            await self._record_failure(known, claim, failure)
            raise failure from error
        if taken:
            self._runtime.failpoints.reach("watch_after_submit")
            await self.finish(known.id, file, marker)
        return taken

    async def _submit(self, file_id: UUID, claim: UUID, file: PlaceFile) -> bool:
        upload = await self._read(file)
        try:
            now = await self._place.find(file.name)
            if now is None or now.version != file.version:
                async with self._runtime.db.transaction() as conn:
                    await files.forget_version(conn, file_id, claim)
                await forget_upload(self._runtime, upload)
                return False
            async with self._runtime.db.transaction() as conn:
                if not await files.lock_claim(conn, file_id, claim):
                    await forget_upload(self._runtime, upload)
                    return False
                receipt = await submit_upload(
                    self._runtime, conn, Caller(self._creator), self._order(upload), upload
                )
                finished = self._row.after_taken == "keep"
                await files.record_submit(conn, file_id, receipt.job_id, finished=finished)
                self._runtime.failpoints.reach("watch_before_commit")
        except PenstockError:
            await asyncio.shield(forget_upload(self._runtime, upload))
            raise
        await self._runtime.broker.send(Ticket(receipt.lane))
        return True

    def _order(self, upload: Upload) -> Order:
        asked = order_of(self._row.task)
        return Order(
            pipeline=asked.pipeline, config=asked.config, file_id=upload.id, name=upload.name[:200],
            content_sha256=upload.blob.sha256, made_from=f"watcher:{self._row.id}",
        )  # fmt: skip

    async def _read(self, file: PlaceFile) -> Upload:
        limit = self._runtime.settings.max_file_bytes
        if file.size > limit:
            raise file_too_large(limit)
        seconds = self._runtime.settings.watch_transfer_seconds
        try:
            async with asyncio.timeout(seconds), aclosing(self._place.read(file)) as pieces:
                blob = await self._runtime.blobs.put(pieces, limit)
        except TimeoutError:
            raise Unavailable(
                "PLACE_UNREACHABLE", f"{file.name} did not arrive within {seconds} s."
            ) from None
        name = file.name.rpartition("/")[2][-_LONGEST_NAME:]
        upload = Upload(new_id(), name, "", blob)
        try:
            kind = media_type_of(name, "", blob.head)
        except PenstockError:
            await forget_upload(self._runtime, upload)
            raise
        return Upload(upload.id, name, kind, blob)

    async def finish_again(self, file_id: UUID, file: PlaceFile, marker: PlaceFile | None) -> None:
        """Move, rename or delete a file that was submitted by a scanner that died before it did."""
        async with self._runtime.db.transaction() as conn:
            claimed = await files.claim_finish(conn, file_id, self._claim_seconds)
        if claimed:
            await self.finish(file_id, file, marker)

    async def finish(self, file_id: UUID, file: PlaceFile, marker: PlaceFile | None) -> None:
        """What the watcher does with a file whose job was created. A failure is recorded, and the
        next scan tries again."""
        error: dict[str, Any] | None = None
        try:
            if self._row.after_taken == "delete":
                await self._place.delete(file)
            elif self._row.after_taken == "move":
                await self._place.move(file, f"{DONE_FOLDER}/{file.name}")
            elif self._row.after_taken == "rename":
                await self._place.move(file, f"{file.name}{TAKEN_SUFFIX}")
            if marker is not None and self._row.after_taken != "keep":
                await self._place.delete(marker)
        except NotThere:
            # Moved already, or replaced by a newer version, which stays.
            pass
        except PenstockError as failure:
            error = error_shape(failure)
            self._runtime.log.warning(
                "a watched file cannot be moved, renamed or deleted", name=file.name, **error
            )
        async with self._runtime.db.transaction() as conn:
            await files.record_finish(conn, file_id, error is None, error)

    async def _record_failure(self, known: KnownFile, claim: UUID, error: PenstockError) -> None:
        # What is wrong with the place, our storage or the queue is no attempt of the file.
        counted = error.counted and not isinstance(error, Unavailable)
        retry: float | None = None
        if isinstance(error, TransientError) and known.attempts + counted < _MAX_ATTEMPTS:
            retry = _FIRST_RETRY_SECONDS * 2**known.attempts if counted else _SOON_SECONDS
            if error.retry_after_ms is not None:
                retry = max(retry, error.retry_after_ms / 1000)
            retry = min(retry, _LAST_RETRY_SECONDS)
        async with self._runtime.db.transaction() as conn:
            await files.record_failure(
                conn, known.id, claim, error_shape(error), counted=counted, retry_seconds=retry
            )

    @asynccontextmanager
    async def _renewing_claim(self, file_id: UUID, claim: UUID) -> AsyncIterator[None]:
        """Renew the claim while the file is read."""
        renewing = asyncio.create_task(self._renew(file_id, claim))
        try:
            yield
        finally:
            renewing.cancel()
            # Not with a suppressed CancelledError, which may be one of the scan itself.
            await asyncio.gather(renewing, return_exceptions=True)

    async def _renew(self, file_id: UUID, claim: UUID) -> None:
        while True:
            await asyncio.sleep(self._claim_seconds / 6)
            with suppress(*TRANSIENT_DB_ERRORS):
                async with self._runtime.db.transaction() as conn:
                    await files.renew(conn, file_id, claim, self._claim_seconds)
