"""A connection to an SFTP server. Imported with the first one: importing asyncssh takes a tenth
of the time in which a worker starts."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import asyncssh

from penstock.guards.connect import ServerAddress
from penstock.model.errors import PermanentError
from penstock.model.places.names import DONE_FOLDER, check_name, numbered_names
from penstock.model.places.ports import Listing, PlaceAddress, PlaceFile, PlaceLimits
from penstock.places.errors import (
    bad_credentials,
    ended_early,
    no_folder,
    not_found,
    refusal,
    refused_sign_in,
    unreachable,
)

_PIECE_BYTES = 256 * 1024


async def connect(
    sock: Any, server: ServerAddress, address: PlaceAddress
) -> asyncssh.SSHClientConnection:
    try:
        return await asyncssh.connect(
            server.host, server.port, sock=sock, config=None, **connect_options(address)
        )
    except asyncssh.HostKeyNotVerifiable as error:
        raise PermanentError(
            "HOST_KEY_CHANGED",
            "The server shows another key than before, so nothing was sent to it. If the change is"
            " intended, replace the credentials of the watcher.",
        ) from error
    except asyncssh.PermissionDenied as error:
        raise refused_sign_in() from error
    except (asyncssh.Error, OSError) as error:
        sock.close()
        raise unreachable(_message_of(error)) from error


def connect_options(address: PlaceAddress) -> dict[str, Any]:
    given = address.credentials
    if not given.get("password") and not given.get("privateKey"):
        raise bad_credentials("password or privateKey is missing.")
    keys = []
    if given.get("privateKey"):
        try:
            keys = [asyncssh.import_private_key(given["privateKey"], given.get("passphrase"))]
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError) as error:
            raise bad_credentials("privateKey cannot be read.") from error
    expected = given.get("hostKey") or address.host_key
    trusted: Any = None
    if expected:
        try:
            trusted = ([asyncssh.import_public_key(expected)], [], [])
        except (asyncssh.KeyImportError, ValueError) as error:
            raise bad_credentials("hostKey cannot be read.") from error
    return {
        "username": given["user"], "password": given.get("password") or None,
        "client_keys": keys or None, "known_hosts": trusted, "agent_path": None,
        "gss_auth": False, "gss_kex": False, "preferred_auth": "publickey,password",
    }  # fmt: skip


class SftpPlace:
    def __init__(
        self, client: asyncssh.SFTPClient, base: str, limits: PlaceLimits, host_key: str | None
    ) -> None:
        self._client = client
        self._base = base.rstrip("/") or "/"
        self._limits = limits
        self.host_key = host_key

    def _path(self, name: str) -> str:
        return f"{self._base.rstrip('/')}/{name}" if name else self._base

    async def list(self, depth: int = 0) -> Listing:
        files: list[PlaceFile] = []
        bad: list[tuple[str, str]] = []
        until = time.monotonic() + self._limits.list_seconds
        waiting = [("", depth)]
        while waiting:
            prefix, below = waiting.pop()
            async for entry in self._entries(prefix):
                name = prefix + _text(entry.filename)
                if name in (f"{prefix}.", f"{prefix}.."):
                    continue
                if len(files) >= self._limits.entries or time.monotonic() > until:
                    return Listing(files, bad, cut=True)
                why, mode = check_name(name), entry.attrs.permissions or 0
                if why is not None:
                    bad.append((name, why))
                elif stat.S_ISDIR(mode):
                    if below and name != DONE_FOLDER:
                        waiting.append((f"{name}/", below - 1))
                elif stat.S_ISLNK(mode):
                    bad.append((name, "it is a symbolic link"))
                elif stat.S_ISREG(mode):
                    files.append(_file(name, entry.attrs))
        return Listing(files, bad)

    async def _entries(self, prefix: str) -> AsyncIterator[asyncssh.SFTPName]:
        entries = self._client.scandir(self._path(prefix.rstrip("/")))
        with named_errors(self._path(prefix.rstrip("/")), folder=not prefix):
            while True:
                async with asyncio.timeout(self._limits.wait_seconds):
                    try:
                        entry = await anext(entries)
                    except StopAsyncIteration:
                        return
                yield entry

    async def find(self, name: str) -> PlaceFile | None:
        with named_errors(name):
            async with asyncio.timeout(self._limits.wait_seconds):
                try:
                    found = await self._client.lstat(self._path(name))
                except asyncssh.SFTPNoSuchFile:
                    return None
        return _file(name, found) if stat.S_ISREG(found.permissions or 0) else None

    async def read(self, file: PlaceFile) -> AsyncGenerator[bytes, None]:
        size = 0
        with named_errors(file.name):
            async with asyncio.timeout(self._limits.wait_seconds):
                source = await self._client.open(self._path(file.name), "rb")
            try:
                while True:
                    async with asyncio.timeout(self._limits.wait_seconds):
                        piece = await source.read(_PIECE_BYTES)
                    if not piece:
                        break
                    size += len(piece)
                    yield piece.encode() if isinstance(piece, str) else piece
            finally:
                with suppress(Exception):
                    await asyncio.wait_for(source.close(), self._limits.wait_seconds)
        if size < file.size:
            raise ended_early(file.name)

    async def put(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        folder, slash, _ = name.rpartition("/")
        temporary = self._path(f"{folder}{slash}.{uuid4().hex}.part")
        written = 0
        with named_errors(name):
            await self._make_folders(folder)
            try:
                async with self._client.open(temporary, "wb") as target:
                    async for chunk in chunks:
                        written += len(chunk)
                        async with asyncio.timeout(self._limits.wait_seconds):
                            await target.write(chunk)
                try:
                    await self._client.posix_rename(temporary, self._path(name))
                except asyncssh.SFTPOpUnsupported:
                    with suppress(asyncssh.SFTPNoSuchFile):
                        await self._client.remove(self._path(name))
                    await self._client.rename(temporary, self._path(name))
            except BaseException:
                with suppress(Exception):
                    await asyncio.wait_for(self._client.remove(temporary), 5)
                raise
        return written

    async def move(self, file: PlaceFile, name: str) -> str:
        await self._require_version(file)
        with named_errors(file.name):
            async with asyncio.timeout(self._limits.wait_seconds):
                await self._make_folders(name.rpartition("/")[0])
                for free in numbered_names(name):
                    if await self._client.lexists(self._path(free)):
                        continue
                    with suppress(asyncssh.SFTPFileAlreadyExists):
                        await self._client.rename(self._path(file.name), self._path(free))
                        return free
        raise refusal(f"There are too many files named {name}.")

    async def delete(self, file: PlaceFile) -> None:
        if await self.find(file.name) is None:
            return
        await self._require_version(file)
        with named_errors(file.name), suppress(asyncssh.SFTPNoSuchFile):
            async with asyncio.timeout(self._limits.wait_seconds):
                await self._client.remove(self._path(file.name))

    async def _require_version(self, file: PlaceFile) -> None:
        """Another file under the same name must not be moved or deleted unread."""
        found = await self.find(file.name)
        if found is None or found.version != file.version:
            raise not_found(file.name)

    async def _make_folders(self, folder: str) -> None:
        made = ""
        for step in folder.split("/") if folder else ():
            made = f"{made}/{step}" if made else step
            if not await self._client.isdir(self._path(made)):
                with suppress(asyncssh.SFTPFailure, asyncssh.SFTPFileAlreadyExists):
                    await self._client.mkdir(self._path(made))


def _file(name: str, attrs: asyncssh.SFTPAttrs) -> PlaceFile:
    size, modified = attrs.size or 0, attrs.mtime
    at = None if modified is None else datetime.fromtimestamp(modified, UTC)
    return PlaceFile(name, size, f"{size}-{modified}", at)


def public_key_text(key: asyncssh.SSHKey) -> str:
    return key.export_public_key().decode("ascii").strip()


def _text(name: bytes | str) -> str:
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name


def _message_of(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:200]


@contextmanager
def named_errors(name: str, *, folder: bool = False) -> Iterator[None]:
    try:
        yield
    except asyncssh.SFTPNoSuchFile as error:
        raise (no_folder(name) if folder else not_found(name)) from error
    except (asyncssh.SFTPNoConnection, asyncssh.SFTPConnectionLost) as error:
        raise unreachable(_message_of(error)) from error
    except TimeoutError as error:
        raise unreachable("it stopped answering.") from error
    except asyncssh.SFTPError as error:
        raise refusal(f"{name} cannot be used: {_message_of(error)}") from error
    except (asyncssh.Error, OSError) as error:
        raise unreachable(_message_of(error)) from error
