"""Catalog products as stages see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID


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
