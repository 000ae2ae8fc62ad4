"""Feeds as the API takes and shows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import OrgQuery, Shape
from penstock.app.feeds.feeds import FeedOrder
from penstock.app.owned import is_creator_or_admin
from penstock.model.feeds import FeedSettings
from penstock.store.accounts.audit_log import Caller
from penstock.store.feeds.feeds import FeedFile, FeedRow


class NewFeed(Shape):
    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*\S$")
    enabled: bool = True
    settings: FeedSettings = Field(default_factory=FeedSettings)

    def order(self) -> FeedOrder:
        return FeedOrder(self.name, self.enabled, self.settings)


class FeedsQuery(OrgQuery):
    pass


class LeftOutProduct(Shape):
    product_id: UUID
    title: str
    reason: str


class LeftOut(Shape):
    reasons: dict[str, int] = Field(
        description="How many products lack what: `NO_TITLE`, `NO_LINK`, `NO_IMAGE`, `NO_PRICE`,"
        " `NO_CURRENCY` or `NO_AVAILABILITY`."
    )
    products: list[LeftOutProduct] = Field(description="The first ones.")


class FeedFileShape(Shape):
    kind: Literal["xml", "csv"]
    size: int
    included: int = Field(description="Products in the file.")
    left_out: LeftOut
    built_at: datetime


class FeedShape(Shape):
    id: UUID
    org: str
    name: str
    enabled: bool
    settings: dict[str, Any]
    files: list[FeedFileShape] = Field(description="As they were built last.")
    may_change: bool
    read_at: datetime | None = Field(description="When it was fetched last.")
    created_at: datetime
    updated_at: datetime
    rotated_at: datetime | None


class FeedWithSecret(FeedShape):
    paths: dict[str, str] = Field(
        description="Addresses on this server, by format. They are shown only now."
    )


class FeedList(Shape):
    items: list[FeedShape]


class DeletedFeed(Shape):
    id: UUID


def file_shape(file: FeedFile) -> dict[str, Any]:
    return {
        "kind": file.kind, "size": file.size, "included": file.included,
        "leftOut": stored(file.left_out), "builtAt": file.built_at,
    }  # fmt: skip


def feed_shape(row: FeedRow, caller: Caller, files: Sequence[FeedFile] = ()) -> dict[str, Any]:
    return {
        "id": str(row.id), "org": row.org, "name": row.name, "enabled": row.enabled,
        "settings": stored(row.options), "files": [file_shape(one) for one in files],
        "mayChange": is_creator_or_admin(caller, row), "readAt": row.read_at,
        "createdAt": row.created_at, "updatedAt": row.updated_at, "rotatedAt": row.rotated_at,
    }  # fmt: skip


def paths_of(secret: str) -> dict[str, str]:
    return {kind: f"/feeds/{secret}.{kind}" for kind in ("xml", "csv")}
