"""Webhooks: event filters, signatures and retries. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from penstock.model.errors import BadInput, PenstockError
from penstock.model.policy import RetryPolicy, RetryRule

PIPELINE: Final = "webhooks"
TEST_EVENT: Final = "webhook.test"
# Events of jobs, for the org's endpoints. System events are for admins only.
EVENTS: Final = (
    "job.queued",
    "job.started",
    "job.progress",
    "job.status",
    "job.warning",
    "job.completed",
    "job.failed",
    "job.retrying",
    "job.paused",
    "job.resumed",
    "job.cancelled",
    "job.dead_lettered",
)
# Up to two per second and job, so only sent to endpoints that name it.
CHATTY: Final = "job.progress"
DEFAULT_EVENTS: Final = ("job.completed", "job.failed", "job.cancelled", "job.dead_lettered")
_PATTERNS: Final = ("*", "job.*")
MAX_FILTERS: Final = 50

# Five requests in all: after 5 s, 25 s, 2 min and 10 min.
TRIES: Final = RetryRule(4, base_ms=5000, factor=5.0, cap_ms=15 * 60_000)
REJECTED: Final = "WEBHOOK_REJECTED"
_CODES: Final = (
    *("API_RATE_LIMIT", "SERVICE_UNAVAILABLE", "NETWORK_ERROR", "FETCH_TIMEOUT", REJECTED),
    *("INTERNAL_ERROR", "UNSUPPORTED_TYPE", "FETCH_TOO_LARGE"),
)
POLICY: Final = RetryPolicy(dict.fromkeys(_CODES, TRIES))

_SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - says what follows
_SECRET_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Receiver:
    """The current target of a delivery. The first secret is the newest; during a rotation the
    previous one signs too. ``objection``: why nothing is sent there. ``locked``: why its secret
    cannot be read at the moment."""

    url: str
    secrets: Sequence[bytes] = ()
    objection: str | None = None
    locked: PenstockError | None = None
    # Deliveries are dropped without reporting a failure.
    deleted: bool = False


def checked_filters(filters: Sequence[str]) -> list[str]:
    """Event names and patterns without duplicates; one that matches no event is refused."""
    if not 0 < len(filters) <= MAX_FILTERS:
        raise BadInput("INVALID_PARAMETERS", f"events: name from 1 to {MAX_FILTERS} of them.")
    for one in filters:
        if one not in EVENTS and one not in _PATTERNS:
            known = ", ".join((*_PATTERNS, *EVENTS))
            raise BadInput(
                "INVALID_PARAMETERS", f"events: there is no event {one[:100]!r}. Known: {known}."
            )
    return list(dict.fromkeys(filters))


def message_id(delivery_id: UUID) -> str:
    """Equal for every attempt and redelivery, so that receivers can deduplicate."""
    return f"msg_{delivery_id.hex}"


def new_secret() -> str:
    return _SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def secret_bytes(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(_SECRET_PREFIX), validate=True)


def signature(keys: Iterable[bytes], message: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: one signature per valid secret."""
    signed = f"{message}.{timestamp}.".encode() + body
    digests = (hmac.digest(key, signed, hashlib.sha256) for key in keys)
    return " ".join(f"v1,{base64.b64encode(digest).decode()}" for digest in digests)
