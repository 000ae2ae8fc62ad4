"""Watchers as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import PRINTABLE, OrgQuery, Shape
from penstock.app.owned import may_change
from penstock.app.watchers.watchers import WatcherOrder, WatcherTest
from penstock.model.errors import error_shape
from penstock.store.accounts.audit_log import Caller
from penstock.store.watchers.files import WatchedFileRow
from penstock.store.watchers.watchers import WatcherRow, WatcherTask

Kind = Literal["folder", "s3", "ftp", "sftp", "imap"]
Then = Literal["keep", "move", "rename", "delete"]
CompleteBy = Literal["unchanged", "marker"]
FileState = Literal["seen", "taking", "submitted", "failed"]
_NEXT = "Pass as `after` for the next page; null on the last."
_CREDENTIALS = (
    "By name: `user` and `password` for ftp, sftp and imap, or `privateKey` for sftp; `accessKeyId`"
    " and `secretAccessKey` for s3. They are stored encrypted and never shown."
)
_ADDRESS = (
    "`/data/incoming` for a folder; `s3://bucket/prefix`, with `?endpoint=https://…&region=…` for"
    " other services than AWS; `ftp://host/folder`, `ftps://host/folder`, `sftp://host/folder`;"
    " `imaps://host/INBOX`."
)
_PATTERN = "Names of files, such as `*.csv, prices/*.xlsx`; `**` stands for any folders."
_THEN = (
    "What happens to a file after its job was created: `move` puts it into the folder `done`,"
    " `rename` adds `.taken` to its name."
)
_COMPLETE_BY = (
    "When a file is complete: its size and time have not changed for a while, or there is a file"
    " `NAME.done` beside it."
)
_TEST = "False stores it without listing the place, which may be out of reach."
_EVERY = "Seconds between scans; null: only on request. Left out: as the server is set."


class WatcherJob(Shape):
    pipeline: str = Field("extraction", max_length=50)
    config: dict[str, Any] = Field(
        default_factory=dict, description="The config of its jobs, as `POST /api/jobs` takes it."
    )
    profile: str | None = Field(
        None, max_length=100, description="The profile of its files; part of the config, too."
    )

    def document(self) -> dict[str, Any]:
        config = dict(self.config)
        if self.profile is not None:
            config["profile"] = self.profile
        return {"pipeline": self.pipeline, "config": config}


class NewWatcher(Shape):
    name: str = Field(min_length=1, max_length=200, pattern=PRINTABLE)
    kind: Kind
    address: str = Field(min_length=1, max_length=1000, pattern=PRINTABLE, description=_ADDRESS)
    credentials: dict[str, str] = Field(
        default_factory=dict, max_length=10, description=_CREDENTIALS
    )
    pattern: str = Field("*", min_length=1, max_length=500, pattern=PRINTABLE, description=_PATTERN)
    then: Then = Field("keep", description=_THEN)
    complete_by: CompleteBy = Field("unchanged", description=_COMPLETE_BY)
    job: WatcherJob = Field(default_factory=WatcherJob)
    enabled: bool = True
    every_seconds: int | None = Field(None, ge=1, le=86_400, description=_EVERY)
    test: bool = Field(True, description=_TEST)

    def order(self, default_every: int) -> WatcherOrder:
        every = self.every_seconds
        if "every_seconds" not in self.model_fields_set:
            every = default_every
        task = WatcherTask(
            self.name, self.pattern, self.then, self.complete_by, self.job.document(),
            self.enabled, every,
        )  # fmt: skip
        return WatcherOrder(self.kind, self.address, self.credentials, task)


class ChangedWatcher(Shape):
    """The place cannot change: the credentials would go to another server."""

    name: str | None = Field(None, min_length=1, max_length=200, pattern=PRINTABLE)
    pattern: str | None = Field(
        None, min_length=1, max_length=500, pattern=PRINTABLE, description=_PATTERN
    )
    then: Then | None = Field(None, description=_THEN)
    complete_by: CompleteBy | None = Field(None, description=_COMPLETE_BY)
    job: WatcherJob | None = None
    enabled: bool | None = None
    every_seconds: int | None = Field(None, ge=1, le=86_400, description=_EVERY)

    def changes(self) -> dict[str, Any]:
        """What was given, by the names of `WatcherTask`. Null stands for itself only where it is
        allowed: no interval."""
        names = {"then": "after_taken"}
        given = {
            names.get(name, name): getattr(self, name)
            for name in self.model_fields_set
            if name == "every_seconds" or getattr(self, name) is not None
        }
        if self.job is not None:
            given["job"] = self.job.document()
        return given


class WatcherCredentials(Shape):
    credentials: dict[str, str] = Field(max_length=10, description=_CREDENTIALS)
    test: bool = Field(True, description=_TEST)


class WatcherProblem(Shape):
    code: str
    message: str


class ScanErrorShape(Shape):
    watcher_id: UUID
    name: str = Field(description="The file; empty if the place itself cannot be read.")
    code: str
    message: str


class ScanShape(Shape):
    found: int = Field(description="Files that match.")
    submitted: int = Field(description="Jobs that were created.")
    skipped: int = Field(description="Files that are not complete yet, or were taken before.")
    errors: list[ScanErrorShape] = Field(description="The first 100 files that failed.")


class WatcherShape(Shape):
    id: UUID
    org: str
    user_id: int = Field(description="Its creator, in whose name its jobs run.")
    name: str
    kind: Kind
    address: str
    pattern: str
    then: Then
    complete_by: CompleteBy
    job: WatcherJob
    enabled: bool
    every_seconds: int | None
    next_scan_at: datetime | None = Field(description="Null where it scans only on request.")
    scanned_at: datetime | None
    last_scan: ScanShape | None
    error: WatcherProblem | None = Field(description="Why the last scan could not read the place.")
    host_key: str | None = Field(description="Fingerprint of the server's key (sftp).")
    has_credentials: bool
    may_change: bool
    created_at: datetime
    updated_at: datetime


class WatcherPage(Shape):
    items: list[WatcherShape]
    next: str | None = Field(description=_NEXT)


class WatchersQuery(OrgQuery):
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class FoundFile(Shape):
    name: str
    size: int
    modified_at: datetime | None


class WatcherTestShape(Shape):
    ok: bool
    listed: int = Field(description="Files in the place.")
    matching: int = Field(description="Files that match the pattern.")
    first: list[FoundFile] = Field(description="The first of these.")
    error: WatcherProblem | None


class DeletedWatcher(Shape):
    id: UUID


class WatchedFileShape(Shape):
    id: UUID
    name: str
    size: int
    modified_at: datetime | None
    state: FileState
    attempts: int
    next_try_at: datetime | None = Field(description="When a failed file is tried again.")
    error: WatcherProblem | None
    job_id: UUID | None
    finished: bool = Field(description="Whether it was kept, moved or deleted as asked.")
    first_seen_at: datetime
    updated_at: datetime


class WatchedFilePage(Shape):
    items: list[WatchedFileShape]
    counts: dict[FileState, int] = Field(description="All files of the watcher, by state.")
    next: str | None = Field(description=_NEXT)


class WatchedFilesQuery(Shape):
    state: FileState | None = None
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class ScanOrder(Shape):
    watcher_id: UUID | None = Field(None, description="Left out: all enabled ones of your org.")


def watcher_shape(row: WatcherRow, caller: Caller) -> dict[str, Any]:
    task = row.task
    config = dict(task.job["config"])
    profile = config.get("profile")
    return {
        "id": str(row.id),
        "org": row.org,
        "userId": row.user_id,
        "name": row.name,
        "kind": row.kind,
        "address": row.address,
        "pattern": row.pattern,
        "then": row.after_taken,
        "completeBy": row.complete_by,
        "job": {
            "pipeline": task.job["pipeline"], "config": config,
            "profile": profile if isinstance(profile, str) else None,
        },
        "enabled": row.enabled,
        "everySeconds": row.every_seconds,
        "nextScanAt": row.next_scan_at if row.enabled and row.every_seconds else None,
        "scannedAt": row.scanned_at,
        "lastScan": stored(row.last_scan),
        "error": stored(row.error),
        "hostKey": row.host_key,
        "hasCredentials": row.sealed,
        "mayChange": may_change(caller, row),
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }  # fmt: skip


def test_shape(result: WatcherTest) -> dict[str, Any]:
    return {
        "ok": result.error is None,
        "listed": result.listed,
        "matching": result.matching,
        "first": [
            {"name": one.name, "size": one.size, "modifiedAt": one.modified} for one in result.first
        ],
        "error": None if result.error is None else error_shape(result.error),
    }


def file_shape(row: WatchedFileRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "name": row.name,
        "size": row.size,
        "modifiedAt": row.modified_at,
        "state": row.state,
        "attempts": row.attempts,
        "nextTryAt": row.next_try_at,
        "error": stored(row.error),
        "jobId": None if row.job_id is None else str(row.job_id),
        "finished": row.finished,
        "firstSeenAt": row.first_seen_at,
        "updatedAt": row.updated_at,
    }
