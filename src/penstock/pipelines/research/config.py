"""What a research request is asked for, in the forms of `research` and of the job types."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal

from pydantic import Field, model_validator

from penstock.model.fairness import PRIORITIES
from penstock.model.pipeline import Config
from penstock.model.sources.search import SearchQuery

MAX_SOURCES = 100
_REQUEST_ID = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$"
PriorityName = Literal["high", "medium", "low"]


class PriceRange(Config):
    min: Decimal | None = Field(None, ge=0, max_digits=20)
    max: Decimal | None = Field(None, ge=0, max_digits=20)
    currency: str = Field("", pattern=r"^([A-Z]{3})?$", description="Else the base currency.")

    @model_validator(mode="after")
    def _in_order(self) -> PriceRange:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max")
        return self


class SearchOrder(Config):
    """What is searched for. Sources that cannot filter are filtered afterwards."""

    query: str = Field(
        min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$"
    )
    categories: tuple[str, ...] = Field((), max_length=50)
    price_range: PriceRange = Field(default_factory=PriceRange)
    suppliers: tuple[str, ...] = Field((), max_length=50)
    region: str = Field("", max_length=100)
    sources: tuple[str, ...] | None = Field(
        None, min_length=1, max_length=MAX_SOURCES, description="By name; left out: all enabled."
    )
    base_currency: str = Field("USD", pattern=r"^[A-Z]{3}$")
    max_seconds: int = Field(
        120, ge=30, le=300, description="How long the sources may take; the rest is reported."
    )

    def search(self) -> SearchQuery:
        wanted = self.price_range
        return SearchQuery(
            self.query, self.categories, self.suppliers, self.region, wanted.min, wanted.max,
            wanted.currency,
        )  # fmt: skip

    def plain(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class ResearchConfig(SearchOrder):
    request_id: str | None = Field(
        None, pattern=_REQUEST_ID, description="Your own name of the request; else the job's id."
    )
    webhook_url: str | None = Field(
        None, max_length=4096, description="Where the end of the request is posted to."
    )

    @property
    def order(self) -> SearchOrder:
        given = self.model_dump(exclude_unset=True, exclude={"request_id", "webhook_url"})
        return SearchOrder(**given)

    @property
    def original(self) -> str | None:
        return None


class ProcessParameters(Config):
    categories: tuple[str, ...] = Field((), max_length=50)
    price_range: PriceRange = Field(default_factory=PriceRange)
    suppliers: tuple[str, ...] = Field((), max_length=50)
    region: str = Field("", max_length=100)
    sources: tuple[str, ...] | None = Field(None, min_length=1, max_length=MAX_SOURCES)


class ProcessConfig(Config):
    """The body of `research-process`."""

    request_id: str = Field(pattern=_REQUEST_ID)
    user_id: str = Field("", max_length=100, description="For the caller's own records.")
    query: str = Field(min_length=1, max_length=500)
    parameters: ProcessParameters = Field(default_factory=ProcessParameters)
    webhook_url: str | None = Field(None, max_length=4096)
    priority: PriorityName = "medium"

    @property
    def order(self) -> SearchOrder:
        return SearchOrder(query=self.query, **self.parameters.model_dump(exclude_unset=True))

    @property
    def original(self) -> str | None:
        return None

    @model_validator(mode="after")
    def _usable(self) -> ProcessConfig:
        _ = self.order
        return self


class RetryConfig(Config):
    """The body of `research-retry`: sources that failed are asked again, the others are not."""

    original_request_id: str = Field(pattern=_REQUEST_ID)
    attempt_number: int | None = Field(None, ge=1, le=100, description="For your own records.")
    previous_error: dict[str, Any] | None = Field(None, description="For your own records.")

    @property
    def request_id(self) -> str:
        return self.original_request_id

    @property
    def webhook_url(self) -> str | None:
        return None

    @property
    def original(self) -> str | None:
        return self.original_request_id


def priority_number(name: PriorityName) -> int:
    return PRIORITIES[name]
