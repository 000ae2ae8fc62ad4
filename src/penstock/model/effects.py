"""Changes a stage asks for. Stages write nothing themselves: settle does, under the fence.

The set is open. An effect is a class derived from `Effect` and a writer for it: a module of
`store/effects/`, or one that a pipeline of another package brings along (`Pipeline.effects`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any, Literal, NamedTuple, Protocol
from uuid import UUID

from penstock.model.errors import ItemError
from penstock.model.transfer import transferable

# Longer names of rows and products would not fit into the index that keeps them.
MAX_NAME_LENGTH = 500


class Effect:
    """Base of every effect: of an item, or of a job as a whole."""

    __slots__ = ()


class LockOrder(IntEnum):
    """When a settle writes effects of a type. All settles lock rows in this order, so that no two
    of them deadlock."""

    ITEMS = 1  # rows that belong to the job's items
    RECORDS = 2  # rows that jobs share, such as products, locked in the order of their keys
    JOBS = 3  # rows written under the locks of the jobs


@dataclass(frozen=True, slots=True)
class Asked:
    """An effect and the item that asked for it; ``error`` and ``attempts`` are what the item has
    after this settle."""

    row_no: int
    effect: Any
    error: ItemError | None
    attempts: int


@dataclass(frozen=True, slots=True)
class EffectBatch:
    """All effects of one type that items of one job asked for in a settle."""

    org_id: int
    job_id: UUID
    worker: str
    asked: Sequence[Asked]
    # None of these items has been worked on before.
    is_first_run: bool
    # Adds an event of the job. Not after its row is locked (`LockOrder.JOBS`).
    emit: Callable[[str, Mapping[str, Any]], None]


class SqlConnection(Protocol):
    """The transaction of a settle, as writers of effects use it."""

    async def execute(self, query: str, /, *args: Any) -> Any: ...
    async def fetch(self, query: str, /, *args: Any) -> Any: ...
    async def fetchrow(self, query: str, /, *args: Any) -> Any: ...
    async def fetchval(self, query: str, /, *args: Any) -> Any: ...


class EffectWriter:
    """Base of the writers of items' effects: check, lock order, write."""

    effect: type[Effect]
    order: LockOrder = LockOrder.RECORDS
    # Idempotent SQL for tables of the writer's own, run by every migration.
    tables: str = ""
    # What an item shows whose effect came too late.
    late = ItemError("OUT_OF_DATE", "The product that this row was compared with has changed since")

    def check(self, effect: Any) -> Any:
        """The effect as it will be stored, or ValueError. Runs before the transaction: a bad
        effect fails its own item and no other."""
        return effect

    async def write(self, conn: Any, batch: EffectBatch) -> Collection[int]:
        """Write the batch. Answers the rows whose effect came too late, because what their stage
        saw has changed: then nothing of the settle is written, and those items run again."""
        raise NotImplementedError


class JobEffectWriter:
    """Base of the writers of jobs' effects, each written in chunks before the job's summary."""

    effect: type[Effect]

    async def write_some(
        self, conn: Any, org_id: int, job_id: UUID, effect: Any, after: str | None
    ) -> str | None:
        """Write the chunk after ``after`` (None: the first); answers where to continue, None at the
        end. After a crash it begins with None again."""
        raise NotImplementedError


@transferable
@dataclass(frozen=True, slots=True)
class Emit(Effect):
    """Write an event of the job, with the settle or not at all."""

    event: str
    data: Mapping[str, Any] = field(default_factory=dict)


class _NameRow(NamedTuple):
    keys: Sequence[str]
    filled: int = 0


@transferable
class NameRow(_NameRow, Effect):
    """What this row calls itself (`sku:A-1`), instead of what it said before, so that a later stage
    finds rows that mean the same. ``filled`` lets it prefer the most complete one. A tuple, since
    nearly every row of a file has one."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class NameRows(Effect):
    """The same for many rows that had no names before, in columns."""

    rows: Sequence[int]
    keys: Sequence[str]
    filled: Sequence[int]


@transferable
@dataclass(frozen=True, slots=True)
class UpsertProduct(Effect):
    """Write a product exactly as given, if it still is in the version that the stage saw (None:
    there was none). If not, nothing of the item is written and its stage runs again."""

    source: str
    source_id: str
    # None, for one that is new: as `product` and `lineage` of the item's checkpoint have it.
    data: Mapping[str, Any] | None
    lineage: Mapping[str, Any] = field(default_factory=dict)
    sku: str | None = None
    gtin: str | None = None
    published: bool = True
    seen_version: int | None = None
    # All of it comes from this row; else what the row does not say keeps its lineage.
    whole: bool = False
    # Of the row that writes it, by which the same row is recognised later.
    digest: bytes | None = None


class ProductKeys(NamedTuple):
    """What a product is sorted by and found by, computed from its document."""

    title: str | None
    price: float | None
    maker: str | None
    words: Sequence[str] | None


class NewProduct(NamedTuple):
    """A product that the catalog does not have; documents are JSON."""

    row_no: int
    source_id: str
    sku: str | None
    gtin: str | None
    data: bytes
    lineage: bytes
    keys: ProductKeys
    digest: bytes
    published: bool = True


@dataclass(frozen=True, slots=True)
class CreateProducts(Effect):
    """Write many new products of one source. If one exists by then, nothing is written."""

    source: str
    products: Sequence[NewProduct]


@transferable
@dataclass(frozen=True, slots=True)
class KeepBlob(Effect):
    """Keep a blob for as long as its reference is there. ``owner`` is what it belongs to, such as a
    product's id, and ``kind`` what it is to its owner, such as `picture`."""

    blob_key: str
    kind: str
    owner: str


@transferable
@dataclass(frozen=True, slots=True)
class StorePicture(Effect):
    """The picture at a URL is kept in a blob, with thumbnails by the size of their box. Replaces
    what is known of the URL; thumbnails are added."""

    url: str
    blob_key: str
    sha256: str
    size: int
    width: int | None = None
    height: int | None = None
    thumbnails: Mapping[int, str] = field(default_factory=dict)
    # Perceptual hashes (two, of 16 hexadecimal digits), by which lookups find it.
    hashes: tuple[str, str] | None = None


@transferable
@dataclass(frozen=True, slots=True)
class CountInGroup(Effect):
    """Add to counters of a group of the job, such as pages per site. Each settle counts once."""

    group: str
    counts: Mapping[str, int]


@transferable
@dataclass(frozen=True, slots=True)
class RecordSearch(Effect):
    """A search for the item's product: where and how it was asked, and the result. ``answer``
    is kept so that a call that has finished is not made again."""

    provider: str
    variant: str
    query: str
    outcome: str
    latency_ms: float
    score: float | None = None
    candidates: int = 0
    attempt: int = 0
    error: ItemError | None = None
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class NoteDelivery(Effect):
    """Write into the log of webhooks what came of a try. One that ``failed`` for good becomes a
    dead letter; ``gone`` disables the endpoint, if it still has that URL. Without ``ms`` nothing
    was sent."""

    delivery_id: UUID
    endpoint_id: UUID
    event: str
    url: str
    host: str
    state: Literal["pending", "delivered", "failed", "dropped"]
    status: int | None = None
    ms: int | None = None
    response: str = ""
    gone: bool = False


@dataclass(frozen=True, slots=True)
class NoteNotification(Effect):
    """Write into the log of notifications what came of a try. One that ``failed`` for good becomes
    a dead letter."""

    notification_ids: tuple[UUID, ...]
    title: str
    state: Literal["pending", "sent", "failed", "dropped"]


@dataclass(frozen=True, slots=True)
class RecordRequest(Effect):
    """The job is an attempt of a research request. With a ``webhook_url`` the end of the job is
    posted there."""

    request_id: str
    webhook_url: str | None = None


@dataclass(frozen=True, slots=True)
class FindMissing(Effect):
    """An effect of a job as a whole, once all its rows have ended: products of this source that no
    row named (`seen:id:…`, `seen:sku:…`, `seen:gtin:…`) are listed with the job, and taken off the
    shelf if asked."""

    source: str
    unpublish: bool = False


@dataclass(frozen=True, slots=True)
class SaveCursor(Effect):
    """An effect of a job as a whole: the connection was imported by this job. The next incremental
    import begins at ``next_since``; None: where it did before."""

    connection_id: UUID
    next_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class SetImportError(Effect):
    """An effect of a job as a whole: why the connection could not be imported, as code and message.
    None: it could, which clears an earlier error."""

    connection_id: UUID
    error: Mapping[str, Any] | None = None


@transferable
@dataclass(frozen=True, slots=True)
class SetPace(Effect):
    """Least time until the next item of the item's group, instead of its stage's pace: none where
    nothing was requested, more where a server asks for it. Only in a stage with a pace. It counts
    from ``since`` by the monotonic clock of the process; None: from the settle."""

    pace_ms: int
    since: float | None = None

    def left_ms(self, now: float) -> float:
        passed = 0.0 if self.since is None else max(0.0, now - self.since) * 1000
        return max(0.0, self.pace_ms - passed)
