"""What an import of a shop is asked for, and the retries of its calls."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field, model_validator

from penstock.model.pipeline import Config
from penstock.model.policy import RetryPolicy, RetryRule

Intent = Literal["check", "create", "update", "merge", "replace", "ignoreExisting"]
MAX_PRODUCT_IDS = 2000

# Three retries, after 5 s, 25 s and 125 s.
_CALLS = RetryRule(3, base_ms=5000, factor=5.0, cap_ms=15 * 60_000)
POLICY = RetryPolicy(
    dict.fromkeys(
        (
            *("API_RATE_LIMIT", "QUOTA_EXCEEDED", "API_TIMEOUT", "FETCH_TIMEOUT"),
            *("SERVICE_UNAVAILABLE", "NETWORK_ERROR", "INTERNAL_ERROR", "BLOB_UNAVAILABLE"),
        ),
        _CALLS,
    )
)


class ShopImportConfig(Config):
    """Exactly one of ``all``, ``productIds`` and ``since`` says what is imported."""

    connection_id: UUID = Field(description="The connected shop.")
    provider: str = Field("", max_length=50, description="Set by the server.")
    all: bool = Field(False, description="Every product of the shop.")
    product_ids: tuple[str, ...] | None = Field(
        None, min_length=1, max_length=MAX_PRODUCT_IDS, description="Products by the shop's ids."
    )
    since: datetime | Literal["last"] | None = Field(
        None, description="Products that changed after this time, or since the `last` import."
    )
    intent: Intent = Field("merge", description="What may be written to the catalog.")
    images: bool = Field(True, description="Download pictures and make thumbnails.")
    thumbnails: tuple[int, ...] | None = Field(
        None, max_length=8, description="Sizes of thumbnails in pixels; else as the server is set."
    )
    missing: Literal["report", "unpublish"] | None = Field(
        None,
        description="What to do with products that the shop no longer has: report or unpublish"
        " them. Only with `all`.",
    )
    price_guard: float = Field(
        0,
        ge=0,
        le=100_000,
        description="Hold back a price that changes by more percent than this; 0: none. A shop's"
        " own prices are trusted.",
    )
    base_currency: str = Field("USD", pattern=r"^[A-Z]{3}$")

    @model_validator(mode="after")
    def _one_of_three(self) -> ShopImportConfig:
        chosen = [self.all, self.product_ids is not None, self.since is not None]
        if sum(chosen) != 1:
            raise ValueError("give exactly one of `all`, `productIds` and `since`")
        if self.missing is not None and not self.all:
            raise ValueError("missing: only an import of `all` products knows what is missing")
        if self.missing == "unpublish" and self.intent == "check":
            raise ValueError("missing: a check writes nothing; use `report`, or set `intent`")
        if self.thumbnails and not all(16 <= box <= 4000 for box in self.thumbnails):
            raise ValueError("thumbnails: sizes are from 16 to 4000 pixels")
        return self

    @property
    def ids(self) -> list[str]:
        return list(dict.fromkeys(self.product_ids or ()))

    def first_rows(self) -> list[dict[str, Any]]:
        """The inputs of the items that an import begins with."""
        if self.product_ids is None:
            return [{"kind": "page", "page": 1}]
        return [{"kind": "product", "id": one} for one in self.ids]
