"""What a pipeline is: rows in, stages over them, columns out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from penstock.model.effects import FindMissing
from penstock.model.errors import BadInput, ItemError, PenstockError, PermanentError, Waiting
from penstock.model.outcomes import Fail, Outcome, Retry, in_text
from penstock.model.policy import RetryPolicy
from penstock.model.ports import Context

# Items that submit may write itself, in the job's own transaction.
MAX_INLINE_ROWS = 100
# In a job's context what holds for its rows as they were read, until one of them is changed.
AS_READ = "asRead"


@dataclass(frozen=True, slots=True)
class Row:
    """One input as it enters a job; `JsonText` for one that is JSON already."""

    input: Any
    key: str | None = None
    group: str | None = None
    # What was wrong with it where it was read, as problems that the item carries from then on.
    noticed: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Rows read together, and where to go on after them.

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
    # What the stage before said for this one alone, if it runs at once.
    handed: Any = None


class StageFunction(Protocol):
    """Outcomes in the order of the batch; None for an item that was not started."""

    def __call__(
        self, batch: Sequence[Item], ctx: Context
    ) -> Awaitable[Sequence[Outcome | None]]: ...


CpuFunction = Callable[[Sequence[Item]], Sequence[Outcome]]


def for_child(batch: Sequence[Item]) -> list[tuple[Any, ...]]:
    """As `done_in_text` takes them: plain tuples are handed over in half the time."""
    return [
        (i.job, i.row_no, i.input, i.normalized, i.attempts, i.key, i.group, i.noticed)
        for i in batch
    ]


def done_in_text(work: CpuFunction, batch: Sequence[tuple[Any, ...]]) -> list[Outcome]:
    """What a child process does: the work, and of its documents the JSON that will be stored."""
    return [in_text(outcome) for outcome in work([Item(*one) for one in batch])]


@dataclass(frozen=True)
class Stage:
    """A named step. ``barrier`` waits until the ingest is done and no item is in an earlier stage;
    ``cpu`` work is a plain function of the batch and runs in a child process. ``at_once``: items
    that the stage before lets through are worked on in the same slice and written down once; only
    those that must wait do so in this stage. ``spared`` says the same of some items of a barrier:
    those that have nothing to do with any other row need not wait for all of them."""

    name: str
    run: StageFunction | None = None
    cpu: CpuFunction | None = None
    barrier: bool = False
    at_once: bool = False
    spared: Callable[[Sequence[Item]], Sequence[bool]] | None = None
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    share: float = 1.0

    def __post_init__(self) -> None:
        if (self.run is None) == (self.cpu is None):
            raise ValueError(f"stage {self.name!r} needs either run or cpu")
        if self.at_once and (self.barrier or self.cpu is not None):
            raise ValueError(f"stage {self.name!r} cannot run at once with the one before it")
        if self.spared is not None and (not self.barrier or self.cpu is not None):
            raise ValueError(f"stage {self.name!r} has no barrier to spare anyone")


class Config(BaseModel):
    """Base of every pipeline's configuration: what it does not know, it refuses."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
    )


@dataclass(frozen=True, slots=True)
class Traits:
    """What the engine must know of a job before it runs.

    ``spawns``: stages may add child items. ``learns``: the first stage waits for the whole input,
    because `after_ingest` learns from all of it. ``summarizes``: there is a summary to make once
    all items are terminal. ``standing``: the job never ends and stays outside depth and limits.
    ``profile``: the saved profile that the job names, and that must be there.
    """

    spawns: bool = False
    learns: bool = False
    summarizes: bool = False
    standing: bool = False
    profile: str | None = None


class Pipeline:
    """Base of every pipeline. Only ``name``, ``Config``, ``stages`` and ``rows`` are required."""

    name: ClassVar[str]
    Config: ClassVar[type[Config]]
    # Needs a file to be submitted; media types are judged by content when rows are read.
    needs_file: ClassVar[bool] = False
    # Has `check_first_rows`, which reads the file's head when a job is submitted.
    checks_first_rows: ClassVar[bool] = False
    # Made by the system itself; nobody submits a job of it.
    internal: ClassVar[bool] = False
    # For tests and trials of the engine: submitted only where `PENSTOCK_TEST_PIPELINES` allows it.
    test_only: ClassVar[bool] = False
    # Stages that need only what an item's checkpoint holds under `brief`: their items come without
    # input, and with that alone. Whole documents are read by who needs them.
    lean: ClassVar[frozenset[str]] = frozenset()
    # What grid and export show, in order; None: the columns of the file.
    columns: ClassVar[tuple[str, ...] | None] = None

    def stages(self, config: Any) -> tuple[Stage, ...]:
        raise NotImplementedError(f"{type(self).__name__} has no stages")

    def traits(self, config: Any) -> Traits:
        return Traits()

    def inline(self, config: Any) -> Sequence[Row] | None:
        """Rows the config itself carries, if they are few: submit writes them at once."""
        return None

    def check(self, head: bytes, size: int, name: str) -> None:
        """Refuse at submit a file that its first bytes show to be of no use."""

    async def check_first_rows(self, job: Job, ctx: Context) -> None:
        """Refuse at submit, with `BadInput`, a file whose first rows leave a question open. The
        same must fail the job later: under load a submit does not wait for this."""

    def columns_of(self, context: Mapping[str, Any]) -> Sequence[str] | None:
        """What grid and export show of a job, by what it learnt; None: the columns of the file."""
        return self.columns

    def check_remap(self, before: Any, after: Any, header: Sequence[str]) -> None:
        """Refuse a new configuration for rows that are stored already, where that cannot be."""
        raise BadInput("INVALID_PARAMETERS", f"Rows of {self.name} have no mapping to change.")

    async def preview(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        """What a job of this file and config would do, without doing it."""
        raise BadInput("INVALID_PARAMETERS", f"Pipeline {self.name} has no preview.")

    def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        """Rows after ``cursor``, at most ``ctx.batch_rows`` at a time; close it if left early."""
        raise NotImplementedError(f"{type(self).__name__} has no rows")

    async def after_ingest(
        self, job: Job, cursor: Mapping[str, Any], ctx: Context
    ) -> Mapping[str, Any]:
        """What the whole input teaches; stages find it in ``job.context``."""
        return {}

    def cache_key(self, config: Any) -> str | None:
        """What, besides the file, decides what the first stage gives; None: never used again."""
        return None

    async def still_true(
        self, job: Job, header: Sequence[str], cursor: Mapping[str, Any],
        context: Mapping[str, Any], ctx: Context,
    ) -> bool:  # fmt: skip
        """Whether results of an earlier job with the same key would be the same today, by what that
        one found in the file (``cursor``) and learnt from it (``context``)."""
        return False

    async def last_effects(self, job: Job, ctx: Context) -> Sequence[FindMissing]:
        """What is to be changed once all items are terminal, before the summary is made."""
        return ()

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        """The job's summary, once all items are terminal."""
        return {}


def each(
    work: Callable[[Item, Context], Awaitable[Outcome]], concurrency: int = 1
) -> StageFunction:
    """Lift a function of one item to a stage over a batch.

    An exception fails its own item, never its neighbours. Items of one group run in order. What
    has not started when time is up stays None, and so is released without an attempt.
    """

    async def run(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
        outcomes: list[Outcome | None] = [None] * len(batch)
        waiting = iter(enumerate(batch))

        async def lane() -> None:
            for index, item in waiting:
                if ctx.time_is_up():
                    return
                outcomes[index] = await _guarded(work, item, ctx)
                if index % 64 == 63:
                    await asyncio.sleep(0)

        grouped = any(item.group is not None for item in batch)
        lanes = 1 if grouped else max(1, min(concurrency, len(batch)))
        await asyncio.gather(*(lane() for _ in range(lanes)))
        return outcomes

    return run


def retry_of(error: Exception) -> Retry:
    """Try again after an exception, no sooner than it says itself."""
    if isinstance(error, PenstockError):
        return Retry(ItemError.of(error), error.retry_after_ms, error.counted)
    return Retry(ItemError.of(error))


async def _guarded(
    work: Callable[[Item, Context], Awaitable[Outcome]], item: Item, ctx: Context
) -> Outcome:
    try:
        async with asyncio.timeout(ctx.item_timeout_ms / 1000):
            return await work(item, ctx)
    except TimeoutError:
        return Retry(ItemError("API_TIMEOUT", f"No answer within {ctx.item_timeout_ms} ms"))
    except PermanentError as error:
        return Fail(ItemError.of(error))
    except Waiting as error:
        return retry_of(error)
    except Exception as error:  # whatever it is, it is this item's alone
        ctx.log.warning("item failed", row=item.row_no, error=repr(error))
        return retry_of(error)
