"""Scan a watched place: every complete file becomes one job.

Any number of processes may scan the same place at the same time. Each version of a file is a unique
row. A scanner claims the row before it reads the file, and creates the job in the transaction that
ends its claim, so that a scanner that died or was too slow creates none.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.app.watchers.take import FileTaker
from penstock.app.watchers.watchers import address_of
from penstock.engine.runtime import Runtime
from penstock.model.errors import PenstockError, PermanentError, error_shape
from penstock.model.places.names import DONE_MARKER, depth_of, is_selected, matches
from penstock.model.places.ports import Place, PlaceFile, PlaceLimits
from penstock.store.accounts.accounts import Principal
from penstock.store.watchers import files
from penstock.store.watchers import watchers as store
from penstock.store.watchers.files import KnownFile
from penstock.store.watchers.watchers import WatcherRow

# Errors that one scan reports; further ones are in the list of files.
_MAX_ERRORS = 100
_SCAN_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ScanError:
    """``name`` is the file's; empty if the place itself cannot be read."""

    watcher_id: UUID
    name: str
    code: str
    message: str


@dataclass(slots=True)
class ScanResult:
    """How many files match, how many became jobs, and how many wait or were taken before."""

    found: int = 0
    submitted: int = 0
    skipped: int = 0
    errors: list[ScanError] = field(default_factory=list)

    def add(self, other: ScanResult) -> None:
        self.found += other.found
        self.submitted += other.submitted
        self.skipped += other.skipped
        self.errors = (self.errors + other.errors)[:_MAX_ERRORS]

    def as_json(self) -> dict[str, Any]:
        return {
            "found": self.found,
            "submitted": self.submitted,
            "skipped": self.skipped,
            "errors": [
                {"watcherId": str(one.watcher_id), "name": one.name, "code": one.code,
                 "message": one.message}
                for one in self.errors
            ],
        }  # fmt: skip


async def scan(runtime: Runtime, watcher_id: UUID, seconds: float = _SCAN_SECONDS) -> ScanResult:
    """Scan one watcher. After ``seconds`` no further file is read: the next scan continues."""
    until = time.monotonic() + seconds
    async with runtime.db.acquire() as conn:
        row = await store.get_watcher(conn, watcher_id)
        if row is None:
            return ScanResult()
        creator = await store.creator_of(conn, watcher_id)
    try:
        if creator is None:
            raise PermanentError(
                "INSUFFICIENT_PERMISSIONS",
                "The user who created this watcher may not create jobs any more.",
            )
        result = await _scan(runtime, row, creator, until)
    except PenstockError as error:
        shown = error_shape(error)
        runtime.log.warning("a watched place cannot be read", watcher=str(watcher_id), **shown)
        async with runtime.db.transaction() as conn:
            await store.save_scan_failure(conn, watcher_id, shown)
        return ScanResult(errors=[ScanError(watcher_id, "", **shown)])
    async with runtime.db.transaction() as conn:
        await store.save_scan(conn, watcher_id, result.as_json())
    return result


async def _scan(runtime: Runtime, row: WatcherRow, creator: Principal, until: float) -> ScanResult:
    async with runtime.db.acquire() as conn:
        credentials = await store.open_credentials(conn, runtime.sealer, row.id)
    limits = PlaceLimits(transfer_seconds=runtime.settings.watch_transfer_seconds)
    async with runtime.places.open(address_of(row, credentials), limits) as place:
        if row.host_key is None and place.host_key is not None:
            async with runtime.db.transaction() as conn:
                await store.save_host_key(conn, row.id, place.host_key)
        return await _Scanner(runtime, row, creator, place).run(until)


class _Scanner:
    """One scan of one watcher."""

    def __init__(self, runtime: Runtime, row: WatcherRow, creator: Principal, place: Place) -> None:
        self._runtime = runtime
        self._row = row
        self._taking = FileTaker(runtime, row, creator, place)
        self._place = place
        self._result = ScanResult()
        self._markers: dict[str, PlaceFile] = {}

    async def run(self, until: float) -> ScanResult:
        listing = await self._place.list(depth_of(self._row.pattern))
        for name, why in listing.refused:
            if matches(self._row.pattern, name):
                self._add_error(name, "BAD_FILENAME", f"The file's name is refused: {why}.")
        found = [
            one for one in listing.files
            if is_selected(one.name) and matches(self._row.pattern, one.name)
        ]  # fmt: skip
        self._markers = {one.name: one for one in listing.files if one.name.endswith(DONE_MARKER)}
        if not listing.cut:
            await self._finish_missing([one.name for one in listing.files])
        self._result.found = len(found)
        self._result.skipped = len(found)
        known = await self._record(found)
        for file in sorted(found, key=_by_age):
            if time.monotonic() > until:
                break
            row = known.get((file.name, file.version))
            if row is not None:
                await self._handle(file, row)
        return self._result

    async def _finish_missing(self, names: Sequence[str]) -> None:
        seconds = self._runtime.settings.lock_cap_ms / 1000
        async with self._runtime.db.transaction() as conn:
            await files.finish_missing(conn, self._row.id, names, seconds)

    async def _record(self, found: Sequence[PlaceFile]) -> dict[tuple[str, str], KnownFile]:
        if not found:
            return {}
        async with self._runtime.db.transaction() as conn:
            rows = await files.record_seen(conn, self._row.org_id, self._row.id, found)
        return {(one.name, one.version): one for one in rows}

    async def _handle(self, file: PlaceFile, row: KnownFile) -> None:
        marker = self._markers.get(file.name + DONE_MARKER)
        if row.state == "submitted" and not row.finished:
            await self._taking.finish_again(row.id, file, marker)
            return
        if not row.takeable or not self._is_complete(file, row, marker):
            return
        try:
            taken = await self._taking.take(row, file, marker)
        except PenstockError as error:
            self._result.skipped -= 1
            self._add_error(file.name, **error_shape(error))
            return
        if taken:
            self._result.skipped -= 1
            self._result.submitted += 1

    def _is_complete(self, file: PlaceFile, row: KnownFile, marker: PlaceFile | None) -> bool:
        if file.appears_complete:
            return True
        if self._row.complete_by == "marker":
            # A marker that is older belongs to an earlier version of the file.
            return marker is not None and not (
                marker.modified and file.modified and marker.modified < file.modified
            )
        seconds = self._runtime.settings.watch_settle_ms / 1000
        return max(file.unchanged_seconds, row.seen_seconds) >= seconds

    def _add_error(self, name: str, code: str, message: str) -> None:
        if len(self._result.errors) < _MAX_ERRORS:
            self._result.errors.append(ScanError(self._row.id, name, code, message))


def _by_age(file: PlaceFile) -> tuple[float, str]:
    """Oldest first, so that updates of the same products are applied in their order."""
    return (file.modified.timestamp() if file.modified else 0.0, file.name)
