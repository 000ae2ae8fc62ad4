"""Dead letters as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field, model_validator

from penstock.api.http.answers import stored
from penstock.api.http.schemas import Moment, Shape, split_commas
from penstock.app.dead_letters import Done
from penstock.store.jobs.dead_letters import LetterDetails, LetterGroup, LetterRow, Matching

LetterState = Literal["open", "reprocessed", "discarded"]
_PLAIN = r"^[^\x00-\x1f\x7f]*$"


class LetterShape(Shape):
    id: UUID
    state: LetterState
    job_id: UUID
    row_no: int | None = Field(description="Of a delivery, its item; null: the job itself.")
    org: str
    user_id: int
    pipeline: str
    name: str
    file_id: UUID | None
    priority: int
    attempts: int = Field(description="Runs that came to nothing.")
    code: str
    message: str
    signature: str = Field(description="The same for failures of the same kind.")
    first_failed_at: datetime
    last_failed_at: datetime
    new_job_id: UUID | None = Field(description="The job it was run again as.")
    reason: str | None = Field(description="Why it was discarded.")
    closed_by: int | None
    closed_at: datetime | None


class FullLetter(LetterShape):
    config: dict[str, Any]
    details: dict[str, Any]
    trace: str | None = Field(description="For admins only; null for others.")


class LetterPage(Shape):
    items: list[LetterShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class GroupShape(Shape):
    signature: str
    pipeline: str | None
    code: str | None
    message: str | None = Field(description="Of the newest letter.")
    count: int = Field(description="Open letters.")
    first_failed_at: datetime = Field(description="Since the group was last without open letters.")
    last_failed_at: datetime
    newest_letter_id: UUID


class GroupPage(Shape):
    items: list[GroupShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class Refused(Shape):
    id: UUID
    code: str
    message: str


class BulkLetters(Shape):
    dry_run: bool
    count: int = Field(description="Letters that were changed, or would be.")
    jobs: list[UUID] = Field(description="The jobs that were made.")
    refused: list[Refused] = Field(description="Letters that stay open, and why.")
    more: bool = Field(description="More match than one call takes, or a dry run counts.")
    next: str | None = Field(description="Pass as `after` to go on behind what was refused.")


class _Which(Shape):
    signature: str = Field("", pattern=r"^[A-Za-z0-9_.:-]*$", max_length=200)
    code: str = Field("", pattern=r"^[A-Z0-9_]*$", max_length=64)
    pipeline: str = Field("", pattern=r"^[A-Za-z0-9_.-]*$", max_length=64)
    since: Moment | None = Field(None, description="Failed for good then or later.")
    until: Moment | None = Field(None, description="… and before this.")
    after: str = Field("", description="`next` of the answer before.")

    def matching(self) -> Matching:
        return Matching(
            self.signature or None, self.code or None, self.pipeline or None, self.since, self.until
        )


class LettersQuery(_Which):
    state: Annotated[list[LetterState], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="One or several, with commas; none: all."
    )
    page_size: int = Field(50, ge=1, le=200)


class GroupsQuery(Shape):
    page_size: int = Field(100, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class BulkReprocessOrder(_Which):
    """Open letters that match all that is given."""

    all: bool = Field(False, description="Really all of them, which an empty filter does not say.")
    dry_run: bool = Field(False, description="Only count.")

    @model_validator(mode="after")
    def _says_which(self) -> BulkReprocessOrder:
        if self.all or self.matching() != Matching():
            return self
        raise ValueError("an empty filter would match every letter: say `all` if you mean that")


class DiscardOrder(Shape):
    reason: str = Field(min_length=1, max_length=500, pattern=_PLAIN)


class BulkDiscardOrder(BulkReprocessOrder):
    reason: str = Field(min_length=1, max_length=500, pattern=_PLAIN)


def letter_shape(row: LetterRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "state": row.state,
        "jobId": str(row.job_id),
        "rowNo": row.row_no,
        "org": row.org,
        "userId": row.user_id,
        "pipeline": row.pipeline,
        "name": row.name,
        "fileId": None if row.file_id is None else str(row.file_id),
        "priority": row.priority,
        "attempts": row.attempts,
        "code": row.code,
        "message": row.message,
        "signature": row.signature,
        "firstFailedAt": row.first_failed_at,
        "lastFailedAt": row.last_failed_at,
        "newJobId": None if row.new_job_id is None else str(row.new_job_id),
        "reason": row.reason,
        "closedBy": row.closed_by,
        "closedAt": row.closed_at,
    }


def full_letter_shape(row: LetterDetails, trace: str | None) -> dict[str, Any]:
    return letter_shape(row) | {
        "config": stored(row.config),
        "details": stored(row.details),
        "trace": trace,
    }


def group_shape(row: LetterGroup) -> dict[str, Any]:
    return {
        "signature": row.signature,
        "pipeline": row.pipeline,
        "code": row.code,
        "message": row.message,
        "count": row.open,
        "firstFailedAt": row.first_failed_at,
        "lastFailedAt": row.last_failed_at,
        "newestLetterId": str(row.newest),
    }


def done_shape(done: Done, *, dry_run: bool, following: str | None) -> dict[str, Any]:
    return {
        "dryRun": dry_run,
        "count": done.letters,
        "jobs": [str(job_id) for job_id in done.jobs],
        "refused": [
            {"id": str(letter_id), "code": error.code, "message": error.message}
            for letter_id, error in done.refused
        ],
        "more": done.more,
        "next": following,
    }
