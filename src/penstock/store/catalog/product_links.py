"""Links between products of two sources that a person has decided on, and those to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.products import LinkReason, LinkState, ProductName, ProductPair
from penstock.store.database import Connection, from_json
from penstock.store.queries import load

_sql = load("product_links")


@dataclass(frozen=True, slots=True)
class LinkedProduct:
    """One side of a link. ``id`` is None if the catalog does not have the product now."""

    id: UUID | None
    source: str
    source_id: str
    sku: str | None
    title: str | None
    price: Mapping[str, Any] | None
    availability: str | None
    published: bool | None

    @property
    def name(self) -> ProductName:
        return ProductName(self.source, self.source_id)


@dataclass(frozen=True, slots=True)
class ProposedPair:
    """A link that rows of a job propose."""

    row_no: int
    by: LinkReason
    product: LinkedProduct
    other: LinkedProduct

    @property
    def pair(self) -> ProductPair:
        return ProductPair.of(self.product.name, self.other.name)


@dataclass(frozen=True, slots=True)
class DecidedPair:
    """A link that was decided. ``product`` is None where the pairs of one product are listed."""

    id: UUID
    state: LinkState
    by: LinkReason
    decided_at: datetime
    decided_by: str | None
    product: LinkedProduct | None
    other: LinkedProduct


@dataclass(frozen=True, slots=True)
class ProductToLink:
    """What decides whether two products can be linked, and by what."""

    id: UUID
    org_id: int
    source: str
    source_id: str
    gtin: str | None
    maker: str | None

    @property
    def name(self) -> ProductName:
        return ProductName(self.source, self.source_id)


async def decided_with(
    conn: Connection, org_id: int, names: Sequence[ProductName]
) -> dict[ProductName, frozenset[ProductName]]:
    """Of each product, the products with which a link was accepted or refused."""
    if not names:
        return {}
    sources, ids = zip(*names, strict=True)
    found: dict[ProductName, set[ProductName]] = {}
    for row in await conn.fetch(_sql.decided_with, org_id, list(sources), list(ids)):
        name = ProductName(row["source"], row["source_id"])
        other = ProductName(row["with_source"], row["with_source_id"])
        found.setdefault(name, set()).add(other)
    return {name: frozenset(others) for name, others in found.items()}


async def states_of(conn: Connection, org_id: int, ids: Sequence[UUID]) -> dict[UUID, LinkState]:
    rows = await conn.fetch(_sql.states_of, list(ids), org_id)
    return {row["id"]: row["state"] for row in rows}


async def decide(
    conn: Connection, org_id: int, user_id: int, state: LinkState,
    pairs: Mapping[ProductPair, LinkReason],
) -> int:  # fmt: skip
    """How many pairs have another state than before."""
    listed = [
        (pair.id(org_id), *pair.first, *pair.second, reason) for pair, reason in pairs.items()
    ]
    columns = [list(column) for column in zip(*listed, strict=True)]
    return len(await conn.fetch(_sql.decide, org_id, state, user_id, *columns))


async def decided_page(
    conn: Connection, org_id: int, states: Sequence[LinkState], source: str | None,
    before: tuple[datetime, UUID], limit: int,
) -> list[DecidedPair]:  # fmt: skip
    """The latest decision first."""
    rows = await conn.fetch(_sql.decided_page, org_id, *before, list(states), source, limit)
    return [_decided(row, _side(row, "")) for row in rows]


async def decided_of_product(conn: Connection, product_id: UUID, limit: int) -> list[DecidedPair]:
    """Accepted ones first."""
    rows = await conn.fetch(_sql.decided_of_product, product_id, limit)
    return [_decided(row, None) for row in rows]


async def products_to_link(conn: Connection, ids: Sequence[UUID]) -> dict[UUID, ProductToLink]:
    rows = await conn.fetch(_sql.products_to_link, list(ids))
    return {row["id"]: ProductToLink(**row) for row in rows}


async def products_named(
    conn: Connection, org_id: int, names: Sequence[ProductName]
) -> dict[ProductName, ProductToLink]:
    """Those that the catalog has."""
    sources, ids = [one.source for one in names], [one.source_id for one in names]
    rows = await conn.fetch(_sql.products_named, org_id, sources, ids)
    found = [ProductToLink(**row) for row in rows]
    return {one.name: one for one in found}


async def proposed_in_rows(
    conn: Connection, org_id: int, job_id: UUID, after: int, last: int, by: LinkReason | None,
    *, with_new: bool,
) -> list[ProposedPair]:  # fmt: skip
    """What rows ``after`` + 1 to ``last`` propose and is not decided, each pair once.
    ``with_new``: also of products that an import of the rows would create."""
    rows = await conn.fetch(_sql.proposed_in_rows, job_id, after, last, org_id, by, with_new)
    found: dict[UUID, ProposedPair] = {}
    for row in rows:
        one = ProposedPair(row["row_no"], row["by"], _side(row, ""), _side(row, "other_"))
        found.setdefault(one.pair.id(org_id), one)
    states = await states_of(conn, org_id, list(found)) if found else {}
    return [one for place, one in found.items() if states.get(place, "undone") == "undone"]


def _decided(row: Any, product: LinkedProduct | None) -> DecidedPair:
    return DecidedPair(
        row["id"], row["state"], row["by"], row["decided_at"], row["decided_by"], product,
        _side(row, "other_"),
    )  # fmt: skip


def _side(row: Any, prefix: str) -> LinkedProduct:
    return LinkedProduct(
        row[f"{prefix}id" if prefix else "product_id"], row[f"{prefix}source"],
        row[f"{prefix}source_id"], row[f"{prefix}sku"], row[f"{prefix}title"],
        from_json(row[f"{prefix}price"]), row[f"{prefix}stock"], row[f"{prefix}published"],
    )  # fmt: skip
