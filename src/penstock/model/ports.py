"""What the rooms ask of each other. `wiring` hands the real things over."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol


class Log(Protocol):
    def debug(self, event: str, **values: Any) -> Any: ...
    def info(self, event: str, **values: Any) -> Any: ...
    def warning(self, event: str, **values: Any) -> Any: ...
    def error(self, event: str, **values: Any) -> Any: ...


class Blobs(Protocol):
    """Bytes by content hash. Writing the same bytes twice is harmless."""

    async def put(self, chunks: AsyncIterator[bytes], limit: int) -> StoredBlob: ...
    def path(self, key: str) -> Path: ...
    async def exists(self, key: str) -> bool: ...
    async def sweep(self, older_than_seconds: float) -> int: ...
    async def head(self, key: str) -> bytes: ...
    async def remove(self, key: str) -> None: ...


class StoredBlob(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def sha256(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def head(self) -> bytes: ...


class Children(Protocol):
    """Child processes with bounds on memory and CPU time, for parsers and heavy stages."""

    async def call(self, function: Callable[..., Any], *args: Any) -> Any: ...
    def stream(
        self, function: Callable[..., Iterator[Any]], *args: Any
    ) -> AsyncGenerator[Any, None]: ...


class Broker(Protocol):
    """What tells a worker to look. Losing, doubling or reordering tickets changes nothing."""

    async def start(self) -> None: ...
    async def wake(self, lane: str) -> None: ...
    async def wait(self, timeout: float) -> None: ...
    async def close(self) -> None: ...


class Context(Protocol):
    """What a stage may use. It never sees the database, the lease or the broker."""

    log: Log
    blobs: Blobs
    children: Children
    batch_rows: int
    item_timeout_ms: int
    limits: Mapping[str, int]

    def time_is_up(self) -> bool:
        """No further item should start: the slice's time box is over, or it was cancelled."""
