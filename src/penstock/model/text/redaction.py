"""Text without secrets: what is logged, kept as an error or answered goes through here.

Two nets. What looks like a secret is cut out wherever it stands: our own keys by how they begin,
passwords in addresses, values behind names that mean a secret. And what this process was told is
one is cut out however it looks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

HIDDEN: Final = "[hidden]"
# Shorter ones would be found in half of all texts.
_MIN_LENGTH: Final = 8
_MAX_SECRETS: Final = 10_000
# Every repetition has a bound: texts come from anywhere, and none may take long.
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
    """From now on this text is a secret of this process."""
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
    """The same of every text in it; what stands under the name of a secret is one."""
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
