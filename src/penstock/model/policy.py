"""Retry rules by error code. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from penstock.model.errors import Category

JITTER = 0.2


@dataclass(frozen=True, slots=True)
class RetryRule:
    """Delay before retry n is ``min(base × factor^(n-1), cap)``; ``factor=1`` grows linearly."""

    retries: int
    base_ms: int = 2000
    factor: float = 2.0
    cap_ms: int = 30_000

    def delay_ms(self, retry: int, chance: float, floor_ms: int = 0, spacing: float = 1.0) -> int:
        """Delay before retry number ``retry`` (from 1), with ``chance`` in [0, 1) as jitter."""
        if self.factor == 1.0:
            grown = float(self.base_ms * retry)
        else:
            # Larger exponents overflow a float, and exceed every cap.
            endless = (retry - 1) * math.log(self.factor) > 700
            grown = math.inf if endless else self.base_ms * self.factor ** (retry - 1)
        delay = min(grown, float(self.cap_ms)) * (1 + JITTER * chance) * spacing
        return max(math.ceil(delay), floor_ms)


_PATIENT = RetryRule(5)
_USUAL = RetryRule(3)
NEVER = RetryRule(0)
# A lookup without a match is retried much later, with its next query variant.
NOT_FOUND = RetryRule(2, base_ms=15 * 60_000, factor=24.0, cap_ms=6 * 3_600_000)
# Ingest and finish of a whole job.
JOB = RetryRule(3, base_ms=1000)

DEFAULT_RULES: Mapping[str, RetryRule] = {
    "API_RATE_LIMIT": _PATIENT,
    "QUOTA_EXCEEDED": _PATIENT,
    "BLOB_UNAVAILABLE": _PATIENT,
    "API_TIMEOUT": _USUAL,
    "FETCH_TIMEOUT": _USUAL,
    "SERVICE_UNAVAILABLE": _USUAL,
    "DB_UNAVAILABLE": _USUAL,
    "NETWORK_ERROR": RetryRule(3, factor=1.0),
    "INTERNAL_ERROR": _USUAL,
}

PERMANENT_CODES = frozenset(
    {
        "FILE_NOT_FOUND",
        "INVALID_CONFIG",
        "VALIDATION_ERROR",
        "INVALID_PARAMETERS",
        "AUTHENTICATION_FAILED",
        "INSUFFICIENT_PERMISSIONS",
        "RESOURCE_NOT_FOUND",
        "ACCOUNT_SUSPENDED",
        "FILE_TOO_LARGE",
        "FETCH_TOO_LARGE",
        "URL_NOT_ALLOWED",
        "UNSUPPORTED_TYPE",
        "JOB_TIMEOUT",
        "WORKER_CRASHED",
        "CANCELLED",
    }
)


# Not retried by a rule of their own, but another attempt may succeed.
_PASSING_CODES = frozenset(
    {
        "CIRCUIT_OPEN", "RATE_LIMITED", "URL_UNREACHABLE", "PLACE_UNREACHABLE", "STORAGE_FULL",
        "QUEUE_FULL", "SERVER_BUSY", "PICTURE_UNAVAILABLE",
    }
)  # fmt: skip


def category_of(code: str) -> Category:
    """Whether another attempt may succeed, by the code of a stored error."""
    return "transient" if code in DEFAULT_RULES or code in _PASSING_CODES else "permanent"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The rule of each error code; a stage can override single codes."""

    rules: Mapping[str, RetryRule] = field(default_factory=dict)
    not_found: RetryRule = NOT_FOUND

    def bounded(self, errors: int, not_found: int) -> RetryPolicy:
        """With the installation's settings for unforeseen errors and lookups without a match."""
        unforeseen = replace(DEFAULT_RULES["INTERNAL_ERROR"], retries=errors)
        looked = self.not_found
        if looked is NOT_FOUND:
            looked = replace(looked, retries=not_found)
        return RetryPolicy({"INTERNAL_ERROR": unforeseen, **self.rules}, looked)

    def rule(self, code: str) -> RetryRule:
        """Unknown codes are permanent, because a retry could repeat side effects."""
        return self.rules.get(code) or DEFAULT_RULES.get(code, NEVER)
