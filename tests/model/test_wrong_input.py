"""What is wrong with a value, in words for the person who sent it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from penstock.model.text.wrong_input import reasons_by_field


class Inner(BaseModel):
    low: int = Field(1, ge=1, le=9)


class InnerPart(BaseModel):
    low: int = Field(1, le=9)


class Colour(StrEnum):
    RED = "red"
    DARK_RED = "dark-red"


class Given(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field("x", min_length=1)
    id: UUID | None = None
    at: datetime | Literal["last"] = "last"
    on: bool = True
    kind: Literal["a", "b"] = "a"
    many: list[str] = []
    currency: str = Field("EUR", pattern=r"^[A-Z]{3}$")
    size: str = Field("1x2", pattern=r"^[0-9]+x[0-9]+$")
    inner: Inner = Inner()
    some: list[str | InnerPart] = Field(["x"], min_length=1, max_length=3)
    share: float = Field(0.1, ge=0.0, le=0.5)
    two: list[str] = Field(["x", "y"], min_length=2)
    colour: Literal[Colour.RED, Colour.DARK_RED] = Colour.RED
    by_name: dict[str, InnerPart] = {}


@pytest.mark.parametrize(
    ("given", "field", "reason"),
    [
        ({"name": 1}, "name", "must be text"),
        ({"name": ""}, "name", "must not be empty"),
        ({"id": "x"}, "id", "must be an id such as 01a1e7da-503b-7cff-bd4a-880141d0d095"),
        ({"at": "soon"}, "at", "must be a time such as 2026-11-15T09:30:00Z or 'last'"),
        ({"on": "maybe"}, "on", "must be true or false"),
        ({"kind": "c"}, "kind", "must be 'a' or 'b'"),
        ({"many": "one"}, "many", "must be a list"),
        ({"many": [1]}, "many.0", "must be text"),
        ({"inner": 3}, "inner", "must be an object"),
        ({"inner": {"low": 10}}, "inner.low", "must be at most 9"),
        ({"inner": {"low": "many"}}, "inner.low", "must be a whole number"),
        ({"currency": "Euro"}, "currency", "must be a currency such as EUR"),
        ({"size": "big"}, "size", "must be text that matches ^[0-9]+x[0-9]+$"),
        ({"nmae": "x"}, "nmae", "there is no such field"),
        ({"share": -1}, "share", "must be at least 0"),
        ({"share": 2}, "share", "must be at most 0.5"),
        ({"some": []}, "some", "must not be empty"),
        ({"some": ["", "b", "c", "d"]}, "some", "must be a list with at most 3 entries"),
        ({"two": ["a"]}, "two", "must be a list with at least 2 entries"),
        ({"some": [True]}, "some.0", "must be text or an object"),
        ({"colour": "pink"}, "colour", "must be 'red' or 'dark-red'"),
        ({"by_name": {"InnerPart": 10}}, "by_name.InnerPart", "must be an object"),
    ],
)
def test_the_reason_names_what_is_expected(given: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Given.model_validate(given)
    assert reasons_by_field(refused.value.errors()) == {field: reason}


def test_a_missing_field_is_required() -> None:
    class Needs(BaseModel):
        name: str

    with pytest.raises(ValidationError) as refused:
        Needs.model_validate({})
    assert reasons_by_field(refused.value.errors()) == {"name": "this field is required"}


def test_a_path_does_not_contain_the_name_of_a_model() -> None:
    with pytest.raises(ValidationError) as refused:
        Given.model_validate({"some": [{"low": 10}]})
    reasons = reasons_by_field(refused.value.errors())
    assert reasons == {"some.0": "must be text", "some.0.low": "must be at most 9"}
