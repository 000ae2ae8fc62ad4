"""Requests to external servers, and their responses."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

_MEBIBYTE = 1024 * 1024
_MAX_WAIT_MS = 24 * 3_600_000
_SECONDS = re.compile(r"[0-9]{1,9}")


class FetchPurpose(StrEnum):
    """The purpose of a fetch. Each has its own list of allowed non-public addresses: callers can
    read the content of a fetched file, but not the answer to a webhook."""

    FILE = "file"  # files of jobs, pictures of products
    WEBHOOK = "webhook"
    PROVIDER = "provider"  # APIs of shops, and pictures of their products
    PAGE = "page"  # pages of companies' sites
    PLACE = "place"  # watched places


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one fetch. ``total_ms`` includes redirects and body; ``silent_ms`` limits each wait
    for data; ``most_bytes`` counts after decoding. With ``head_only`` a longer body is cut instead
    of refused."""

    most_bytes: int = 10 * _MEBIBYTE
    total_ms: int = 30_000
    silent_ms: int = 10_000
    hops: int = 3
    head_only: bool = False


@dataclass(frozen=True, slots=True)
class FetchRequest:
    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    limits: FetchLimits = field(default_factory=FetchLimits)


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The head of a response with any status."""

    status: int
    headers: Sequence[tuple[str, str]]

    def header(self, name: str) -> str | None:
        wanted = name.lower()
        return next((value for key, value in self.headers if key == wanted), None)

    @property
    def retry_after_ms(self) -> int | None:
        """The Retry-After header, in seconds or as a date."""
        told = (self.header("retry-after") or "").strip()
        if _SECONDS.fullmatch(told):
            return min(int(told) * 1000, _MAX_WAIT_MS)
        try:
            until = parsedate_to_datetime(told)
            sent = parsedate_to_datetime(self.header("date") or "")
        except (TypeError, ValueError):
            return None
        # By the server's own clock on both sides, so that ours does not matter.
        wait = (_in_utc(until) - _in_utc(sent)).total_seconds() * 1000
        return round(min(max(wait, 0), _MAX_WAIT_MS))


@dataclass(frozen=True, slots=True)
class FetchResponse(ResponseHead):
    """A complete response. ``url`` is the final one, after redirects."""

    body: bytes
    url: str
    ms: int
    # When the head arrived, by the monotonic clock: the server has seen the request by then.
    answered_at: float = 0.0


@dataclass(frozen=True, slots=True)
class StreamedResponse(ResponseHead):
    """A response whose body is still to be read, once, within its limits."""

    pieces: AsyncIterator[bytes]
    url: str
    answered_at: float = 0.0


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
