"""What failures have in common: the same words, whatever rows, files and ids they were about."""

from __future__ import annotations

import hashlib
import re
from typing import Final

# A message is what the first part of it says; the rest is usually the data it choked on.
_LONGEST: Final = 1000
_SHOWN: Final = 12

# In this order: what was replaced is no longer seen by the next. A quote begins where no word does,
# so that the apostrophe of "the job's file" quotes nothing.
_VARIABLE: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"(?<!\w)(['\"`])[^'\"`]*\1(?!\w)", "<value>"),
        (r"[“«‘][^”»’]*[”»’]", "<value>"),
        (r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>]+", "<url>"),
        (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<id>"),
        (r"(?<![\w<>.])(?:[a-z]:)?[.~]{0,2}(?:[/\\][\w.@+-]+)+[/\\]?", "<path>"),
        (r"\b(?:0x[0-9a-f]+|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{8,})\b", "<hex>"),
        (r"(?<!\w)[+-]?\d+(?:[.,:_ \u00a0\u202f-]\d+)*", "<n>"),
        (r"\d+", "<n>"),
    )
)


def wording(message: str) -> str:
    """The message without what is different each time."""
    text = message[:_LONGEST]
    for pattern, name in _VARIABLE:
        text = pattern.sub(name, text)
    return " ".join(text.split())


def signature(pipeline: str, code: str, message: str) -> str:
    """One name for failures of one kind: pipeline, code, and the message's wording in short."""
    digest = hashlib.sha256(wording(message).encode("utf-8", "replace")).hexdigest()
    return f"{pipeline}:{code}:{digest[:_SHOWN]}"
