"""Searches and choices as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from penstock.api.http.schemas import Shape


class SearchShape(Shape):
    id: int
    attempt: int = Field(description="Number of the try, from 1.")
    provider: str = Field(description="`catalog`, or the name of the source.")
    variant: str = Field(
        description="`gtin`, `mpnBrand`, `sku`, `brandTitle` or `title`; of pictures also `image`"
        " and `fileName`."
    )
    query: str
    outcome: Literal["found", "ambiguous", "weak", "notFound", "failed"] = Field(
        description="`weak`: candidates below the threshold of a match."
    )
    score: float | None = Field(description="Confidence in the best candidate, from 0 to 1.")
    candidates: int = Field(description="How many candidates it returned.")
    latency_ms: float
    error: dict[str, Any] | None
    created_at: datetime


class SearchPage(Shape):
    searches: list[SearchShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class SearchesQuery(Shape):
    page_size: int = Field(100, ge=1, le=500)
    after: str = Field("", max_length=500)


class ChoiceOrder(Shape):
    """Which candidate is meant."""

    candidate: str | None = Field(
        max_length=200, description="The `key` of a candidate; null: none of them is meant."
    )


class EnrichRequest(Shape):
    """Which fields of the products may be filled, and where they are looked up."""

    fields: list[Annotated[str, Field(min_length=1, max_length=60)]] | None = Field(
        None,
        min_length=1,
        max_length=20,
        description="Without it `identifiers.gtin`, `images` and `description`.",
        examples=[["gtin", "description"]],
    )
    sources: list[Annotated[str, Field(min_length=1, max_length=63)]] | None = Field(
        None, max_length=50, description="Sources to ask; without it all that are enabled."
    )


class DecisionOrder(Shape):
    """Which proposals are decided about: these rows, or all of the job."""

    item_ids: list[Annotated[int, Field(ge=1, le=2**31 - 1)]] | None = Field(
        None, min_length=1, max_length=1000, description="Row numbers; without it all proposals."
    )
    fields: list[Annotated[str, Field(min_length=1, max_length=60)]] | None = Field(
        None, min_length=1, max_length=20, description="Accept only these fields of the rows."
    )
