"""The values of the filters of the product list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from penstock.api.catalog.product_schemas import ProductsQuery
from penstock.api.catalog.products import wanted_of
from penstock.api.http.access import ApiParts, Reader
from penstock.api.http.answers import answer
from penstock.api.http.schemas import Shape
from penstock.store.catalog.filter_values import FilterValue, filter_values

router = APIRouter(tags=["products"])


class FilterValueShape(Shape):
    value: str
    count: int = Field(description="At most 1,000.")
    more: bool = Field(description="There may be more products than `count`.")


class ProductFilters(Shape):
    sources: list[FilterValueShape] = Field(description="By name, at most 100.")
    brands: list[FilterValueShape] = Field(description="The most frequent first, at most 50.")
    categories: list[FilterValueShape] = Field(description="The most frequent first, at most 50.")
    statuses: list[FilterValueShape]
    looked_at: int = Field(
        description="How many products were counted, those changed last: at most 5,000."
    )
    complete: bool = Field(description="All products were counted.")


@router.get(
    "/products/filters",
    summary="List values for filters of products",
    responses={200: {"model": ProductFilters}},
)
async def list_filter_values(
    api: ApiParts, who: Reader, query: Annotated[ProductsQuery, Query()]
) -> Response:
    """Sources, brands, categories and states, each with the number of products that match it and
    the other filters. The time is bounded: of a large catalog the products that were changed last
    are counted."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await filter_values(conn, await wanted_of(conn, who, query))
    return answer(
        {
            "sources": _shapes(found.sources), "brands": _shapes(found.brands),
            "categories": _shapes(found.categories), "statuses": _shapes(found.states),
            "lookedAt": found.looked_at, "complete": found.complete,
        }
    )  # fmt: skip


def _shapes(found: Sequence[FilterValue]) -> list[dict[str, Any]]:
    return [{"value": one.value, "count": one.count, "more": one.more} for one in found]
