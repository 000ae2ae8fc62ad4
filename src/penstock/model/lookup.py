"""Searches for products: what is asked, what is found, and the ports that stages search through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from uuid import UUID

# From the most certain to the least; a row is searched in this order.
VARIANTS = ("gtin", "mpnBrand", "sku", "brandTitle", "title")
# How pictures are searched, beside the variants of rows.
PICTURE_VARIANTS = ("image", "fileName")
# The name under which the org's own catalog is listed among the providers.
CATALOG = "catalog"
SearchOutcome = Literal["found", "ambiguous", "weak", "notFound", "failed"]
# An item that ended with this code waits for a person to choose among its candidates.
AMBIGUOUS = "AMBIGUOUS_MATCH"
# Member of an item's checkpoint: the candidate that a person chose, or that it is none of them.
CHOSEN = "chosen"
NONE_OF_THEM = "none"


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search of one row. ``place`` is the row's place in its batch; ``text`` is the key, or the
    words of a title joined by spaces."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class ImageQuery:
    """Perceptual hashes of a picture, each with 16 hexadecimal digits."""

    place: int
    phash: str
    dhash: str


@dataclass(frozen=True, slots=True)
class CatalogCandidate:
    """A product of the catalog that a search returned, without its document."""

    id: UUID
    source: str
    source_id: str
    sku: str | None
    gtin: str | None
    mpn: str | None
    brand: str | None
    title: str | None
    published: bool
    # Of searches by picture: how many bits of the hashes differ.
    distance: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogProduct:
    """A whole product of the catalog."""

    id: UUID
    source: str
    source_id: str
    sku: str | None
    gtin: str | None
    version: int
    published: bool
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PastSearch:
    """A search that was recorded for an item since it was last reopened."""

    attempt: int
    provider: str
    variant: str
    outcome: SearchOutcome
    # What a source answered; None for the catalog.
    answer: Mapping[str, Any] | None


class CatalogSearch(Protocol):
    """Searches in the org's catalog, each by an index. ``source`` narrows them to one source."""

    async def by_key(
        self, org_id: int, variant: str, queries: Sequence[SearchQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        """Candidates by place, for the variants `gtin`, `mpnBrand` and `sku`."""

    async def by_words(
        self, org_id: int, queries: Sequence[SearchQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        """Products whose titles contain all of the words; a place may have several queries."""

    async def by_image(
        self, org_id: int, queries: Sequence[ImageQuery], source: str | None
    ) -> Mapping[int, Sequence[CatalogCandidate]]:
        """Products with a picture that looks alike, the most alike first."""

    async def written_by(
        self, org_id: int, job_id: UUID, after: UUID | None, most: int
    ) -> Sequence[CatalogProduct]:
        """Products that a job of this org wrote, the next after an id."""

    async def whole_products(
        self, org_id: int, ids: Sequence[UUID]
    ) -> Mapping[UUID, CatalogProduct]:
        """Products of the org by their ids."""


class Searches(Protocol):
    """Searches that were recorded (`RecordSearch`)."""

    async def of_rows(
        self, job_id: UUID, rows: Sequence[int]
    ) -> Mapping[int, Sequence[PastSearch]]:
        """What was searched for these rows since they were last reopened, oldest first."""
