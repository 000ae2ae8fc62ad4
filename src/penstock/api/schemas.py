"""Bodies and answers, for the document at `/openapi.json`; the tests hold every answer to them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from penstock.api.http.body_times import reject_numeric_times
from penstock.model.export import Which
from penstock.model.fairness import DEFAULT_PRIORITY, MAX_PRIORITY, PRIORITIES
from penstock.model.states import ItemStatus

SOME_ID = "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d"
ShownState = Literal[
    "queued", "delayed", "running", "paused", "cancelling", "done", "failed", "cancelled"
]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _times_are_written_out(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            reject_numeric_times(cls, given)
        return given


class FileShape(Shape):
    id: UUID
    name: str = Field(description="As it was uploaded.")
    size: int = Field(description="In bytes.")
    sha256: str
    media_type: str


class StoredFile(FileShape):
    created_at: datetime


class UploadShape(Shape):
    id: UUID
    name: str
    length: int = Field(description="Bytes of the whole file.")
    offset: int = Field(description="Bytes that are there.")
    file_id: UUID | None = Field(description="The file, once the upload is whole.")
    created_at: datetime
    expires_at: datetime = Field(description="What is not whole by then is removed.")


class Counters(Shape):
    """Items of the job by status; `total` is always their sum."""

    total: int
    pending: int
    processing: int
    done: int
    error: int
    not_found: int
    skipped: int


class Progress(Shape):
    percent: float = Field(description="From 0 to 100; never falls.")
    stage: str | None
    message: str
    rows_done: int
    rows_total: int = Field(description="Grows until all rows are stored.")
    elapsed_ms: int
    estimated_remaining_ms: int | None


class JobShape(Shape):
    id: UUID
    pipeline: str
    name: str
    state: ShownState
    priority: int
    lane: str
    lane_paused: bool = Field(description="Its lane stands still: an admin paused it.")
    org: str
    user_id: int
    owner: str | None = Field(description="E-mail address of who submitted it.")
    file: FileShape | None
    config: dict[str, Any]
    counters: Counters
    progress: Progress
    summary: dict[str, Any] | None
    cached_from: UUID | None = Field(
        description="The job whose results of the same file this one began with."
    )
    last_error: dict[str, Any] | None
    attempts: int
    created_at: datetime
    due_at: datetime | None = Field(description="It begins no sooner.")
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime


class FullJob(JobShape):
    errors: dict[str, int] = Field(description="How many items each error code ended.")
    header: list[str] | None = Field(description="Columns of the file, once it was read.")
    columns: list[str] | None = Field(description="Columns of the results, once they are known.")
    mapping: list[dict[str, Any]] | None = Field(
        description="Each column of the file: target, confidence, samples."
    )


class JobPage(Shape):
    items: list[JobShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class Receipt(Shape):
    job_id: UUID
    position: int = Field(description="Place among the jobs that wait.")
    estimated_wait_ms: int
    delayed_until: datetime | None = Field(
        None, description="Only where the queue is so full that the job has to begin later."
    )


class ItemShape(Shape):
    id: str = Field(description="`<jobId>:<rowNo>`")
    row_no: int
    status: ItemStatus
    stage: str | None
    attempts: int
    input: Any = Field(description="As read: cells by column where the file has a header.")
    normalized: dict[str, Any] | None
    result: dict[str, Any] | None = Field(description="What the export writes.")
    error: dict[str, Any] | None
    locked_by: str | None
    locked_at: datetime | None
    job_type: str
    due_at: datetime | None = Field(description="Waits until then, after a retry or for a limit.")
    updated_at: datetime


class ItemPage(Shape):
    items: list[ItemShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class EventShape(Shape):
    event: str
    job_id: UUID | None
    worker_id: str | None
    data: dict[str, Any]
    timestamp: datetime
    seq: int | None = Field(description="Numbered without gaps within the job.")


class EventPage(Shape):
    items: list[EventShape]
    next: int = Field(description="Pass as `since` to hear what happens after.")


class AllEvents(Shape):
    items: list[EventShape]
    next: str = Field(description="Pass as `since` to hear what happens after.")


class Kickoff(Shape):
    slices: int = Field(description="How many pieces of work were done in this request.")
    job: FullJob


class WorkerShape(Shape):
    id: str
    host: str
    pid: int
    started_at: datetime
    silent_ms: int = Field(description="Time since its last heartbeat.")
    slots: int
    figures: dict[str, Any] = Field(
        description="Load, sizes and rates as the worker told them, every two seconds."
    )


class WorkerCounts(Shape):
    active: int = Field(description="Workers that hold a slice.")
    idle: int
    total: int


class WorkerQueue(Shape):
    waiting: int
    active: int
    completed: int = Field(description="In the last hour; so is what follows.")
    failed: int


class WorkerPerformance(Shape):
    avg_processing_time: float | None = Field(description="From a job's start to its end, in s.")
    success_rate: float | None = Field(description="In percent; null: nothing has ended.")
    throughput: float = Field(description="Jobs that ended, per minute.")


class WorkerPage(Shape):
    workers: WorkerCounts
    queue: WorkerQueue
    performance: WorkerPerformance
    items: list[WorkerShape]


class ErrorShape(Shape):
    code: str
    message: str
    category: Literal["transient", "permanent"]
    source: str
    details: dict[str, Any]


class Problem(Shape):
    """An RFC 9457 problem."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    error: ErrorShape
    timestamp: datetime
    request_id: str


def _as_number(given: Any) -> Any:
    """A word or digits, as forms send them."""
    number = given
    if isinstance(given, str):
        number = PRIORITIES.get(given, int(given) if _WHOLE.fullmatch(given) else None)
    if type(number) is not int or not 0 <= number <= MAX_PRIORITY:
        words = ", ".join(PRIORITIES)
        raise PydanticCustomError("priority", f"use a number from 0 to {MAX_PRIORITY}, or {words}")
    return number


_WHOLE = re.compile(r"-?[0-9]{1,9}")


Priority = Annotated[
    Annotated[StrictInt, Field(ge=0, le=MAX_PRIORITY)],
    BeforeValidator(_as_number),
    Field(description=f"0 to {MAX_PRIORITY}, larger first, or {', '.join(PRIORITIES)}."),
]


class JobOrder(Shape):
    """What a new job is asked for with."""

    pipeline: str = "extraction"
    config: dict[str, Any] = Field(
        default_factory=dict,
        description="As the pipeline knows it.",
        examples=[{"intent": "merge", "currency": "EUR"}],
    )
    priority: Priority = DEFAULT_PRIORITY
    name: str = Field("", max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")
    file_id: UUID | None = Field(None, description="A file uploaded before.", examples=[SOME_ID])
    path: str | None = Field(
        None,
        min_length=1,
        max_length=4096,
        description="Or a file on the server, in a folder of `PENSTOCK_IMPORT_ROOTS`.",
    )
    url: str | None = Field(
        None,
        min_length=1,
        max_length=4096,
        description="Or a file on the web, fetched before this answers: http or https, at a public"
        " address.",
        examples=["https://supplier.example/prices.csv"],
    )

    @model_validator(mode="after")
    def _one_file(self) -> JobOrder:
        if sum(one is not None for one in (self.file_id, self.path, self.url)) > 1:
            raise ValueError("give one of `fileId`, `path` and `url`")
        return self

    def job_order(self) -> JobOrder:
        return self


class ExtractionOrder(Shape):
    """A job of the pipeline `extraction`, in the words of its older call."""

    upload_id: UUID | None = Field(None, description="A file uploaded before.", examples=[SOME_ID])
    config: dict[str, Any] = Field(default_factory=dict, description="As `extraction` knows it.")
    priority: Priority = DEFAULT_PRIORITY

    def job_order(self) -> JobOrder:
        return JobOrder.model_validate(
            {"config": self.config, "priority": self.priority, "fileId": self.upload_id}
        )


class ExtractionProgress(Shape):
    percent_complete: float
    current_step: str | None
    rows_processed: int
    rows_total: int
    elapsed_ms: int
    estimated_remaining_ms: int | None


class ExtractionError(Shape):
    code: str
    message: str
    details: dict[str, Any]


class ExtractionJob(Shape):
    """A job as its older call shows it."""

    job_id: UUID
    upload_id: UUID | None
    status: Literal["queued", "processing", "completed", "failed", "cancelled"]
    priority: int
    progress: ExtractionProgress
    retry_count: int
    result_ref: str | None = Field(description="Where the results are, once there are all.")
    summary: dict[str, Any] | None
    error: ExtractionError | None
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None


def split_commas(given: Any) -> Any:
    """`a,b` and `a&…=b` alike."""
    if not isinstance(given, list):
        return given
    return [word for text in given if isinstance(text, str) for word in text.split(",") if word]


def _in_bounds(moment: datetime) -> datetime:
    """Years the database can hold, whatever the zone."""
    if not 1970 <= moment.year < 9000:
        raise PydanticCustomError("moment", "use a year from 1970 to 8999")
    return moment


def _written(given: Any) -> Any:
    """JSON writes times as texts, which strict bodies take for nothing else."""
    try:
        return datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        return given


Moment = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_in_bounds)]
# No control characters; a lone surrogate cannot be written in a query.
PRINTABLE = r"^[^\x00-\x1f\x7f]*$"


class JobsQuery(Shape):
    state: Annotated[list[ShownState], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="One or several, with commas."
    )
    not_state: Annotated[list[ShownState], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="Not in these, one or several, with commas."
    )
    pipeline: str = Field("", pattern=r"^[A-Za-z0-9_.-]*$", max_length=64)
    q: str = Field(
        "",
        max_length=200,
        pattern=PRINTABLE,
        description="With this in the name, capitals or not.",
    )
    user_id: Literal["me"] | Annotated[int, Field(ge=1, le=2**63 - 1)] | None = Field(
        None, description="Of this user only, by id, or `me`."
    )
    since: Moment | None = Field(None, alias="from", description="Created then or later.")
    until: Moment | None = Field(None, alias="to", description="Created before.")
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class ItemsQuery(Shape):
    statuses: Annotated[list[ItemStatus], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="One or several, with commas; none: all."
    )
    code: str = Field(
        "", max_length=100, pattern=PRINTABLE, description="Items with this error only."
    )
    q: str = Field(
        "",
        max_length=200,
        pattern=PRINTABLE,
        description="Items with this text in their input or result, capitals or not.",
    )
    since: Moment | None = Field(None, alias="from", description="Changed then or later.")
    until: Moment | None = Field(None, alias="to", description="Changed before.")
    sort: Literal["row", "-row", "updated", "-updated"] = Field(
        "row",
        description="`updated`: longest untouched first; not with DONE, and without statuses of "
        "what waits and runs. `-` turns the order round.",
    )
    from_row: int | None = Field(None, ge=1, le=2**31 - 2, description="First row to show.")
    page_size: int = Field(100, ge=1, le=1000, description="With `q` at most 100.")
    after: str = Field("", description="`next` of the page before.")


class EventsQuery(Shape):
    since: int = Field(0, ge=0, le=10**18, description="Events after this number.")
    limit: int = Field(100, ge=1, le=1000)


class AllEventsQuery(Shape):
    since: str | None = Field(
        None,
        pattern=r"^(now|[0-9]{1,18}-[0-9]{1,18})$",
        description="A `next`, or `now`. A list begins at the first event without it.",
    )
    limit: int = Field(100, ge=1, le=1000)


class KickoffQuery(Shape):
    duration_ms: int = Field(5000, ge=1, le=60_000)


class ExportQuery(Shape):
    format: str = Field("csv", description="`csv`, `xlsx`, `json` or `ndjson`.")
    which: Which = Field(
        "all",
        description="All results, one line per problem, the supplier's own rows with it, or"
        " products that the file lacks.",
    )
    statuses: Annotated[list[ItemStatus], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="Rows of these only, one or several, with commas."
    )
    code: str = Field("", max_length=100, description="Rows that ended with this error only.")
    q: str = Field(
        "", max_length=200, pattern=r"^[^\x00]*$", description="Rows whose cells contain this."
    )


class LaneShape(Shape):
    lane: str
    jobs: int = Field(description="Live jobs.")
    running: int
    paused: bool
    paused_at: datetime | None
    paused_by: str | None
    reason: str | None


class LanePage(Shape):
    items: list[LaneShape]


class PauseLaneQuery(Shape):
    reason: str = Field("", max_length=500, description="Shown beside the paused lane.")


class Refusal(Shape):
    product_id: UUID
    row_no: int
    source: str | None = None
    source_id: str | None = None
    reason: str


class Undone(Shape):
    restored: int = Field(description="Products put back as they were.")
    deleted: int = Field(description="Products that the job had made.")
    refused_count: int
    refused: list[Refusal] = Field(description="Changed since, left alone; the first 1,000.")
    more: bool = Field(description="There is more to undo: ask again, with `next` as `after`.")
    next: UUID | None


class UndoQuery(Shape):
    dry_run: bool = Field(False, description="Only say what would be undone.")
    after: UUID | None = Field(None, description="`next` of the answer before.")


class ColumnRuleShape(Shape):
    target: str | None = Field(None, description="The field it fills; null: a custom field.")
    decimal: Literal["comma", "point"] | None = None
    dates: Literal["dmy", "mdy"] | None = None
    currency: str | None = None
    unit: str | None = None
    tax_included: bool | None = Field(None, alias="tax_included")


class ProfileShape(Shape):
    """Names as in its TOML, so that one is the other."""

    model_config = ConfigDict(extra="forbid", alias_generator=None)

    name: str
    version: int
    source: str = ""
    fingerprint: str | None = None
    columns: dict[str, ColumnRuleShape] = {}
    decimal: Literal["comma", "point"] | None = None
    dates: Literal["dmy", "mdy"] | None = None
    currency: str | None = None
    weight_unit: str | None = None
    length_unit: str | None = None
    required: list[str] | None = None
    rules: dict[str, Any] | None = None
    contract: Literal["evolve", "freeze", "discard_row", "discard_value"] = "evolve"
    winner: Literal["first", "last", "most_complete"] = "first"
    key: Literal["sku", "gtin", "sourceId"] = "sku"
    price_guard: float = Field(50, description="Percent; 0: prices may change unasked.")


class ListedProfile(ProfileShape):
    created_at: datetime = Field(alias="createdAt")


class ProfilePage(Shape):
    items: list[ListedProfile]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class ProfilesQuery(Shape):
    page_size: int = Field(100, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class ProductField(Shape):
    target: str = Field(description="The name a mapping uses.")
    description: str
    required: bool = Field(description="A product without it is refused.")
    many: bool = Field(description="Further columns may add to it, as `images.2`.")


class ProductFields(Shape):
    items: list[ProductField]


class ProfileQuery(Shape):
    version: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the latest.")


class PreviewRow(Shape):
    row_no: int
    cells: list[str] = Field(description="As read, in the order of `header`.")
    verdict: Literal["valid", "invalid", "discarded", "unknown"]
    result: dict[str, Any] | None
    problems: list[dict[str, Any]]
    match: str | None = Field(
        description="`new`, `changed`, `unchanged`, `duplicate`, `part` of another's product, or"
        " `held`: written only once it is accepted."
    )
    changes: list[dict[str, Any]]
    links: list[dict[str, Any]] = Field(
        description="Products of other sources that may be the same: productId, source, sourceId,"
        " sku, title, `by` gtin or mpn."
    )
    held: dict[str, Any] | None = Field(
        description="Why it would be held back: code, message, field, before, after."
    )
    duplicate_of: int | None = None
    part_of: int | None = None


class Preview(Shape):
    file_id: UUID | None = Field(description="The file, kept for a day: create the job with it.")
    reading: dict[str, Any] = Field(description="What was detected; see docs/formats.md.")
    header: list[str]
    rows_sampled: int
    rows_estimated: int
    profile: dict[str, Any]
    source: str = Field(description="Rows are compared with the products of this source.")
    warnings: list[dict[str, str]] = Field(description="What holds for all rows: code, message.")
    questions: list[dict[str, Any]] = Field(
        description="To be answered before a job is accepted: code, message, candidates."
    )
    mapping: list[dict[str, Any]] = Field(description="Each column: target, confidence, samples.")
    notes: list[str]
    columns: list[str] = Field(description="Columns of the results, in order.")
    rows: list[PreviewRow]
    summary: dict[str, Any]
