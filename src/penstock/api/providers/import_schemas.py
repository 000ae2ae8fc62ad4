"""An import of a shop as the API takes it."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from pydantic import Field, model_validator

from penstock.api.http.schemas import SOME_ID, Moment, Priority, Shape
from penstock.model.fairness import DEFAULT_PRIORITY


class ImportOrder(Shape):
    """Exactly one of `all`, `productIds` and `since` says which products."""

    connection_id: UUID = Field(description="The connected shop.", examples=[SOME_ID])
    all: Literal[True] | None = Field(None, description="Every product of the shop.")
    product_ids: list[str] | None = Field(
        None, min_length=1, max_length=2000, description="Products by the shop's own ids."
    )
    since: Moment | Literal["last"] | None = Field(
        None,
        description="Products that changed after this time, or since the `last` import; all of them"
        " if there was none, or if the shop cannot list changes.",
    )
    config: dict[str, Any] = Field(
        default_factory=dict,
        description="`intent` (merge), `images` (true), `thumbnails` (sizes), `missing` (report or"
        " unpublish), `priceGuard` (percent), `baseCurrency` (USD).",
        examples=[{"intent": "merge", "images": True}],
    )
    priority: Priority = DEFAULT_PRIORITY
    name: str = Field("", max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")
    due_at: Moment | None = Field(None, description="Begin no sooner, within a year.")

    @model_validator(mode="after")
    def _one_of_three(self) -> ImportOrder:
        if sum(one is not None for one in (self.all, self.product_ids, self.since)) != 1:
            raise ValueError("give exactly one of `all`, `productIds` and `since`")
        return self
