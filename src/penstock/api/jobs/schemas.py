"""Jobs and items as the API takes and shows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    BeforeValidator,
    Field,
    field_validator,
    model_validator,
)

from penstock.api.files.schemas import FileShape
from penstock.api.http.schemas import PRINTABLE, SOME_ID, Moment, Priority, Shape, split_commas
from penstock.model.export import Which
from penstock.model.exports.variants import VariantShape
from penstock.model.fairness import DEFAULT_PRIORITY
from penstock.model.states import ItemStatus

ShownState = Literal[
    "queued", "delayed", "running", "paused", "cancelling", "done", "failed", "cancelled"
]


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
    rows_run: int = Field(
        description="Rows that ended in this run. After some rows of a job ran again, only these."
    )
    elapsed_ms: int
    estimated_remaining_ms: int | None


class JobShape(Shape):
    id: UUID
    pipeline: str
    name: str
    state: ShownState
    priority: int
    lane: str
    standing: bool = Field(
        description="It sends webhooks or notifications as they come, and never ends."
    )
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
    undone_at: datetime | None = Field(
        description="When its changes of products were undone; null again once its rows run again."
    )
    updated_at: datetime


class PhaseShape(Shape):
    phase: str
    open: int = Field(description="Items that are in this phase.")


class JobProfile(Shape):
    name: str
    version: int


class FullJob(JobShape):
    pruned_at: datetime | None = Field(
        description="Since when its rows are deleted by retention; counters and summary stay."
    )
    errors: dict[str, int] = Field(description="How many items each error code ended.")
    header: list[str] | None = Field(description="Columns of the file, once it was read.")
    lines: list[list[int]] = Field(
        description="Where rows are in the file, as pairs of a row and its line (of a workbook: the"
        " row of the sheet): from this row on the line grows with the row. Line 0: unknown from"
        " there on. Empty for JSON and XML, and until the file is read."
    )
    columns: list[str] | None = Field(description="Columns of the results, once they are known.")
    mapping: list[dict[str, Any]] | None = Field(
        description="Each column of the file: target, confidence, samples."
    )
    source: str | None = Field(
        description="Of a file: the source that its products belong to, once columns are mapped."
    )
    profile: JobProfile | None = Field(
        description="The saved profile that the columns were read by; null if they were proposed."
    )
    created_by: str | None = Field(description="The same as `owner`.")
    phase: str | None = Field(
        description="Of an import: `queued`, `fetching`, `mapping`, `creating`,"
        " `downloading_images`, `uploading_images`, `thumbnails`, `finalising`, `done`, `failed` or"
        " `cancelled`. The earliest that has open items: products of one page are created while the"
        " next one is fetched."
    )
    phases: list[PhaseShape] | None = Field(description="Open items of each phase of an import.")
    provider: str | None = Field(description="Of an import: the kind of shop.")
    total_products: int | None = Field(
        description="Of an import: products that were asked for, or that the shop has listed."
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
    line: int | None = Field(
        description="The line of the file, or the row of the sheet; null if it is not known."
    )
    status: ItemStatus
    shown: str | None = Field(description="The pipeline's words for this status; null: the usual.")
    stage: str | None
    attempts: int
    input: Any = Field(description="As read: cells by column where the file has a header.")
    normalized: dict[str, Any] | None
    result: dict[str, Any] | None = Field(description="What the export writes.")
    error: dict[str, Any] | None = Field(
        description="`code` and `message`, perhaps `column`, `value` and `details`; `category`"
        " (`transient` or `permanent`), `source` (the provider or the stage that failed) and"
        " `nextRetryAt` (null: it is not tried again by itself)."
    )
    locked_by: str | None
    locked_at: datetime | None
    job_type: str
    due_at: datetime | None = Field(description="Waits until then, after a retry or for a limit.")
    updated_at: datetime


class ItemPage(Shape):
    items: list[ItemShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


# Of the columns of a job: those of its results, or those of the file.
View = Literal["results", "input"]


class ColumnValue(Shape):
    value: str = Field(description="At most 200 characters of it.")
    rows: int


class ColumnValues(Shape):
    column: str
    view: View
    total: int = Field(description="Rows of the job.")
    rows: int = Field(description="Rows that were read: all, or a sample spread over the job.")
    is_sample: bool
    empty: int = Field(description="Of the rows read, those without a value.")
    distinct: int = Field(description="Different values of the rows read.")
    numbers: int = Field(description="Rows whose value is a number, such as `12` or `9,90`.")
    min: str | None = Field(description="The smallest of these numbers.")
    max: str | None = Field(description="The largest of these numbers.")
    top: list[ColumnValue] = Field(description="The most frequent values.")


class ColumnFigure(Shape):
    """A column of a file."""

    column: str
    target: str | None = Field(description="The field that it fills.")
    filled: int | None = Field(description="Cells with a text. Null for a job of an old version.")
    empty: int | None
    warnings: int = Field(description="Values that were left empty or corrected, with a warning.")
    errors: int = Field(description="Values that make their row invalid.")
    changed: int | None = Field(
        description="Rows that change this field of a known product. Null once a job has written"
        " its products: the changes are then in the history of each product."
    )


class ColumnFigures(Shape):
    items: list[ColumnFigure] = Field(description="Empty until the columns are known.")
    rows: int = Field(
        description="Warnings, errors and changes are those of the first so many rows, as far as"
        " they are worked on. While a large job runs, not all of them are counted."
    )
    total: int = Field(description="Rows of the job, as far as they are known.")


class Kickoff(Shape):
    slices: int = Field(description="How many pieces of work were done in this request.")
    job: FullJob


# Files of one job that may be named in a request.
MAX_FILES = 1000


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
    due_at: Moment | None = Field(
        None, description="Begin no sooner, within a year. A time that has passed: at once."
    )
    file_id: UUID | None = Field(None, description="A file uploaded before.", examples=[SOME_ID])
    file_ids: list[UUID] | None = Field(
        None,
        min_length=1,
        max_length=MAX_FILES,
        description="Or several of them, in order, for a pipeline that takes several.",
    )
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
        " address, or `s3://bucket/key` in a bucket that a watcher of your org reads.",
        examples=["https://supplier.example/prices.csv"],
    )

    @model_validator(mode="after")
    def _one_file(self) -> JobOrder:
        given = (self.file_id, self.file_ids, self.path, self.url)
        if sum(one is not None for one in given) > 1:
            raise ValueError("give one of `fileId`, `fileIds`, `path` and `url`")
        if self.file_ids is not None and len(set(self.file_ids)) < len(self.file_ids):
            raise ValueError("`fileIds` names a file twice")
        return self

    @field_validator("due_at")
    @classmethod
    def _within_a_year(cls, due_at: datetime | None) -> datetime | None:
        if due_at is not None and due_at > datetime.now(UTC) + timedelta(days=366):
            raise ValueError("a job begins within a year")
        return due_at

    def job_order(self) -> JobOrder:
        return self


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
    standing: bool = Field(
        False,
        description="Also standing jobs, which send webhooks and notifications and never end; with"
        " `pipeline` they are always listed.",
    )
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class ItemsQuery(Shape):
    statuses: Annotated[list[ItemStatus], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="One or several, with commas; none: all."
    )
    code: str = Field(
        "", max_length=100, pattern=PRINTABLE, description="Items with this error only."
    )
    problem: str = Field(
        "",
        max_length=100,
        pattern=PRINTABLE,
        description="Items with this problem in a cell, as an error or a warning; `*`: with any.",
    )
    q: str = Field(
        "",
        max_length=200,
        pattern=PRINTABLE,
        description="Items with this text in their input or result, capitals or not.",
    )
    since: Moment | None = Field(None, alias="from", description="Changed then or later.")
    until: Moment | None = Field(None, alias="to", description="Changed before.")
    sort: Literal["row", "-row", "updated", "-updated", "value", "-value"] | None = Field(
        None,
        description="`updated`: longest untouched first; not with DONE, and without statuses of "
        "what waits and runs. `value`: by the values of `column`, numbers first, then texts, empty "
        "cells last; for up to 100,000 rows, or items with a problem of up to 100,000. `-` turns "
        "the order round. Without it `row`, and `updated` where all statuses are PENDING or "
        "PROCESSING.",
    )
    column: str = Field(
        "", max_length=1000, pattern=PRINTABLE, description="The column for `sort=value`."
    )
    view: View = Field("results", description="Where that column is.")
    from_row: int | None = Field(None, ge=1, le=2**31 - 2, description="First row to show.")
    steps: bool = Field(
        False,
        description="Also rows that are steps on the way to the results, such as the sources of a"
        " research request. With `statuses`, `code` or `fromRow` they are always there.",
    )
    page_size: int = Field(100, ge=1, le=1000, description="With `q` at most 100.")
    after: str = Field("", description="`next` of the page before.")


class ColumnQuery(Shape):
    column: str = Field(min_length=1, max_length=1000, pattern=PRINTABLE)
    view: View = Field("results", description="Where the column is.")


class KickoffQuery(Shape):
    duration_ms: int = Field(5000, ge=1, le=60_000)


class ExportQuery(Shape):
    format: str = Field(
        "csv",
        description="`csv`, `xlsx`, `json`, `ndjson`, or the file of a shop system, with the"
        " products that the job wrote: `shopify`, `woocommerce`, `magento`, `prestashop`,"
        " `prestashop-combinations`, `akeneo`.",
    )
    which: Which = Field(
        "valid",
        description="The rows that did not fail; all rows, with their status and problems; one line"
        " per problem; the supplier's own rows that failed, with the reason; or products that the"
        " file does not contain.",
    )
    statuses: Annotated[list[ItemStatus], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="Rows of these only, one or several, with commas."
    )
    code: str = Field("", max_length=100, description="Rows that ended with this error only.")
    q: str = Field(
        "", max_length=200, pattern=r"^[^\x00]*$", description="Rows whose cells contain this."
    )
    template: str = Field(
        "",
        max_length=100,
        pattern=r"^[^\x00]*$",
        description="The export template that chooses, orders and names the columns of valid rows.",
    )
    variants: VariantShape | None = Field(
        None,
        description="Variants of products in one cell, as rows, or as columns; else as the template"
        " says. As rows or columns, a row that is part of another row's product has no line of its"
        " own, unless all rows are exported and it has problems.",
    )


class Refusal(Shape):
    product_id: UUID | None = None
    posting_id: UUID | None = Field(None, description="Of a job posting.")
    row_no: int | None
    source: str | None = None
    source_id: str | None = None
    reason: str


class Undone(Shape):
    restored: int = Field(description="Products and job postings put back as they were.")
    deleted: int = Field(description="Products and job postings that the job had made.")
    postings: int = Field(description="How many of both are job postings.")
    refused_count: int
    refused: list[Refusal] = Field(description="Changed since, left alone; the first 1,000.")
    more: bool = Field(description="There is more to undo: ask again, with `next` as `after`.")
    next: UUID | None


class UndoQuery(Shape):
    dry_run: bool = Field(False, description="Only say what would be undone.")
    after: UUID | None = Field(None, description="`next` of the answer before.")


class PreviewRow(Shape):
    row_no: int
    line: int | None = Field(
        description="The line of the file, or the row of the sheet; null if it is not known."
    )
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
        " sku, title, `by` gtin or mpn. `POST /api/product-links` decides them by name."
    )
    product: dict[str, str] | None = Field(
        description="The name of the row's product: source, sourceId. Null for a row without one."
    )
    held: dict[str, Any] | None = Field(
        description="Why it would be held back: code, message, field, before, after."
    )
    duplicate_of: int | None = None
    part_of: int | None = None


class SourceMatch(Shape):
    source: str
    rows: int


class Preview(Shape):
    file_id: UUID | None = Field(description="The file, kept for a day: create the job with it.")
    reading: dict[str, Any] = Field(description="What was detected; see docs/formats.md.")
    header: list[str]
    rows_sampled: int
    rows_estimated: int
    profile: dict[str, Any]
    source: str = Field(description="Rows are compared with the products of this source.")
    earlier_source: SourceMatch | None = Field(
        description="Another source that the file probably belongs to: no row is a product of"
        " `source`, but so many have the ids of its products, and their titles or GTINs."
    )
    warnings: list[dict[str, str]] = Field(description="What holds for all rows: code, message.")
    questions: list[dict[str, Any]] = Field(
        description="To be answered before a job is accepted: code, message, candidates."
    )
    mapping: list[dict[str, Any]] = Field(description="Each column: target, confidence, samples.")
    notes: list[str]
    columns: list[str] = Field(description="Columns of the results, in order.")
    column_figures: list[ColumnFigure] = Field(description="Of the rows shown, by column.")
    rows: list[PreviewRow]
    summary: dict[str, Any]
