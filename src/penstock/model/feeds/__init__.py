"""What a feed contains."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from penstock.model.crawl.plan import PageUrl
from penstock.model.pipeline import Config

_PLAIN = r"^[^\x00-\x1f\x7f]*$"


class FeedSettings(Config):
    """Which products, and what is said of all of them."""

    source: str | None = Field(None, min_length=1, max_length=200, description="Only this source.")
    title: str = Field("Products", min_length=1, max_length=150, pattern=_PLAIN)
    site: PageUrl = Field("https://example.com/", description="The shop's address.")
    link: str = Field(
        "", max_length=500, pattern=r"^(https?://[^\x00-\x20\x7f]*)?$",
        description="Address of products without one: `{sku}`, `{gtin}` and `{id}` are replaced.",
    )  # fmt: skip
    condition: Literal["new", "refurbished", "used"] = "new"
    availability: Literal["", "in_stock", "out_of_stock", "preorder", "backorder"] = Field(
        "", description="Of products that say nothing; without it they are left out."
    )
    max_age_minutes: int = Field(
        15, ge=1, le=1440, description="How old the file may be that a fetch gets."
    )
