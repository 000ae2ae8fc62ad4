"""Schemas that all routes share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from penstock.api.http.body_times import reject_numeric_times
from penstock.model.fairness import MAX_PRIORITY, PRIORITIES

SOME_ID = "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d"


OrgName = Annotated[str, Field(max_length=63, pattern=r"^[A-Za-z0-9._-]*$")]


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _times_are_written_out(cls, given: Any) -> Any:
        if isinstance(given, Mapping):
            reject_numeric_times(cls, given)
        return given


class ErrorShape(Shape):
    code: str
    message: str
    category: Literal["transient", "permanent"]
    source: str
    details: dict[str, Any]


class Problem(Shape):
    """An RFC 9457 problem."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    error: ErrorShape
    timestamp: datetime
    request_id: str


def _as_number(given: Any) -> Any:
    """A name, or digits as forms send them."""
    number = given
    if isinstance(given, str):
        number = PRIORITIES.get(given, int(given) if _WHOLE.fullmatch(given) else None)
    if type(number) is not int or not 0 <= number <= MAX_PRIORITY:
        words = ", ".join(PRIORITIES)
        raise PydanticCustomError("priority", f"use a number from 0 to {MAX_PRIORITY}, or {words}")
    return number


_WHOLE = re.compile(r"-?[0-9]{1,9}")


Priority = Annotated[
    Annotated[StrictInt, Field(ge=0, le=MAX_PRIORITY)],
    BeforeValidator(_as_number),
    Field(description=f"0 to {MAX_PRIORITY}, larger first, or {', '.join(PRIORITIES)}."),
]


def split_commas(given: Any) -> Any:
    """Accepts `a,b` and repeated parameters."""
    if not isinstance(given, list):
        return given
    return [word for text in given if isinstance(text, str) for word in text.split(",") if word]


def _in_bounds(moment: datetime) -> datetime:
    """Years that the database can store, in every time zone."""
    if not 1970 <= moment.year < 9000:
        raise PydanticCustomError("moment", "use a year from 1970 to 8999")
    return moment


def _written(given: Any) -> Any:
    """JSON has times as texts, and strict validation would refuse texts."""
    try:
        return datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError:
        return given


Moment = Annotated[AwareDatetime, BeforeValidator(_written), AfterValidator(_in_bounds)]


# No control characters; a lone surrogate cannot be written in a query.
PRINTABLE = r"^[^\x00-\x1f\x7f]*$"


class OrgQuery(Shape):
    org: OrgName = Field("", description="Name of another org, for admins.")
