"""What a call can end with, by what the caller may do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ApiError(Exception):
    """The server's refusal: ``code`` is what programs go by, ``message`` what people read."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None) -> None:
        told = problem.get("error")
        error: Mapping[str, Any] = told if isinstance(told, Mapping) else {}
        self.status = status
        self.code = str(error.get("code", f"HTTP_{status}"))
        self.message = str(error.get("message") or problem.get("detail") or f"status {status}")
        self.details: dict[str, Any] = dict(error.get("details") or {})
        self.request_id: str | None = problem.get("requestId")
        self.retry_after = retry_after
        super().__init__(f"{self.code}: {self.message}")


class NotSignedIn(ApiError):
    """No key, or one that is unknown, revoked or expired."""


class NotAllowed(ApiError):
    """The key's user may not do this."""


class NotThere(ApiError):
    """No such thing, or none that this key may see."""


class Conflict(ApiError):
    """Not in the state the thing is in now."""


class Busy(ApiError):
    """Too many requests, or a server that is full or away: later, as ``retry_after`` says."""


class Unreachable(Exception):
    """No answer came, also after several tries."""


class JobFailed(Exception):
    """The job that was waited for could not be done, or was cancelled."""

    def __init__(self, job: Any) -> None:
        self.job = job
        reason = (job.last_error or {}).get("message") or "no reason was given"
        super().__init__(f"job {job.id} is {job.state}: {reason}")


_BY_STATUS: dict[int, type[ApiError]] = {
    401: NotSignedIn,
    403: NotAllowed,
    404: NotThere,
    409: Conflict,
    429: Busy,
    502: Busy,
    503: Busy,
    504: Busy,
    507: Busy,
}


def refusal(status: int, problem: Any, retry_after: str | None) -> ApiError:
    """The error of a status and its problem document; a proxy's page is no such document."""
    known = problem if isinstance(problem, Mapping) else {}
    kind = _BY_STATUS.get(status, ApiError)
    return kind(status, known, _seconds(retry_after))


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(0.0, float(text))
    except ValueError:
        return None  # A date: allowed by the standard, never sent by Penstock.
