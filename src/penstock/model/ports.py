"""Interfaces between packages. `wiring` passes the implementations."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar
from uuid import UUID

from penstock.model.network.call_limits import CallLimit
from penstock.model.network.fetching import (
    FetchPurpose,
    FetchRequest,
    FetchResponse,
    StreamedResponse,
)
from penstock.model.network.notifications import Target
from penstock.model.network.provider_limits import CallReport, LimitKey, Permit
from penstock.model.network.token_bucket import Rate, ThrottleStatus
from penstock.model.network.webhooks import Receiver
from penstock.model.products import (
    FoundProducts,
    KnownPicture,
    LinkCandidate,
    RowNames,
    SourceMatch,
)
from penstock.model.shops.provider import ShopConnection
from penstock.model.ticket import Ticket

P = TypeVar("P")


class Log(Protocol):
    def debug(self, event: str, **values: Any) -> Any: ...
    def info(self, event: str, **values: Any) -> Any: ...
    def warning(self, event: str, **values: Any) -> Any: ...
    def error(self, event: str, **values: Any) -> Any: ...


class Blobs(Protocol):
    """Bytes by content hash. Writing the same bytes twice is harmless."""

    async def put(self, chunks: AsyncIterator[bytes], limit: int) -> StoredBlob: ...
    def local(self, key: str) -> AbstractAsyncContextManager[Path]:
        """The blob as a file of this machine, for as long as the context lasts."""

    async def exists(self, key: str) -> bool: ...
    async def sweep(self, older_than_seconds: float) -> int: ...
    async def head(self, key: str) -> bytes: ...
    async def remove(self, key: str, older_than_seconds: float = 0) -> bool: ...
    async def keys(self, after: str, most: int) -> Sequence[str]: ...
    async def belong_to(self, installation: str) -> bool: ...
    async def download_url(self, key: str, seconds: int) -> str | None:
        """A signed address that opens the blob for some time; None if there is none."""

    @property
    def partials(self) -> PartialUploads: ...
    @property
    def pictures(self) -> Pictures: ...
    @property
    def answers(self) -> Pictures:
        """A cache of answers of sources, for calls whose result was not committed."""


class Pictures(Protocol):
    """A cache of thumbnails, or of other content that can be fetched again, by name."""

    async def get(self, name: str) -> bytes | None: ...
    async def put(self, name: str, content: bytes) -> None: ...


class PartialUploads(Protocol):
    """Uploads in several requests, until they are complete."""

    async def offset(self, key: str) -> int: ...
    def hold(self, key: str) -> AbstractAsyncContextManager[PartialUpload]: ...
    async def remove(self, key: str) -> None: ...


class PartialUpload(Protocol):
    """An upload that is locked for one writer."""

    @property
    def offset(self) -> int: ...
    async def append(
        self, chunks: AsyncIterator[bytes], room: int, checksum: tuple[str, bytes] | None
    ) -> int: ...
    async def finish(self) -> StoredBlob: ...


class StoredBlob(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def head(self) -> bytes: ...


class InputFile(str):
    """The path of a file for a child process, which can open no other file."""

    __slots__ = ()


class Children(Protocol):
    """Child processes with limits on memory and CPU time, for parsers and heavy stages."""

    async def call(self, function: Callable[..., Any], *args: Any) -> Any: ...
    def stream(
        self, function: Callable[..., Iterator[Any]], *args: Any
    ) -> AsyncGenerator[Any, None]: ...
    def for_owner(self, owner: Hashable) -> Children: ...
    def prepare(self, modules: Iterable[str]) -> None:
        """Start a child that has imported these modules, if there is none yet."""


class Broker(Protocol):
    """Wakes workers. Losing, doubling or reordering tickets changes nothing."""

    async def start(self) -> None: ...
    async def send(self, ticket: Ticket) -> None:
        """Called after the commit that made the work claimable. Never fails its caller: workers
        also look on their own."""

    def notify_channel(self) -> str | None:
        """The channel of PostgreSQL's NOTIFY on which workers wait, if a wake-up is due now: a
        transaction that makes work claimable names its lane there itself, which wakes them sooner
        than a ticket. None: send a ticket after the commit."""

    async def receive(self, timeout: float) -> Sequence[Ticket]:
        """Wait for tickets, or until the time is over. Tickets that name no job, or none at all,
        mean: look whether anything can be claimed."""

    async def close(self) -> None: ...


Winner = Literal["first", "last", "most_complete"]


@dataclass(frozen=True, slots=True)
class Tally:
    """Rows by state, and problems by column (code, count, example)."""

    states: Mapping[str, int]
    problems: Mapping[str, Sequence[Mapping[str, Any]]]
    # Rows with proposed links to products of other sources.
    linked: int = 0
    # Rows by the fields in which they differ from their product; None: not counted.
    changes: Mapping[tuple[str, ...], int] | None = None


@dataclass(frozen=True, slots=True)
class FailedRow:
    """A row that failed, with the code and the message of its error."""

    key: str | None
    code: str
    message: str
    attempts: int


@dataclass(frozen=True, slots=True)
class MissingProducts:
    """Products that a job's file does not contain, how many were unpublished, and the first few."""

    count: int
    unpublished: int
    first: Sequence[Mapping[str, Any]]


class Products(Protocol):
    """Read access of stages to the org's catalog. Changes are effects."""

    async def find(
        self,
        org_id: int,
        source: str,
        source_ids: Sequence[str],
        skus: Sequence[str],
        gtins: Sequence[str],
    ) -> FoundProducts:
        """Products of this source by any identifier; of all sources by the org's catalog key."""

    async def find_unchanged(
        self, org_id: int, source: str, digests: Mapping[str, bytes]
    ) -> Mapping[str, UUID]:
        """The ids of published products, by source id, that a row with this digest wrote last, and
        of which no person has edited a field."""

    async def link_candidates(
        self, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
    ) -> Sequence[LinkCandidate]:
        """Products of the org's other sources with one of these GTINs or part numbers."""

    async def source_with(
        self, org_id: int, source: str, rows: Sequence[RowNames]
    ) -> SourceMatch | None:
        """The other source that has products with the ids of most of these rows, and with their
        titles or GTINs; None if no source has any."""

    async def changed_since(self, org_id: int, since: datetime) -> bool:
        """Whether any product of the org, or the way they are matched, was changed since then."""

    async def files_of_source(self, org_id: int, source: str) -> Sequence[str]:
        """Names of some of the files that products of a source were last written from."""

    async def missing(self, job_id: UUID, most: int) -> MissingProducts:
        """Products that are missing from the job's file."""


class JobRows(Protocol):
    """Read access of stages to other rows of their job."""

    async def rows_named(
        self, job_id: UUID, keys: Sequence[str], most: int
    ) -> Mapping[str, Sequence[int]]:
        """Rows of the job with these names (`NameRow`), the first ``most`` of each."""

    async def row_to_keep(
        self, job_id: UUID, keys: Sequence[str], winner: Winner
    ) -> Mapping[str, int]:
        """The winner among the rows with each of these names (`NameRow`)."""

    async def documents(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        """The checkpoints of rows of the job."""

    async def tally(self, job_id: UUID, *, with_changes: bool = False) -> Tally:
        """Counts over all rows of the job, for its summary. Changed fields take long to count."""

    async def group_counters(self, job_id: UUID, most: int) -> Mapping[str, Mapping[str, int]]:
        """Counters (`CountInGroup`) of the first groups by name, with ``most`` values in all."""

    async def unnamed_rows(self, job_id: UUID) -> int:
        """The number of rows without an identifier."""

    async def failures(self, job_id: UUID, most: int) -> Sequence[FailedRow]:
        """The first rows that failed."""


class Profiles(Protocol):
    """Saved profiles of suppliers' files, and exchange rates."""

    async def profile(
        self, org_id: int, name: str | None, fingerprint: str | None
    ) -> Mapping[str, Any] | None:
        """The profile with that name, or the one saved for files with these columns."""

    async def rates(self, base: str, day: date) -> Sequence[tuple[date, str, Decimal]]:
        """Exchange rates on that day, or the latest before it."""

    async def values(self, org_id: int, source: str) -> Mapping[str, Mapping[str, str]]:
        """What words in files of a source mean, by field."""


class Call(Protocol):
    """A running call to a provider. It counts as a success unless it is reported as failed or an
    error of the provider leaves the block."""

    def throttled(self, retry_after_ms: float | None = None) -> None:
        """The provider answered 429, perhaps with a Retry-After."""

    def failed(self) -> None:
        """The provider answered 5xx or not at all."""

    def costs(self, cost: float | None, bucket: ThrottleStatus | None = None) -> None:
        """What the call took from the provider's own bucket, and what is left there."""


class Calls(Protocol):
    """Limits concurrency and rate of calls per provider. Calls with a ``key`` also keep to the
    limits and circuits that all workers share."""

    def call(
        self, provider: str, domain: str, *, until: float, time_is_up: Callable[[], bool],
        key: LimitKey | None = None, points: float = 0.0, patience_ms: float | None = None,
    ) -> AbstractAsyncContextManager[Call]: ...  # fmt: skip
    def limits(self) -> Mapping[tuple[str, str], CallLimit]: ...
    async def close(self) -> None: ...


class SharedLimits(Protocol):
    """Token buckets and circuits that all workers share."""

    async def admit(
        self, key: LimitKey, calls: int, points: float, report: CallReport | None = None,
        callers: int = 1,
    ) -> Permit:  # fmt: skip
        """Tokens for at least one call and up to ``calls``, or how long each of the callers has to
        wait. ``points`` is what a call costs where the provider counts these."""

    async def report(self, key: LimitKey, report: CallReport) -> None:
        """Record what became of calls."""


class Fetch(Protocol):
    """HTTP requests to public addresses only."""

    async def fetch(self, request: FetchRequest) -> FetchResponse: ...
    def stream(self, request: FetchRequest) -> AbstractAsyncContextManager[StreamedResponse]: ...
    async def check(self, url: str) -> None:
        """Refuse a URL that a fetch would refuse."""


Fetchers = Mapping[FetchPurpose, Fetch]


class Sealer(Protocol):
    """Encrypts third-party secrets before they are stored, bound to their ``owner``."""

    def seal(self, secret: bytes, owner: str) -> bytes: ...
    def open(self, sealed: bytes, owner: str) -> bytes: ...
    def is_current(self, sealed: bytes) -> bool: ...


class Receivers(Protocol):
    """Current receivers of webhook deliveries."""

    async def find(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, Receiver]: ...
    async def of_org(self, org_id: int, url: str) -> Receiver:
        """A URL that is no endpoint, with the secret of the org."""


class NotificationTargets(Protocol):
    """Current targets of notifications, with their addresses opened."""

    async def find(self, target_ids: Sequence[UUID]) -> Mapping[UUID, Target]: ...


class Mailer(Protocol):
    """Sends e-mails."""

    @property
    def sender(self) -> str: ...

    async def send(self, to: str, mail: bytes) -> None: ...


class Connections(Protocol):
    """Connected shops with their opened credentials."""

    async def open(self, org_id: int, connection_id: UUID) -> ShopConnection:
        """The connection of this org. Raises `NotThere` if the org has no such connection, and
        `Waiting` while its credentials cannot be opened."""


class PictureIndex(Protocol):
    """Pictures of the org's products that were downloaded."""

    async def at_urls(self, org_id: int, urls: Sequence[str]) -> Mapping[str, KnownPicture]:
        """Known pictures by URL."""

    async def with_content(self, org_id: int, hashes: Sequence[str]) -> Mapping[str, KnownPicture]:
        """Known pictures by the SHA-256 of their content."""


class Context(Protocol):
    """What a stage can use. It has no access to the database, the lease or the broker."""

    log: Log
    blobs: Blobs
    children: Children
    fetchers: Fetchers
    batch_rows: int
    item_timeout_ms: int
    limits: Mapping[str, int]

    def port(self, kind: type[P]) -> P:
        """Read access to something that only some pipelines need: `Products`, `JobRows`,
        `Profiles`, `Receivers`, `Connections`, `PictureIndex`."""

    def time_is_up(self) -> bool:
        """Whether no further item should start: the slice's time is over, or it was cancelled."""

    def calls(
        self,
        provider: str,
        domain: str = "",
        *,
        company: str | None = None,
        cost: float = 0.0,
        rate: Rate | None = None,
        patience_ms: float | None = None,
    ) -> AbstractAsyncContextManager[Call]:
        """Wait until the provider may be called, then call it inside the block. A wait that would
        outlast the slice raises `Waiting`, which does not count as an attempt.

        With a ``company`` (or ``""``) the call also keeps to the provider's rate and circuit, which
        all workers of the org share per company and domain. ``cost`` is what the call takes from a
        provider's own cost bucket; ``rate`` is that of a provider that brings its own. Such a call
        waits for its turn for ``patience_ms`` at the most, a second by default: other items of the
        slice are not settled before."""


class Service(Protocol):
    """Periodic background work that one process of the installation does."""

    @property
    def name(self) -> str: ...

    @property
    def every_ms(self) -> int: ...

    async def run_once(self) -> object: ...
