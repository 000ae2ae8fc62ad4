"""Searching sources: what is asked, what came back, and the ports between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

from penstock.model.errors import PenstockError
from penstock.model.network.token_bucket import Rate
from penstock.model.ports import Call, Children, Fetch
from penstock.model.sources.config import SourceConfig
from penstock.model.transfer import transferable

# The provider that limits and circuits of sources are kept under; the domain is the source's name.
PROVIDER = "source"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What a source is asked for. Sources that cannot filter ignore all but the text."""

    text: str
    categories: Sequence[str] = ()
    suppliers: Sequence[str] = ()
    region: str = ""
    price_min: Decimal | None = None
    price_max: Decimal | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class OpenedSource:
    """A source with its opened credentials, which must not be logged or stored."""

    id: UUID
    org_id: int
    config: SourceConfig
    credentials: Mapping[str, str] = field(repr=False, default_factory=dict)

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def rate(self) -> Rate:
        return self.config.limits.parsed_rate


@transferable
@dataclass(frozen=True, slots=True)
class Offer:
    """One product of a source, normalised. ``product`` is the document of the catalog; ``error``
    is why it cannot be used."""

    product: Mapping[str, Any]
    lineage: Mapping[str, Any]
    problems: Sequence[Mapping[str, Any]] = ()
    error: Mapping[str, Any] | None = None


@transferable
@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What one answer of a source contains. ``next_cursor`` continues it."""

    offers: Sequence[Offer]
    records: int
    next_cursor: str | None = None
    total: int | None = None
    # What is wrong with the answer as a whole, such as violations of its schema.
    problems: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer as it came, and the request without its secrets."""

    url: str
    method: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    ms: int


@dataclass(frozen=True, slots=True)
class SourcePage:
    raw: RawAnswer
    read: ReadAnswer


RateTable = Sequence[tuple[date, str, Decimal]]


@dataclass(frozen=True, slots=True)
class SourceTools:
    """What a search works with. ``enter`` waits for the limits of the source and begins a call."""

    fetch: Fetch
    children: Children
    enter: Callable[[OpenedSource], AbstractAsyncContextManager[Call]]
    today: date
    base_currency: str = "USD"
    rates: RateTable = ()


class Sources(Protocol):
    """The sources of an org, with their opened credentials."""

    async def open(self, org_id: int, source_id: UUID) -> OpenedSource:
        """Raises `NotThere` if the org has no such source, and `Waiting` while its credentials
        cannot be opened."""

    async def enabled(self, org_id: int) -> Sequence[OpenedSource]:
        """All sources of the org that are asked by default, by name."""

    async def names(self, org_id: int) -> Mapping[str, UUID]:
        """The ids of these sources by name, without their credentials."""


class ResearchRequests(Protocol):
    """Research requests of an org and their attempts."""

    async def attempts(self, org_id: int, request_id: str) -> Sequence[UUID]:
        """The jobs of a request, oldest first."""


@dataclass(frozen=True, slots=True)
class SourceTrial:
    """The result of a test of a source."""

    request: Mapping[str, Any]
    page: SourcePage | None
    error: PenstockError | None


class SourceSearch(Protocol):
    """Checks and tests sources for use cases, which know no provider."""

    def check(self, config: SourceConfig) -> None:
        """Raise `BadInput` for fields that do not exist and a schema that cannot be used."""

    async def test(
        self, source: OpenedSource, query: SearchQuery, seconds: float, rates: RateTable
    ) -> SourceTrial: ...
