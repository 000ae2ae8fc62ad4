"""What both clients share: where the server is, how a call becomes a request, and when to retry."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from .calls import Call, Patience, opened
from .errors import ApiError, Unreachable, refusal
from .shapes import Event, Job

T = TypeVar("T")
DEFAULT_URL = "http://127.0.0.1:8600"
# Uploads and exports are long; a server that says nothing for a minute is taken for lost.
TIMEOUT = httpx2.Timeout(60.0, connect=10.0)
# A heartbeat comes every 15 s: silence for longer than three of them is a dead connection.
STREAM_TIMEOUT = httpx2.Timeout(50.0, connect=10.0)
ENDINGS = frozenset({"job.completed", "job.failed", "job.cancelled"})
Failure = httpx2.TransportError | ApiError
FAILURES = (httpx2.TransportError, ApiError)


def server_of(url: str | None, key: str | None) -> tuple[str, dict[str, str]]:
    """The address and the headers of every request; what is not given comes of the environment."""
    address = url or os.environ.get("PENSTOCK_URL") or DEFAULT_URL
    secret = key or os.environ.get("PENSTOCK_KEY") or _key_of_file()
    headers = {"Accept": "application/json"}
    if secret:
        headers["Authorization"] = f"Bearer {secret}"
    return address.rstrip("/"), headers


def _key_of_file() -> str | None:
    path = os.environ.get("PENSTOCK_KEY_FILE")
    return Path(path).read_text().strip() if path else None


@contextmanager
def request_of(call: Call[Any]) -> Iterator[dict[str, Any]]:
    """Arguments for one try; a file is opened again for each."""
    wanted: dict[str, Any] = {
        "method": call.method,
        "url": call.path,
        "params": dict(call.params),
        "headers": dict(call.headers),
    }
    if call.source is None:
        if call.body is not None:
            wanted["json"] = call.body
        yield wanted
        return
    name, stream, ours = opened(call.source, call.file_name)
    try:
        yield wanted | {"data": dict(call.form or {}), "files": {"file": (name, stream)}}
    finally:
        if ours:
            stream.close()


def answer_of(call: Call[T], response: httpx2.Response) -> T:
    if response.status_code >= 400:
        raise error_of(response)
    return call.read(response.json() if response.content else None)


def error_of(response: httpx2.Response) -> ApiError:
    try:
        problem = response.json()
    except ValueError:
        problem = None
    return refusal(response.status_code, problem, response.headers.get("retry-after"))


class Attempts:
    """The tries of one call, or of one stream since something last came through it."""

    def __init__(self, patience: Patience, call: Call[Any]) -> None:
        self._patience = patience
        self._call = call
        self._tried = 0

    def went_well(self) -> None:
        self._tried = 0

    def wait_after(self, error: Failure) -> float:
        """Seconds until the next try; raises what went wrong where there is none."""
        self._tried += 1
        if isinstance(error, ApiError):
            status, retry_after = error.status, error.retry_after
        else:
            status, retry_after = None, None
        wait = self._patience.wait_after(self._call, self._tried, status, retry_after)
        if wait is not None:
            return wait
        if isinstance(error, ApiError):
            raise error
        raise Unreachable(f"No answer to {self._call.method} {self._call.path}: {error}") from error


def is_last(event: Event, job: Job) -> bool:
    """Whether the job has come to rest with this event: one of an earlier run is not the last."""
    return job.ended and (job.finished_at is None or event.timestamp >= job.finished_at)


def beside(path: Path) -> Path:
    """Where a download grows until it is whole."""
    return path.with_name(f".{path.name}.part")
