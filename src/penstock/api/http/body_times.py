"""Times in bodies and queries are written out; a bare number is rejected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any, get_args

from pydantic import AwareDatetime, BaseModel

_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:e[+-]?[0-9]++)?", re.IGNORECASE)


def reject_numeric_times(shape: type[BaseModel], given: Mapping[Any, Any]) -> None:
    """Pydantic would read a bare number as seconds since 1970, which is never meant."""
    for name in _time_fields(shape):
        value = given.get(name)
        if isinstance(value, int | float | str) and _NUMBER.fullmatch(str(value)):
            raise ValueError(f"{name}: write it as 2026-11-01T09:30:00Z")


@cache
def _time_fields(shape: type[BaseModel]) -> tuple[str, ...]:
    """The names, as written in a body, of the fields that are times."""
    return tuple(
        field.alias or name
        for name, field in shape.model_fields.items()
        if _is_time(field.annotation)
    )


def _is_time(kind: Any) -> bool:
    return kind in (datetime, AwareDatetime) or any(map(_is_time, get_args(kind)))
