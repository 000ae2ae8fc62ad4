"""Limits and circuits of providers as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from penstock.api.http.schemas import Shape

State = Literal["closed", "open", "half_open"]


class CircuitShape(Shape):
    state: State = Field(description="`open`: not called; `half_open`: one call probes it.")
    failures: int = Field(description="Failed calls since the last success.")
    opened_at: datetime | None
    next_probe_at: datetime | None = Field(description="When a call may probe an open circuit.")


class LimitShape(Shape):
    per_second: float
    burst: float
    tokens: float = Field(description="What can be taken now: calls, or points of a cost bucket.")
    reported: bool = Field(description="Whether the provider itself told its bucket.")
    paused_until: datetime | None = Field(description="By the provider's Retry-After.")


class ProviderKey(Shape):
    """One bucket and circuit: what an org calls of a provider, by company and domain."""

    provider: str
    org: str
    company: str | None
    domain: str | None
    circuit: CircuitShape
    limit: LimitShape
    calls: int = Field(description="In the last 15 minutes; so is what follows.")
    failed: int = Field(description="Answered 5xx, or not at all.")
    throttled: int = Field(description="Answered 429.")
    error_rate: float | None = Field(description="Failed calls of all calls; null: no calls.")
    p95_ms: int | None = Field(description="95 % of the calls took at most this long.")


class ConfiguredLimit(Shape):
    per_second: float
    burst: float


class ProviderShape(Shape):
    key: str = Field(description="The provider's name, such as `shopify`.")
    circuit: State = Field(description="The worst of its circuits.")
    limit: ConfiguredLimit
    calls: int
    failed: int
    throttled: int
    keys: list[ProviderKey]


class ProviderPage(Shape):
    items: list[ProviderShape]


class ResetShape(Shape):
    key: str
    reset: int = Field(description="How many buckets and circuits were reset.")
