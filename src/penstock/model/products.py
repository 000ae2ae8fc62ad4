"""Catalog products as stages see them, and links between those of two sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, NamedTuple
from uuid import UUID

LinkDecision = Literal["accept", "refuse", "undo"]
LinkState = Literal["accepted", "refused", "undone"]
LinkReason = Literal["gtin", "mpn", "manual"]

STATE_AFTER: dict[LinkDecision, LinkState] = {
    "accept": "accepted",
    "refuse": "refused",
    "undo": "undone",
}


class ProductName(NamedTuple):
    """What a product is called by its supplier. It stays the same when the product is deleted and
    imported again."""

    source: str
    source_id: str


@dataclass(frozen=True, slots=True)
class ProductPair:
    """Two products of different sources, in the order of their names."""

    first: ProductName
    second: ProductName

    @classmethod
    def of(cls, one: ProductName, other: ProductName) -> ProductPair:
        if one.source == other.source:
            raise ValueError("a link is between products of two sources")
        return cls(*sorted((one, other)))

    def id(self, org_id: int) -> UUID:
        """The same for the same pair of an org, in whichever order it is given."""
        parts = (str(org_id), *self.first, *self.second)
        # With lengths, so that no two pairs are the same text.
        text = "".join(f"{len(part)}:{part}" for part in parts)
        return UUID(bytes=sha256(text.encode()).digest()[:16], version=5)


@dataclass(frozen=True, slots=True)
class KnownProduct:
    """A product of the catalog."""

    id: UUID
    source: str
    source_id: str
    sku: str | None
    gtin: str | None
    version: int
    published: bool
    data: Mapping[str, Any]
    # The job that wrote it last.
    job_id: UUID | None = None
    # Fields that a person has edited, which files do not change.
    kept: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundProducts:
    """Products that rows can match. ``catalog_key`` is the org's: `sku` or `gtin` if products of
    all its sources with the same key are one; None keeps sources apart."""

    products: Sequence[KnownProduct]
    catalog_key: str | None = None


@dataclass(frozen=True, slots=True)
class LinkCandidate:
    """A product of another source that shares a GTIN, or brand and MPN, with a row."""

    id: UUID
    source: str
    source_id: str
    sku: str | None
    gtin: str | None
    maker: str | None
    title: str | None
    # Products with which a link to it was accepted or refused.
    decided: frozenset[ProductName] = frozenset()


class RowNames(NamedTuple):
    """What a row and a product of another source have in common if both are the same."""

    source_id: str
    title_key: str | None
    gtin: str | None


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """Another source, and how many rows of a file are among its products."""

    source: str
    rows: int


# The field of a document that says whether customers may see the product.
PUBLISHED = "published"


class FieldChange(NamedTuple):
    """One field of a product that was changed; a side is None if it lacks the field."""

    field: str
    before: Any
    after: Any


def value_at(product: Mapping[str, Any], field: str) -> Any:
    """The value of a field; None where the product has none."""
    found: Any = product
    for part in field.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def with_value(product: dict[str, Any], field: str, value: Any) -> None:
    """Set a field in place, or remove it with None, with a section that is empty then."""
    *sections, name = field.split(".")
    place = product
    for section in sections:
        if value is None and section not in place:
            return
        place = place.setdefault(section, {})
    if value is None:
        place.pop(name, None)
    else:
        place[name] = value
    if sections and not place:
        product.pop(sections[0], None)


@dataclass(frozen=True, slots=True)
class KnownPicture:
    """A picture that was downloaded; ``thumbnails`` are blob keys by the size of their box."""

    url: str
    blob_key: str
    sha256: str
    size: int
    width: int | None
    height: int | None
    thumbnails: Mapping[int, str]
    hashes: tuple[str, str] | None = None
