"""What the rooms ask of each other. `wiring` hands the real things over."""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Hashable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Protocol
from uuid import UUID

from penstock.model.network.fetching import Fetched, FetchPurpose, FetchRequest, Streamed
from penstock.model.network.governor import CallLimit
from penstock.model.products import FoundProducts, LinkCandidate
from penstock.model.webhooks import Receiver


class Log(Protocol):
    def debug(self, event: str, **values: Any) -> Any: ...
    def info(self, event: str, **values: Any) -> Any: ...
    def warning(self, event: str, **values: Any) -> Any: ...
    def error(self, event: str, **values: Any) -> Any: ...


class Blobs(Protocol):
    """Bytes by content hash. Writing the same bytes twice is harmless."""

    async def put(self, chunks: AsyncIterator[bytes], limit: int) -> StoredBlob: ...
    def path(self, key: str) -> Path: ...
    async def exists(self, key: str) -> bool: ...
    async def sweep(self, older_than_seconds: float) -> int: ...
    async def head(self, key: str) -> bytes: ...
    async def remove(self, key: str, older_than_seconds: float = 0) -> bool: ...
    async def keys(self, after: str, most: int) -> Sequence[str]: ...
    async def belong_to(self, installation: str) -> bool: ...
    @property
    def partials(self) -> Partials: ...
    @property
    def pictures(self) -> Pictures: ...


class Pictures(Protocol):
    """Small pictures by name, for a while."""

    async def get(self, name: str) -> bytes | None: ...
    async def put(self, name: str, content: bytes) -> None: ...


class Partials(Protocol):
    """Files that come in several requests, until they are whole."""

    async def offset(self, key: str) -> int: ...
    def hold(self, key: str) -> AbstractAsyncContextManager[Partial]: ...
    async def remove(self, key: str) -> None: ...


class Partial(Protocol):
    """One that nobody else writes meanwhile."""

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
    """The path of a file that a child shall read; it can open no other."""

    __slots__ = ()


class Children(Protocol):
    """Child processes with bounds on memory and CPU time, for parsers and heavy stages."""

    async def call(self, function: Callable[..., Any], *args: Any) -> Any: ...
    def stream(
        self, function: Callable[..., Iterator[Any]], *args: Any
    ) -> AsyncGenerator[Any, None]: ...
    def for_owner(self, owner: Hashable) -> Children: ...


class Broker(Protocol):
    """What tells a worker to look. Losing, doubling or reordering tickets changes nothing."""

    async def start(self) -> None: ...
    async def wake(self, lane: str) -> None: ...
    async def wait(self, timeout: float) -> None: ...
    async def close(self) -> None: ...


Winner = Literal["first", "last", "most_complete"]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows came out how, and what was wrong in which column (code, count, an example)."""

    states: Mapping[str, int]
    problems: Mapping[str, Sequence[Mapping[str, Any]]]
    # Rows with proposed links to products of other sources.
    linked: int = 0


@dataclass(frozen=True, slots=True)
class Missing:
    """Products that a job's file lacks, how many of them are off the shelf now, and the first."""

    count: int
    unpublished: int
    first: Sequence[Mapping[str, Any]]


class Catalog(Protocol):
    """What stages may know of products and of the job's other rows. Changes are effects."""

    async def find(
        self,
        org_id: int,
        source: str,
        source_ids: Sequence[str],
        skus: Sequence[str],
        gtins: Sequence[str],
    ) -> FoundProducts:
        """Products of this source by any of their names; of all sources by the org's catalog
        key."""

    async def link_candidates(
        self, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
    ) -> Sequence[LinkCandidate]:
        """Products of the org's other sources with one of these GTINs or makers' numbers."""

    async def files_of_source(self, org_id: int, source: str) -> Sequence[str]:
        """Names of some of the files that products of a source were last written from."""

    async def rows_named(
        self, job_id: UUID, keys: Sequence[str], most: int
    ) -> Mapping[str, Sequence[int]]:
        """Rows of the job that call themselves so, the first ``most`` of each name."""

    async def row_to_keep(
        self, job_id: UUID, keys: Sequence[str], winner: Winner
    ) -> Mapping[str, int]:
        """Of the rows that call themselves so, the one that wins."""

    async def rows_alike(
        self, job_id: UUID, column: int, most: int, share: float
    ) -> Sequence[int] | None:
        """Rows whose cell is empty, or spelled like that of another row; None if there are more
        than ``most``, or than that share of all, or if they cannot be told, or not in time."""

    async def tally(self, job_id: UUID) -> Tally:
        """Over all rows of the job, for its summary."""

    async def missing(self, job_id: UUID, most: int) -> Missing:
        """What was found to be missing from the job's file."""

    async def unnamed_rows(self, job_id: UUID) -> int:
        """How many rows of the job did not say which product they are."""

    async def documents(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        """What earlier stages made of other rows of the job."""

    async def profile(
        self, org_id: int, name: str | None, fingerprint: str | None
    ) -> Mapping[str, Any] | None:
        """The profile of that name, or the one saved for files with these columns."""

    async def rates(self, base: str, day: date) -> Sequence[tuple[date, str, Decimal]]:
        """What currencies were worth on that day, or lately before it."""


class Call(Protocol):
    """A call to a provider that is under way. One that ends without a word went well; one that an
    error of the provider's leaves did not."""

    def throttled(self, retry_after_ms: float | None = None) -> None:
        """It said too much (429), and perhaps when to come back."""

    def failed(self) -> None:
        """It is out of order (5xx) or did not answer."""


class Calls(Protocol):
    """How many calls each provider gets at once, and how far apart."""

    def call(
        self, provider: str, domain: str, *, until: float, time_is_up: Callable[[], bool]
    ) -> AbstractAsyncContextManager[Call]: ...
    def limits(self) -> Mapping[tuple[str, str], CallLimit]: ...


class Fetch(Protocol):
    """Requests to servers elsewhere, none of which reaches an address that is not public."""

    async def fetch(self, request: FetchRequest) -> Fetched: ...
    def stream(self, request: FetchRequest) -> AbstractAsyncContextManager[Streamed]: ...
    async def check(self, url: str) -> None:
        """Refuse a URL that no fetch would be allowed to ask."""


Fetchers = Mapping[FetchPurpose, Fetch]


class Sealer(Protocol):
    """Secrets of others, sealed before they are stored. ``owner`` is sealed in with each."""

    def seal(self, secret: bytes, owner: str) -> bytes: ...
    def open(self, sealed: bytes, owner: str) -> bytes: ...
    def is_current(self, sealed: bytes) -> bool: ...


class Receivers(Protocol):
    """Where deliveries of webhooks go, as it is set now."""

    async def find(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, Receiver]: ...


class Context(Protocol):
    """What a stage may use. It never sees the database, the lease or the broker."""

    log: Log
    blobs: Blobs
    children: Children
    catalog: Catalog
    fetchers: Fetchers
    receivers: Receivers
    batch_rows: int
    item_timeout_ms: int
    limits: Mapping[str, int]

    def time_is_up(self) -> bool:
        """No further item should start: the slice's time box is over, or it was cancelled."""

    def calls(self, provider: str, domain: str = "") -> AbstractAsyncContextManager[Call]:
        """Wait for this provider's turn, then call it inside. A wait that would outlast the slice
        raises `Waiting`, which is no try of the item."""


class Service(Protocol):
    """Background work that one process of the installation does, again and again."""

    @property
    def name(self) -> str: ...

    @property
    def every_ms(self) -> int: ...

    async def run_once(self) -> object: ...
