"""Remove secrets from text that is logged, stored as an error or returned.

Two methods: patterns (our own keys by their prefix, passwords in URLs, values after names that mean
a secret), and the secrets registered in this process, whatever they look like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

HIDDEN: Final = "[hidden]"
# Shorter secrets would occur in ordinary text.
_MIN_LENGTH: Final = 8
_MAX_SECRETS: Final = 10_000
# All repetitions are bounded, so that untrusted text takes linear time.
_KEYWORD: Final = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret|token|api[-_]?key|access[-_]?key"
    r"|authorization|cookie|penstock_session)"
)
_NAME: Final = rf"[\w-]{{0,30}}{_KEYWORD}[\w-]{{0,30}}"
_LOOKS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), put)
    for pattern, put in (
        (r"\b(pk_|whsec_)[A-Za-z0-9_+/=-]{12,}", rf"\1{HIDDEN}"),
        (r"\b([a-z][a-z0-9+.-]{0,20}://[^\s:/@'\"]{0,200}):[^\s/@'\"]{1,500}@", rf"\1:{HIDDEN}@"),
        (r"\b(bearer|basic)\s{1,5}[A-Za-z0-9._~+/=-]{8,}", rf"\1 {HIDDEN}"),
        (rf"({_KEYWORD}[\w-]{{0,30}})=(?!\[hidden])([^\s&;,'\")]+)", rf"\1={HIDDEN}"),
        (rf"(['\"])({_NAME})\1(\s{{0,5}}[:,]\s{{0,5}}b?)(['\"])(?:[^'\"\\]|\\.)*\4",
         rf"\1\2\1\3\4{HIDDEN}\4"),
    )
)  # fmt: skip
_SECRET_NAME: Final = re.compile(_NAME, re.IGNORECASE)

_told: dict[str, None] = {}


def register_secret(secret: str) -> None:
    """Redact this text from now on."""
    if len(secret) >= _MIN_LENGTH and len(_told) < _MAX_SECRETS:
        _told[secret] = None


def redacted(text: str) -> str:
    for secret in _told:
        if secret in text:
            text = text.replace(secret, HIDDEN)
    for pattern, put in _LOOKS:
        text = pattern.sub(put, text)
    return text


def redacted_values(value: Any) -> Any:
    """Redact all texts in a value, and values under names that mean a secret."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, Mapping):
        return {
            redacted(name) if isinstance(name, str) else name: HIDDEN
            if _is_secret(name, inner)
            else redacted_values(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted_values(inner) for inner in value]
    return value


def _is_secret(name: Any, value: Any) -> bool:
    named = isinstance(name, str) and _SECRET_NAME.fullmatch(name) is not None
    return named and isinstance(value, str | bytes)
