"""The interface of a pipeline: its rows, its stages and its columns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from penstock.model.effects import Effect, EffectWriter, JobEffectWriter
from penstock.model.errors import BadInput, ItemError, PenstockError, PermanentError, Waiting
from penstock.model.exports.variants import VariantTable
from penstock.model.outcomes import Fail, Outcome, Retry, with_json_documents
from penstock.model.policy import RetryPolicy
from penstock.model.ports import Context, Tally
from penstock.model.ranges import RangeWork
from penstock.model.states import ItemStatus

# Rows that submit writes itself, in the transaction that creates the job.
MAX_INLINE_ROWS = 100
# What lists of rows show of an input, where it has it.
LABELS = ("title", "brand", "sku")


@dataclass(frozen=True, slots=True)
class Row:
    """One input row of a job; ``input`` is `JsonText` if it is JSON already."""

    input: Any
    key: str | None = None
    group: str | None = None
    # Problems that the reader found in this row; the item keeps them.
    noticed: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows that were read together, and the cursor after them.

    The cursor is opaque to the engine and saved with the rows. ``bytes_read`` of ``bytes_total``
    lets the progress bar move while the number of rows is unknown. ``header`` names the cells of
    rows that are arrays; it is the same in every batch and kept once with the job.
    """

    rows: Sequence[Row]
    cursor: Mapping[str, Any]
    bytes_read: int = 0
    bytes_total: int = 0
    header: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class FileRef:
    id: UUID
    name: str
    sha256: str
    size: int
    media_type: str
    blob_key: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job as a pipeline sees it."""

    id: UUID
    org_id: int
    pipeline: str
    config: Any
    file: FileRef | None = None
    header: Sequence[str] | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)
    # Files beyond ``file``, for pipelines that take several.
    more_files: Sequence[FileRef] = ()

    @property
    def files(self) -> Sequence[FileRef]:
        return () if self.file is None else (self.file, *self.more_files)


@dataclass(frozen=True, slots=True)
class Item:
    """An item as a stage sees it."""

    job: Job
    row_no: int
    input: Any
    normalized: Mapping[str, Any] | None = None
    attempts: int = 0
    key: str | None = None
    group: str | None = None
    noticed: Sequence[Mapping[str, Any]] | None = None
    # 1, and one more for each time that the item was run again.
    generation: int = 1


class StageFunction(Protocol):
    """Returns outcomes in the order of the batch; None for an item that was not started."""

    def __call__(
        self, batch: Sequence[Item], ctx: Context
    ) -> Awaitable[Sequence[Outcome | None]]: ...


CpuFunction = Callable[[Sequence[Item]], Sequence[Outcome]]


def child_arguments(batch: Sequence[Item]) -> list[tuple[Any, ...]]:
    """The arguments of `run_in_child`: plain tuples take half the time to transfer."""
    return [
        (i.job, i.row_no, i.input, i.normalized, i.attempts, i.key, i.group, i.noticed)
        for i in batch
    ]


def run_in_child(work: CpuFunction, batch: Sequence[tuple[Any, ...]]) -> list[Outcome]:
    """Run ``work`` in a child process and serialise the documents to the JSON to be stored."""
    return [with_json_documents(outcome) for outcome in work([Item(*one) for one in batch])]


@dataclass(frozen=True)
class Stage:
    """A named step of a pipeline.

    ``barrier``: waits until the ingest is done and no item is in an earlier stage. ``cpu``: a plain
    function of the batch that runs in a child process. ``pace_ms``: least time between two items of
    one group, during which they hold no slot. ``grouped=False``: items of one group need not run
    one after the other in this stage.
    """

    name: str
    run: StageFunction | None = None
    cpu: CpuFunction | None = None
    barrier: bool = False
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    share: float = 1.0
    pace_ms: int = 0
    grouped: bool = True

    def __post_init__(self) -> None:
        if self.pace_ms and not self.grouped:
            raise ValueError(f"stage {self.name!r} ignores groups, so that none can have a pace")
        if (self.run is None) == (self.cpu is None):
            raise ValueError(f"stage {self.name!r} needs either run or cpu")


class Config(BaseModel):
    """Base of every pipeline's configuration. Unknown fields are refused."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
    )


@dataclass(frozen=True, slots=True)
class Traits:
    """What the engine must know about a job before it runs.

    ``spawns``: stages may add child items. ``needs_full_input``: the first stage waits until the
    whole input was read and `after_ingest` has run. ``summarizes``: `summarize` runs once all items
    are terminal. ``standing``: the job never ends and does not count towards depth and limits.
    ``profile``: the saved profile that the job names; it must exist.
    """

    spawns: bool = False
    needs_full_input: bool = False
    summarizes: bool = False
    standing: bool = False
    profile: str | None = None


class Pipeline:
    """Base of every pipeline. Only ``name``, ``Config``, ``stages`` and ``rows`` are required."""

    name: ClassVar[str]
    Config: ClassVar[type[Config]]
    # A job needs a file; its type is detected by content when rows are read.
    needs_file: ClassVar[bool] = False
    # A job may have files without needing one.
    takes_file: ClassVar[bool] = False
    # How many files one job takes.
    max_files: ClassVar[int] = 1
    # Submit calls `check_first_rows`, which reads the head of the file.
    checks_first_rows: ClassVar[bool] = False
    # Jobs are created by the system only and cannot be submitted.
    internal: ClassVar[bool] = False
    # Stages that need only the member `brief_member` of an item's checkpoint: their items come
    # without input, and with that alone. They read whole documents where they need them.
    needs_brief_only: ClassVar[frozenset[str]] = frozenset()
    brief_member: ClassVar[str] = "brief"
    # The member of a checkpoint that lists the row's problems; they are kept in a column.
    problems_member: ClassVar[str] = "problems"
    # Writers of effects that only this pipeline has, where it comes from another package.
    effects: ClassVar[tuple[EffectWriter | JobEffectWriter, ...]] = ()
    # The first stage is a pure function of the row: how it runs over whole ranges of rows.
    ranges: ClassVar[RangeWork | None] = None
    # Modules whose functions run in child processes. A worker starts one that has imported them
    # before the first job needs it.
    child_modules: ClassVar[tuple[str, ...]] = ()
    # What a person calls the work of each stage, where jobs show a phase.
    phases: ClassVar[Mapping[str, str]] = {}
    # How long one item of a stage may work, where that is longer than `PENSTOCK_ITEM_TIMEOUT_MS`.
    item_timeouts_ms: ClassVar[Mapping[str, int]] = {}
    # How many items a stage works on at the same time. Claims take at least so many: in a short
    # turn, an org would otherwise wait for one answer after the other.
    items_at_once: ClassVar[Mapping[str, int]] = {}
    # Stages that wait for answers of other servers most of the time: their slices take a sixteenth
    # of a slot, and the jobs of one claim run at the same time.
    waiting_stages: ClassVar[frozenset[str]] = frozenset()
    # Of these, stages whose items call different servers: each item runs in a batch of its own and
    # is settled when it ends, so that a slow server does not delay the answers of others.
    settles_each: ClassVar[frozenset[str]] = frozenset()
    # Jobs count towards the quota of this name, and begin at its pace.
    meter: ClassVar[str | None] = None
    # Items before the one with this key are steps on the way to the results: lists and exports of
    # all rows leave them out. A job that finds its results again adds them after the old ones; the
    # first of its nth results has the key with `@n` at its end, and replaces all before it.
    first_result_key: ClassVar[str | None] = None
    # Columns of grid and export, in order; None: the columns of the file.
    columns: ClassVar[tuple[str, ...] | None] = None

    def stages(self, config: Any) -> tuple[Stage, ...]:
        raise NotImplementedError(f"{type(self).__name__} has no stages")

    def traits(self, config: Any) -> Traits:
        return Traits()

    def priority_of(self, config: Any) -> int | None:
        """The priority that the config asks for; None: that of the order."""
        return None

    def inline(self, config: Any) -> Sequence[Row] | None:
        """The rows inside the config, if they are few: submit writes them itself."""
        return None

    def check_order(self, config: Any, files: int) -> None:
        """Raise BadInput at submit for a config that does not fit the number of files."""

    def check(self, head: bytes, size: int, name: str) -> None:
        """Raise BadInput at submit for a file whose first bytes show that it cannot be read."""

    async def check_first_rows(self, job: Job, ctx: Context) -> None:
        """Raise BadInput at submit for a file whose first rows show that the job would fail. The
        job must check again later, since submit skips this check under load."""

    # Columns of results that contain amounts of money, as decimal text.
    amount_columns: ClassVar[frozenset[str]] = frozenset()
    # Codes of skipped rows that exports of valid rows contain; None: all of them.
    skipped_results: ClassVar[frozenset[str] | None] = None
    # How exports show the variants of results; None: results have no variants.
    variant_table: ClassVar[VariantTable | None] = None

    def columns_of(self, context: Mapping[str, Any]) -> Sequence[str] | None:
        """Columns of grid and export for a job's context; None: the columns of the file."""
        return self.columns

    def shown(self, status: ItemStatus, stage: str | None, code: str | None) -> str | None:
        """Words that a person reads for an item's status; None: the usual ones. ``stage`` is the
        name of the item's stage, ``code`` that of its error or of the reason why it was skipped."""
        return None

    def check_remap(self, before: Any, after: Any, header: Sequence[str]) -> None:
        """Raise BadInput if a new configuration cannot be applied to rows already stored."""
        raise BadInput("INVALID_PARAMETERS", f"Rows of {self.name} have no mapping to change.")

    async def preview(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        """What a job with this file and config would do. Writes nothing."""
        raise BadInput("INVALID_PARAMETERS", f"Pipeline {self.name} has no preview.")

    def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        """Rows after ``cursor``, at most ``ctx.batch_rows`` at a time; close it if left early."""
        raise NotImplementedError(f"{type(self).__name__} has no rows")

    async def after_ingest(
        self, job: Job, cursor: Mapping[str, Any], ctx: Context
    ) -> Mapping[str, Any]:
        """Compute ``job.context`` for the stages, after the whole input was read."""
        return {}

    def waiting_rows(self, job: Job, cursor: Mapping[str, Any]) -> Sequence[int] | None:
        """Rows that must wait for all others before the second stage, where rows are stored in
        ranges; None: all. ``cursor`` is the last one, ``job`` has its context."""
        return None

    def labels(self, context: Mapping[str, Any]) -> Mapping[str, int]:
        """Which cell of a row holds which of `LABELS`, by what the input taught; without it, the
        column of that name."""
        return {}

    def cache_key(self, config: Any) -> str | None:
        """All that determines the first stage's results besides the file; None: do not cache."""
        return None

    async def is_still_valid(
        self, job: Job, header: Sequence[str], cursor: Mapping[str, Any],
        context: Mapping[str, Any], ctx: Context,
    ) -> bool:  # fmt: skip
        """Whether cached results of an earlier job with the same key are still valid, given its
        ``cursor`` and ``context``."""
        return False

    def warnings(self, context: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """What the input as a whole is warned of, each with `code` and `message`."""
        return ()

    async def has_same_outcome(
        self, job: Job, config: Mapping[str, Any], started_at: datetime, ctx: Context
    ) -> bool:
        """Whether every row would end as it did in an earlier job whose cached results are valid,
        so that all its results can be copied. ``config`` and ``started_at`` are those of that
        job."""
        return False

    def reused_summary(self, job: Job, summary: Mapping[str, Any]) -> Mapping[str, Any]:
        """The summary of a job whose results were all copied, from that of the earlier job."""
        return summary

    async def last_effects(self, job: Job, ctx: Context) -> Sequence[Effect]:
        """Effects of the whole job, applied once all items are terminal, before the summary."""
        return ()

    def column_figures(
        self, context: Mapping[str, Any], tally: Tally
    ) -> Sequence[Mapping[str, Any]] | None:
        """Of each column of the file, how many cells are filled, unreadable, and so on, as far as
        the rows were tallied; None: the pipeline has no such columns, or does not know them yet."""
        return None

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        """The job's summary, computed once all items are terminal."""
        return {}


def each(
    work: Callable[[Item, Context], Awaitable[Outcome]], concurrency: int = 1
) -> StageFunction:
    """Turn a function of one item into a stage function of a batch.

    An exception affects its own item only. Items of one group run in order. Items that have not
    started when time is up stay None and are released without an attempt.
    """

    async def run(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
        outcomes: list[Outcome | None] = [None] * len(batch)
        waiting = iter(enumerate(batch))

        async def lane() -> None:
            for index, item in waiting:
                if ctx.time_is_up():
                    return
                try:
                    async with asyncio.timeout(ctx.item_timeout_ms / 1000):
                        outcomes[index] = await work(item, ctx)
                except Exception as error:  # any error affects this item only
                    outcomes[index] = _outcome_of(error, item, ctx)
                if index % 64 == 63:
                    await asyncio.sleep(0)

        grouped = any(item.group is not None for item in batch)
        lanes = 1 if grouped else max(1, min(concurrency, len(batch)))
        await asyncio.gather(*(lane() for _ in range(lanes)))
        return outcomes

    return run


def retry_of(error: Exception) -> Retry:
    """A retry after an exception, no sooner than the exception asks for."""
    if isinstance(error, PenstockError):
        return Retry(ItemError.of(error), error.retry_after_ms, error.counted)
    return Retry(ItemError.of(error))


async def run_groups(
    batch: Sequence[Item],
    groups: Sequence[Sequence[int]],
    work: Callable[[Sequence[int], Context], Awaitable[Sequence[Outcome]]],
    ctx: Context,
    concurrency: int = 1,
) -> Sequence[Outcome | None]:
    """Run ``work`` over groups of items, given by their positions in the batch, that one request
    serves. An exception affects its own group only. Items of groups that have not started when time
    is up stay None."""
    outcomes: list[Outcome | None] = [None] * len(batch)
    waiting = iter(groups)

    async def lane() -> None:
        for group in waiting:
            if ctx.time_is_up():
                return
            try:
                async with asyncio.timeout(ctx.item_timeout_ms / 1000):
                    found: Sequence[Outcome] = await work(group, ctx)
            except Exception as error:  # any error affects this group only
                found = [_outcome_of(error, batch[group[0]], ctx)] * len(group)
            for index, outcome in zip(group, found, strict=True):
                outcomes[index] = outcome

    await asyncio.gather(*(lane() for _ in range(min(concurrency, len(groups)))))
    return outcomes


def _outcome_of(error: Exception, item: Item, ctx: Context) -> Outcome:
    """What the exception of a stage means for its item."""
    if isinstance(error, TimeoutError):
        return Retry(ItemError("API_TIMEOUT", f"No answer within {ctx.item_timeout_ms} ms"))
    if isinstance(error, PermanentError):
        return Fail(ItemError.of(error))
    if not isinstance(error, Waiting):
        ctx.log.warning("item failed", row=item.row_no, error=repr(error))
    return retry_of(error)
