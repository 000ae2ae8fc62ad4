"""Profiles as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import (
    ConfigDict,
    Field,
)

from penstock.api.http.schemas import OrgQuery, Shape


class ColumnRuleShape(Shape):
    target: str | None = Field(None, description="The field it fills; null: a custom field.")
    decimal: Literal["comma", "point"] | None = None
    dates: Literal["dmy", "mdy"] | None = None
    currency: str | None = None
    unit: str | None = None
    tax_included: bool | None = Field(None, alias="tax_included")


class ProfileShape(Shape):
    """Fields have the same names as in TOML."""

    model_config = ConfigDict(extra="forbid", alias_generator=None)

    name: str
    version: int
    source: str = ""
    fingerprint: str | None = None
    columns: dict[str, ColumnRuleShape] = Field(default_factory=dict)
    decimal: Literal["comma", "point"] | None = None
    dates: Literal["dmy", "mdy"] | None = None
    currency: str | None = None
    weight_unit: str | None = None
    length_unit: str | None = None
    required: list[str] | None = None
    strict: list[str] = Field(
        ["*"],
        description="Fields whose unreadable value makes a row invalid, `*` for all. Other optional"
        " fields are left empty with a warning.",
    )
    rules: dict[str, Any] | None = None
    values: dict[str, dict[str, str]] = Field(
        default_factory=dict,
        description="What words mean, by field: the cell is read as if it had this text.",
    )
    contract: Literal["evolve", "freeze", "discard_row", "discard_value"] = "evolve"
    winner: Literal["first", "last", "most_complete"] = "first"
    key: Literal["sku", "gtin", "sourceId"] = "sku"
    price_guard: float = Field(50, description="Percent; 0: prices may change unasked.")


class ListedProfile(ProfileShape):
    created_at: datetime = Field(alias="createdAt")


class ProfilePage(Shape):
    items: list[ListedProfile]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class ProfilesQuery(OrgQuery):
    page_size: int = Field(100, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class ProductField(Shape):
    target: str = Field(description="The name a mapping uses.")
    description: str
    required: bool = Field(description="A product without it is refused.")
    many: bool = Field(description="Further columns may add to it, as `images.2`.")


class ProductFields(Shape):
    items: list[ProductField]


class SaveQuery(OrgQuery):
    dry_run: bool = Field(
        False, description="Only check the profile, and answer it as it would be saved."
    )


class ProfileQuery(OrgQuery):
    version: int | None = Field(None, ge=1, le=2**31 - 1, description="Unset: the latest.")
