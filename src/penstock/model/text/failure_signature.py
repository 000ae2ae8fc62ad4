"""Group failures by their message, without rows, files and ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

# Only the start of a message is used; the rest is usually data.
_MAX_LENGTH: Final = 1000
_SHOWN: Final = 12

# Applied in this order. A quote must not follow a letter, so that the apostrophe of "the job's
# file" is not one.
_VARIABLE: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"(?<!\w)(['\"`])[^'\"`]*\1(?!\w)", "<value>"),
        (r"[“«‘][^“«‘”»’]*+[”»’]", "<value>"),
        (r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>]+", "<url>"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
        (r"(?<![\w<>.])(?:[a-z]:)?[.~]{0,2}(?:[/\\][\w.@+-]+)+[/\\]?", "<path>"),
        (r"\b(?:0x[0-9a-f]+|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,})\b", "<hex>"),
        (r"(?<!\w)[+-]?\d+(?:[.,:_ \u00a0\u202f-]\d+)*", "<n>"),
        (r"\d+", "<n>"),
    )
)


# Repeated placeholders become one.
_REPEATED: Final = re.compile(r"(<\w+>)(?:(?:,| and|;)? ?\1)+")
_MAX_KNOWN: Final = 200


def message_pattern(message: str, known: Mapping[str, Any] | None = None) -> str:
    """The message with variable parts replaced. ``known``: the error's details, whose values are
    replaced too."""
    text = message[:_MAX_LENGTH]
    values = sorted(set(islice(_texts(known or {}), _MAX_KNOWN)), key=len, reverse=True)
    for value in values:
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "<value>", text)
    for pattern, name in _VARIABLE:
        text = pattern.sub(name, text)
    return _REPEATED.sub(r"\1", " ".join(text.split()))


def _texts(value: Any) -> Iterator[str]:
    """All texts in the details, except very short ones."""
    if isinstance(value, str) and len(value) > 1:
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def signature(
    pipeline: str, code: str, message: str, known: Mapping[str, Any] | None = None
) -> str:
    """An id for failures of one kind: pipeline, code and message pattern."""
    digest = hashlib.sha256(message_pattern(message, known).encode("utf-8", "replace")).hexdigest()
    return f"{pipeline}:{code}:{digest[:_SHOWN]}"
