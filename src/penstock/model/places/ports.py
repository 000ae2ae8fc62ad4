"""Places that files come from and go to: folders, S3, FTP, SFTP and mailboxes."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class PlaceKind(StrEnum):
    FOLDER = "folder"
    S3 = "s3"
    FTP = "ftp"
    SFTP = "sftp"
    IMAP = "imap"


@dataclass(frozen=True, slots=True)
class PlaceAddress:
    """Where a place is. ``org`` is the name of the org that uses it. ``host_key`` is the key that
    an SFTP server showed before; another one is refused."""

    kind: PlaceKind
    address: str
    org: str
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    host_key: str | None = None


@dataclass(frozen=True, slots=True)
class PlaceFile:
    """A file of a place. ``name`` is relative to the place, with `/` between folders. ``version``
    changes with the content. ``unchanged_seconds`` is how long the place itself guarantees that the
    file has not changed; infinite where files appear complete."""

    name: str
    size: int
    version: str
    modified: datetime | None = None
    unchanged_seconds: float = 0.0

    @property
    def appears_complete(self) -> bool:
        return math.isinf(self.unchanged_seconds)


@dataclass(frozen=True, slots=True)
class Listing:
    """``refused`` are names that cannot be used, and why. ``cut`` says that there are more files
    than were listed."""

    files: Sequence[PlaceFile]
    refused: Sequence[tuple[str, str]] = ()
    cut: bool = False


@dataclass(frozen=True, slots=True)
class PlaceLimits:
    """Limits of one opened place: of each wait for the server, of the whole listing, of one
    transfer, and of the number of entries that are listed."""

    wait_seconds: float = 30.0
    list_seconds: float = 120.0
    transfer_seconds: float = 900.0
    entries: int = 10_000


class Place(Protocol):
    """An opened place. Names are relative to it and checked by `check_name`."""

    @property
    def host_key(self) -> str | None:
        """The key that identifies the server, where the protocol has one."""

    async def list(self, depth: int = 0) -> Listing:
        """Files, with those of folders up to ``depth`` levels below."""

    async def find(self, name: str) -> PlaceFile | None:
        """The file as it is now."""

    def read(self, file: PlaceFile) -> AsyncGenerator[bytes, None]:
        """The content in pieces; close it before the place is used again. Raises `Unavailable`
        where it ends early."""

    async def put(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        """Write a file, complete or not at all; an older one with this name is replaced. Returns
        its size."""

    async def move(self, file: PlaceFile, name: str) -> str:
        """Rename the file without replacing another one; returns the name it got."""

    async def delete(self, file: PlaceFile) -> None:
        """A file that is gone is not an error."""


class Places(Protocol):
    """Opens places of every kind, within limits."""

    async def check(self, address: PlaceAddress) -> str:
        """Refuse an address or credentials that `open` would refuse, without connecting; returns
        the address as it is stored."""

    def open(
        self, address: PlaceAddress, limits: PlaceLimits = ...
    ) -> AbstractAsyncContextManager[Place]: ...
