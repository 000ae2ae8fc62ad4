"""What a crawl is asked for besides its pages, and the retries of its requests."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from penstock.model.pipeline import Config
from penstock.model.policy import RetryPolicy, RetryRule

Kind = Literal["product", "job", "auto"]
Intent = Literal["check", "create", "update", "merge", "replace", "ignoreExisting"]
# A company is stopped after so many pages that failed in one run.
MAX_FAILURES = 5

# Three tries with a second in between. A page that answers 404 or 410 is not retried.
_AGAIN = RetryRule(2, base_ms=1000, cap_ms=1000)
CRAWL_POLICY = RetryPolicy(
    dict.fromkeys(
        (
            *("API_RATE_LIMIT", "API_TIMEOUT", "FETCH_TIMEOUT", "SERVICE_UNAVAILABLE"),
            *("NETWORK_ERROR", "INTERNAL_ERROR"),
        ),
        _AGAIN,
    ),
    not_found=RetryRule(0),
)


class CrawlConfig(Config):
    kind: Kind = Field("auto", description="What the pages are: `product`, `job`, or either.")
    rate: float = Field(
        1.0, ge=0.01, le=50, description="Requests a second to each company, one after the other."
    )
    robots: bool = Field(True, description="Keep to robots.txt.")
    recrawl: bool = Field(
        False,
        description="Fetch and write every page, even if it has not changed since the last run.",
    )
    intent: Intent = Field("merge", description="What may be written to the catalog.")
    price_guard: float = Field(
        0,
        ge=0,
        le=100_000,
        description="Hold back a price that changes by more percent than this; 0: none.",
    )
    base_currency: str = Field("USD", pattern=r"^[A-Z]{3}$")

    @property
    def pace_ms(self) -> int:
        """Least time between two requests to a company."""
        return max(1, round(1000 / self.rate))
