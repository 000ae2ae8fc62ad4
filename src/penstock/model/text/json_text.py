"""JSON that PostgreSQL accepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson


class JsonText(str):
    """A value that is serialised JSON already and is stored unchanged."""

    __slots__ = ()


def to_json(value: Any) -> str:
    """JSON for PostgreSQL: without NULs and lone surrogates, which jsonb does not accept."""
    if type(value) is JsonText:
        return value
    try:
        text = orjson.dumps(value, default=_plain).decode()
    except orjson.JSONEncodeError:
        return orjson.dumps(clean(value), default=_plain).decode()
    if "\\u0000" in text:
        return orjson.dumps(clean(value), default=_plain).decode()
    return text


def clean(value: Any) -> Any:
    """The value without characters that PostgreSQL cannot store."""
    if isinstance(value, str):
        return (
            value.replace("\0", "\ufffd")
            .encode("utf-8", "surrogatepass")
            .decode("utf-8", "replace")
        )
    if isinstance(value, Mapping):
        return {clean(key): clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [clean(inner) for inner in value]
    return value


def from_json(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"not JSON: {type(value).__name__}")
