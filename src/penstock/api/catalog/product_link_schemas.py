"""Links between products of two sources, as asked for and as shown."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, model_validator

from penstock.api.http.schemas import PRINTABLE, OrgQuery, Shape
from penstock.model.products import LinkDecision
from penstock.store.catalog.product_links import DecidedPair, LinkedProduct, ProposedPair

By = Literal["gtin", "mpn"]
_MOST_PAIRS = 200


class LinkSide(Shape):
    """One product of a link."""

    product_id: UUID | None = Field(
        description="Null if the catalog does not have the product, or not yet."
    )
    source: str
    source_id: str
    sku: str | None
    title: str | None
    price: dict[str, Any] | None
    availability: str | None
    status: Literal["published", "unpublished"] | None


class JobLink(Shape):
    """A link that a row of a job proposes."""

    id: UUID = Field(description="The same for the same two products, in any job.")
    row_no: int
    by: By = Field(description="The same GTIN, or the same brand and MPN.")
    product: LinkSide
    other: LinkSide


class JobLinkPage(Shape):
    items: list[JobLink] = Field(
        description="In row order. A page may hold few or none and still not be the last one: it"
        " ends when its time is up."
    )
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class JobLinksQuery(Shape):
    by: By | None = Field(None, description="Unset: both kinds.")
    page_size: int = Field(50, ge=1, le=200, description="A page holds whole rows: up to five.")
    after: str = Field("", description="`next` of the page before.")


class DecideJobLinks(Shape):
    """Decide all links that the job proposes."""

    decision: Literal["accept", "refuse"]
    by: By | None = Field(None, description="Only links of this kind.")
    after: str = Field("", description="`next` of the answer before.", max_length=500)


class JobLinksDecided(Shape):
    decided: int
    skipped: int = Field(
        description="Not accepted, because a product resembles several products of one source:"
        " decide them one by one."
    )
    next: str | None = Field(description="Not null: there is more; repeat with it as `after`.")


class PairToDecide(Shape):
    product_id: UUID
    other_id: UUID


class NamedProduct(Shape):
    source: str = Field(min_length=1, max_length=200, pattern=PRINTABLE)
    source_id: str = Field(min_length=1, max_length=500, pattern=r"^[^\x00]*$")


class NamedPair(Shape):
    """Two products by name. One of them may be created later, by the import that a preview or a
    check shows."""

    product: NamedProduct
    other: NamedProduct
    by: By | None = Field(None, description="What both share; unset: linked by hand.")

    @model_validator(mode="after")
    def _two_sources(self) -> NamedPair:
        if self.product.source == self.other.source:
            raise ValueError("a link is between products of two sources")
        return self


class DecideLinks(Shape):
    """Decide pairs of products of two sources, whether they are proposed or not."""

    decision: LinkDecision = Field(
        description="`undo` takes a decision back: the pair may be proposed again."
    )
    pairs: list[PairToDecide] = Field(
        default_factory=list, max_length=_MOST_PAIRS, description="By the ids of products."
    )
    named_pairs: list[NamedPair] = Field(
        default_factory=list, max_length=_MOST_PAIRS, description="By the names of products."
    )

    @model_validator(mode="after")
    def _has_pairs(self) -> DecideLinks:
        if not self.pairs and not self.named_pairs:
            raise ValueError("give pairs or namedPairs")
        return self


class LinksDecided(Shape):
    decided: int = Field(description="Pairs whose state is another one now.")


class DecidedLink(Shape):
    id: UUID
    state: Literal["accepted", "refused"]
    by: Literal["gtin", "mpn", "manual"] = Field(
        description="What the products shared when the link was decided."
    )
    decided_at: datetime
    decided_by: str | None = Field(description="Null for a user of another org.")
    product: LinkSide
    other: LinkSide


class DecidedLinkPage(Shape):
    items: list[DecidedLink] = Field(description="The latest decision first.")
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class DecidedLinksQuery(OrgQuery):
    state: Literal["accepted", "refused"] | None = Field(None, description="Unset: both.")
    source: str = Field(
        "", max_length=200, pattern=PRINTABLE, description="One of the products is of this source."
    )
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class LinkOfProduct(Shape):
    """A link of a product that was decided."""

    id: UUID
    state: Literal["accepted", "refused"]
    by: Literal["gtin", "mpn", "manual"]
    decided_at: datetime
    decided_by: str | None
    other: LinkSide


def link_side(one: LinkedProduct) -> dict[str, Any]:
    status = None
    if one.published is not None:
        status = "published" if one.published else "unpublished"
    return {
        "productId": None if one.id is None else str(one.id), "source": one.source,
        "sourceId": one.source_id, "sku": one.sku, "title": one.title, "price": one.price,
        "availability": one.availability, "status": status,
    }  # fmt: skip


def job_link(one: ProposedPair, org_id: int) -> dict[str, Any]:
    return {
        "id": str(one.pair.id(org_id)), "rowNo": one.row_no, "by": one.by,
        "product": link_side(one.product), "other": link_side(one.other),
    }  # fmt: skip


def decided_link(one: DecidedPair) -> dict[str, Any]:
    shown = {
        "id": str(one.id), "state": one.state, "by": one.by, "decidedAt": one.decided_at,
        "decidedBy": one.decided_by, "other": link_side(one.other),
    }  # fmt: skip
    return shown if one.product is None else {**shown, "product": link_side(one.product)}
