"""What control and bulk actions are asked for with, and what they answer."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, StrictInt, model_validator

from penstock.api.http.schemas import Moment, Priority, Shape
from penstock.api.jobs.schemas import FullJob, ShownState
from penstock.model.bulk import BulkAction, JobFilter
from penstock.model.held_rows import HELD_CODES
from penstock.model.reprocess import Selection

MOST_ROWS_NAMED = 5000
MOST_JOBS_NAMED = 1000
_EndedStatus = Literal["DONE", "ERROR", "NOT_FOUND", "SKIPPED"]
_RowNo = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]
_Code = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]
_Word = Annotated[str, Field(min_length=1, max_length=200)]


class PriorityOrder(Shape):
    priority: Priority


class ReprocessOrder(Shape):
    """Which ended items run again, and how. Nothing said: all that failed."""

    scope: Literal["job", "items"] | None = Field(
        None,
        description="`job`: also take up what a failed or cancelled job left undone. `items`: only"
        " these. Without it, `items` where `itemIds` are given.",
    )
    item_ids: list[_RowNo] = Field(
        default_factory=list,
        min_length=1,
        max_length=MOST_ROWS_NAMED,
        description="Row numbers; left out: whatever their number.",
    )
    statuses: list[_EndedStatus] = Field(
        default_factory=list,
        description="ERROR and NOT_FOUND if none is given; and, of a job that failed or was"
        " cancelled, the items that were SKIPPED by that.",
    )
    codes: list[_Code] = Field(
        default_factory=list, max_length=100, description="Only those with one of these errors."
    )
    reset_attempts: bool = Field(
        False,
        description="Give each item all its tries again. Else what has used them up is left out,"
        " and counted.",
    )
    from_start: bool = Field(
        False, description="From the first stage, not the one in which the item ended."
    )
    stage: str | None = Field(
        None,
        pattern=r"^[a-z_]{1,50}$",
        description="Only items that ended in this stage, such as `extract` of a crawl: stored"
        " pages are extracted again, and none is fetched.",
    )
    accept: bool = Field(
        False,
        description="Write rows that were held back (`PRICE_CHANGE_HELD`, `GTIN_CHANGE_HELD`): of"
        " these `itemIds` or `codes`, or all of the job.",
    )

    @model_validator(mode="after")
    def _says_which(self) -> ReprocessOrder:
        if self.scope == "job" and self.item_ids:
            raise ValueError("itemIds go with the scope `items`")
        if self.accept:
            self._accepts_only_held()
            return self
        if self.scope == "items" and not (self.item_ids or self.statuses or self.codes):
            raise ValueError("the scope `items` needs itemIds, statuses or codes")
        if self.stage is not None and self.from_start:
            raise ValueError("an item runs from the start or from a stage")
        return self

    def _accepts_only_held(self) -> None:
        if self.from_start or self.statuses or self.stage:
            raise ValueError("accept goes with itemIds and codes alone")
        if not set(self.codes) <= set(HELD_CODES):
            raise ValueError(f"accept takes rows held back by {' or '.join(HELD_CODES)}")

    def selection(self) -> Selection:
        scope = self.scope or ("items" if self.item_ids else "job")
        return Selection.of_json(self.model_dump(by_alias=True) | {"scope": scope})


class FixOrder(Shape):
    """Cells by the names of their columns."""

    input: dict[str, Annotated[str, Field(max_length=100_000)]] = Field(
        min_length=1, examples=[{"price": "9.95"}]
    )


class RemapOrder(Shape):
    """Options of the job's pipeline that change; the others stay."""

    config: dict[str, Any] = Field(min_length=1, examples=[{"currency": "EUR"}])


class CloneOrder(Shape):
    """What shall be different; all else is as the old job has it."""

    priority: Priority | None = None
    config: dict[str, Any] = Field(
        default_factory=dict, description="Fields that take the place of the old job's."
    )


class Reprocessed(Shape):
    reprocessed: int = Field(description="Items that wait again.")
    left_out: int = Field(description="Meant, but not in a state for it or without tries left.")
    operation_id: UUID | None = Field(
        None, description="Of a large job, what goes on with the rest: `/api/bulk/{id}`."
    )
    job: FullJob


class RetriedJobs(Shape):
    retried_count: int
    jobs: list[UUID]
    more: bool = Field(description="There are more: ask again.")


class BulkFilter(Shape):
    """Jobs that match all that is given."""

    states: list[ShownState] | None = Field(None, min_length=1, examples=[["queued", "paused"]])
    pipeline: _Word | None = None
    lane: _Word | None = None
    user_id: Annotated[StrictInt, Field(ge=1, le=2**62)] | None = None
    org: _Word | None = Field(None, description="By name; admins only.")
    name: _Word | None = Field(None, description="The job's name contains this.")
    created_after: Moment | None = None
    created_before: Moment | None = None
    job_ids: list[UUID] | None = Field(None, min_length=1, max_length=MOST_JOBS_NAMED)
    all: bool = Field(False, description="Really every job, which an empty filter does not say.")

    @model_validator(mode="after")
    def _says_which(self) -> BulkFilter:
        if self.all or self.model_dump(exclude_none=True, exclude={"all"}):
            return self
        raise ValueError("an empty filter would match every job: say `all` if you mean that")

    def wanted(self) -> JobFilter:
        return JobFilter(
            states=None if self.states is None else tuple(self.states),
            pipeline=self.pipeline,
            lane=self.lane,
            user_id=self.user_id,
            org=self.org,
            name=self.name,
            created_after=self.created_after,
            created_before=self.created_before,
            job_ids=None if self.job_ids is None else tuple(self.job_ids),
        )


class NoParams(Shape):
    """The action needs nothing else."""


PARAMS: dict[BulkAction, type[BaseModel]] = {
    BulkAction.PAUSE: NoParams,
    BulkAction.RESUME: NoParams,
    BulkAction.CANCEL: NoParams,
    BulkAction.PRIORITY: PriorityOrder,
    BulkAction.REPROCESS: ReprocessOrder,
    BulkAction.CLONE: CloneOrder,
}


class BulkOrder(Shape):
    action: Literal[
        BulkAction.PAUSE, BulkAction.RESUME, BulkAction.CANCEL, BulkAction.PRIORITY,
        BulkAction.REPROCESS, BulkAction.CLONE,
    ]  # fmt: skip
    filter: BulkFilter
    params: dict[str, Any] = Field(
        default_factory=dict,
        description="Of `priority`, `reprocess` and `clone`, as the body of that call on one job.",
    )
    dry_run: bool = Field(False, description="Only count.")


class BulkCount(Shape):
    count: int
    capped: bool = Field(description="There are at least so many.")


class BulkReceipt(Shape):
    operation_id: UUID
    matched: int
    capped: bool = Field(description="At least so many; the operation goes on counting.")


class OperationShape(Shape):
    id: UUID
    action: BulkAction
    filter: dict[str, Any]
    params: dict[str, Any]
    org: str
    user_id: int
    state: Literal["counting", "running", "done", "aborted", "failed"]
    matched: int = Field(description="Jobs that matched when it was asked for.")
    changed: int
    left_out: int = Field(description="Jobs in no state for the action, or no longer matching.")
    failed: int
    errors: list[dict[str, Any]] = Field(description="The first few.")
    items: int = Field(description="Items reopened, by `reprocess`.")
    items_left_out: int
    percent: float
    asked_at: datetime
    updated_at: datetime
    finished_at: datetime | None


class OperationPage(Shape):
    items: list[OperationShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class OperationsQuery(Shape):
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class RetryQuery(Shape):
    since: Moment | None = Field(None, description="Ended since then; else within a day.")


class RetryAnyQuery(RetryQuery):
    pipeline: str = Field(
        "", pattern=r"^[A-Za-z0-9_.-]*$", max_length=64, description="Jobs of this pipeline only."
    )
