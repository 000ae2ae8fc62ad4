"""The error types and their codes. `policy` defines the retries of each code.

PenstockError                 code, message, category, details, perhaps a Retry-After
├── TransientError            may succeed when tried again
│   ├── RateLimited           API_RATE_LIMIT, QUOTA_EXCEEDED, RATE_LIMITED: too many requests
│   ├── Waiting               CIRCUIT_OPEN, or our own limit: not tried, so no attempt is counted
│   ├── Unavailable           API_TIMEOUT, FETCH_TIMEOUT, SERVICE_UNAVAILABLE, NETWORK_ERROR,
│   │                         DB_UNAVAILABLE, BLOB_UNAVAILABLE, STORAGE_FULL, QUEUE_FULL
│   ├── (of a job's URL)      URL_UNREACHABLE: the server of the file does not answer
│   └── Unforeseen            INTERNAL_ERROR: any other exception
└── PermanentError            the same input fails again
    ├── BadInput              VALIDATION_ERROR, INVALID_PARAMETERS, INVALID_CONFIG, FILE_TOO_LARGE,
    │                         UNSUPPORTED_TYPE, UNKNOWN_FIELD, URL_NOT_ALLOWED and other codes of
    │                         invalid input
    ├── NotThere              RESOURCE_NOT_FOUND, FILE_NOT_FOUND, NOT_FOUND
    ├── NotAllowed            AUTHENTICATION_FAILED, INSUFFICIENT_PERMISSIONS, ACCOUNT_SUSPENDED,
    │                         CSRF_FAILED, WRONG_PASSWORD
    └── (the engine's own)    JOB_TIMEOUT, WORKER_CRASHED, CANCELLED: decided, not raised

ChildCrashed                  no answer: the child process died
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from penstock.model.text.redaction import redacted, redacted_values
from penstock.model.transfer import transferable

Category = Literal["transient", "permanent"]


class PenstockError(Exception):
    """An error with a code and a message for users."""

    category: ClassVar[Category] = "permanent"
    # Whether it counts as an attempt of the item.
    counted: ClassVar[bool] = True

    def __init__(
        self, code: str, message: str, *, retry_after_ms: int | None = None, **details: Any
    ) -> None:
        # Both arguments, so that the error can be pickled.
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.retry_after_ms = retry_after_ms
        self.details = details

    def __str__(self) -> str:
        return self.message


class TransientError(PenstockError):
    category = "transient"


class RateLimited(TransientError):
    pass


class Waiting(TransientError):
    """Nothing was tried, so no attempt is counted."""

    counted = False


class Unavailable(TransientError):
    pass


class UnexpectedError(TransientError):
    pass


class PermanentError(PenstockError):
    category = "permanent"


class BadInput(PermanentError):
    pass


def file_too_large(limit: int) -> BadInput:
    return BadInput(
        "FILE_TOO_LARGE",
        f"The file is larger than {limit:,} bytes, the limit of this server. Split it, send it"
        " compressed (gzip or zip), or ask the administrator to raise PENSTOCK_MAX_FILE_BYTES.",
        limit=limit,
    )


class NotThere(PermanentError):
    pass


class NotAllowed(PermanentError):
    pass


class ChildCrashed(Exception):
    """A child process died during its work. Counts as a crash of the item."""


@transferable
@dataclass(frozen=True, slots=True)
class ItemError:
    """Why an item failed, as the grid, the API and the export show it."""

    code: str
    message: str
    column: str | None = None
    value: str | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.column is not None:
            shown["column"] = self.column
        if self.value is not None:
            shown["value"] = self.value
        if self.details:
            shown["details"] = self.details
        return shown

    @staticmethod
    def of(error: BaseException) -> ItemError:
        """Any exception as an item's error; one without a code is INTERNAL_ERROR."""
        if isinstance(error, PenstockError):
            return ItemError(
                error.code, redacted(error.message), details=redacted_values(error.details)
            )
        text = redacted(str(error))
        kind = type(error).__name__
        return ItemError("INTERNAL_ERROR", f"{kind}: {text}" if text else kind)


def error_shape(error: PenstockError) -> dict[str, Any]:
    """The error as it is stored and shown, without secrets."""
    return {"code": error.code, "message": redacted(error.message)}
