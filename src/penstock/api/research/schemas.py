"""Research requests as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field, model_validator

from penstock.api.http.schemas import PRINTABLE, Moment, Priority, Shape
from penstock.app.research.requests import ResearchOrder
from penstock.model.fairness import DEFAULT_PRIORITY
from penstock.model.quota import ResearchQuota
from penstock.store.research.queries import SavedQuery
from penstock.store.research.requests import QuotaUse


def _exact(value: Any) -> Any:
    """Numbers and texts as decimals; what is neither is left to the check."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return value
    try:
        return Decimal(str(value))
    except InvalidOperation:
        raise ValueError("write a number") from None


Amount = Annotated[Decimal, BeforeValidator(_exact), Field(ge=0, le=10**12, max_digits=20)]


class PriceRange(Shape):
    min: Amount | None = None
    max: Amount | None = None
    currency: str = Field("", pattern=r"^([A-Z]{3})?$", description="Else the base currency.")

    @model_validator(mode="after")
    def _in_order(self) -> PriceRange:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is above max")
        return self


class NewResearch(Shape):
    query: str = Field(
        min_length=1, max_length=500, pattern=r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$",
        examples=["M8 stainless bolts"],
    )  # fmt: skip
    categories: list[str] = Field(default_factory=list, max_length=50)
    price_range: PriceRange | None = None
    suppliers: list[str] = Field(default_factory=list, max_length=50)
    region: str = Field("", max_length=100, pattern=PRINTABLE, examples=["Germany"])
    sources: list[str] | None = Field(
        None, min_length=1, max_length=100, description="By name; left out: all enabled ones."
    )
    priority: Priority = DEFAULT_PRIORITY
    webhook_url: str | None = Field(
        None,
        max_length=4096,
        description="The end of the request is posted there, signed with the org's secret"
        " (`POST /api/webhooks/request-secret`).",
    )
    request_id: str | None = Field(
        None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$", description="Else the job's id."
    )
    base_currency: str = Field("USD", pattern=r"^[A-Z]{3}$")
    max_seconds: int = Field(120, ge=30, le=300, description="How long the sources may take.")
    name: str = Field("", max_length=200, pattern=PRINTABLE)
    due_at: Moment | None = Field(None, description="Begin no sooner, within a year.")

    def order(self) -> ResearchOrder:
        given = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        config = {
            name: value
            for name, value in given.items()
            if name not in ("priority", "name", "dueAt") and value is not None
        }
        return ResearchOrder(config, self.priority, self.name, self.due_at)


class ResearchReceipt(Shape):
    job_id: UUID
    request_id: str
    position: int
    estimated_wait_ms: int
    delayed_until: datetime | None = None


class QuotaShape(Shape):
    name: Literal["user.day", "user.month", "org.day", "org.month"]
    used: int
    limit: int | None = Field(description="Null: any number.")
    own: int | None = Field(description="Set for this org; null: as the settings say.")
    resets_at: datetime


class QuotaList(Shape):
    items: list[QuotaShape]


class SavedQueryShape(Shape):
    name: str
    request: dict[str, Any] = Field(description="The body of `POST /api/research`.")
    user: str | None = Field(description="Who saved it last.")
    updated_at: datetime


class SavedQueryList(Shape):
    items: list[SavedQueryShape]


class DeletedQuery(Shape):
    name: str


class NewQuota(Shape):
    """Limits of one org; null: as the settings say."""

    user_day: int | None = Field(None, ge=0, le=10**9)
    user_month: int | None = Field(None, ge=0, le=10**9)
    org_day: int | None = Field(None, ge=0, le=10**9)
    org_month: int | None = Field(None, ge=0, le=10**9)

    def quota(self) -> ResearchQuota:
        return ResearchQuota(self.user_day, self.user_month, self.org_day, self.org_month)


class SecretOrder(Shape):
    rotate: bool = Field(False, description="Make another one; the old one signs no longer.")


class SecretShape(Shape):
    secret: str


def quota_shape(one: QuotaUse, own: ResearchQuota) -> dict[str, Any]:
    return {
        "name": one.name, "used": one.used, "limit": one.most,
        "own": getattr(own, one.name.replace(".", "_")), "resetsAt": one.ends_at,
    }  # fmt: skip


def query_shape(one: SavedQuery) -> dict[str, Any]:
    return {
        "name": one.name, "request": one.request, "user": one.user, "updatedAt": one.updated_at,
    }  # fmt: skip
