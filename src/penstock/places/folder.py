"""A folder of this machine, below the roots that the operator allows. Symbolic links are never
followed, not even ones that are created meanwhile: every folder is opened by its parent's
descriptor."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import BinaryIO
from uuid import uuid4

from penstock.model.places.names import DONE_FOLDER, check_name, numbered_names
from penstock.model.places.ports import Listing, PlaceAddress, PlaceFile, PlaceLimits
from penstock.places.credentials import check_credentials
from penstock.places.errors import bad_address, ended_early, no_folder, not_found, refusal

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PIECE_BYTES = 1024 * 1024


class FolderPlaces:
    """``roots`` may contain `{org}`, which stands for the org's name."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = roots

    async def check(self, address: PlaceAddress) -> str:
        check_credentials(address.credentials, ())
        root, steps = self._steps(address)
        return str(PurePosixPath(root, *steps))

    @asynccontextmanager
    async def open(self, address: PlaceAddress, limits: PlaceLimits) -> AsyncIterator[FolderPlace]:
        root, steps = self._steps(address)
        with _named_errors(address.address):
            number = await asyncio.to_thread(_open_folder, root, steps)
        try:
            yield FolderPlace(number, limits)
        finally:
            os.close(number)

    def _steps(self, address: PlaceAddress) -> tuple[str, tuple[str, ...]]:
        """The allowed root that contains the address, and the way from there."""
        if not self._roots:
            raise bad_address("this server watches no folders (PENSTOCK_WATCH_ROOTS names none).")
        wanted = PurePosixPath(address.address)
        if "\0" in address.address or ".." in wanted.parts:
            raise bad_address("a path must not contain `..`.")
        for root in self._roots:
            if "{org}" in root:
                if check_name(address.org) is not None or "/" in address.org:
                    continue
                root = root.replace("{org}", address.org)
            if not wanted.is_absolute():
                return root, wanted.parts
            if wanted.is_relative_to(root):
                return root, wanted.relative_to(root).parts
        raise bad_address(
            "the folder is outside of those that this server may watch (PENSTOCK_WATCH_ROOTS)."
        )


class FolderPlace:
    """Its methods run in threads, since a network drive can block."""

    host_key: str | None = None

    def __init__(self, number: int, limits: PlaceLimits) -> None:
        self._number = number
        self._limits = limits

    async def list(self, depth: int = 0) -> Listing:
        return await asyncio.to_thread(self._list, depth)

    def _list(self, depth: int) -> Listing:
        files: list[PlaceFile] = []
        bad: list[tuple[str, str]] = []
        until = time.monotonic() + self._limits.list_seconds
        waiting = [("", depth)]
        while waiting:
            prefix, below = waiting.pop()
            with suppress(FileNotFoundError, NotADirectoryError), self._folder(prefix) as number:
                for entry in os.scandir(number):
                    if len(files) >= self._limits.entries or time.monotonic() > until:
                        return Listing(files, bad, cut=True)
                    name = prefix + entry.name
                    why = check_name(name)
                    if why is not None:
                        bad.append((name, why))
                    elif entry.is_dir(follow_symlinks=False):
                        if below and name != DONE_FOLDER:
                            waiting.append((f"{name}/", below - 1))
                    elif entry.is_symlink():
                        bad.append((name, "it is a symbolic link"))
                    elif entry.is_file(follow_symlinks=False):
                        with suppress(FileNotFoundError):
                            files.append(_file(name, entry.stat(follow_symlinks=False)))
        return Listing(files, bad)

    async def find(self, name: str) -> PlaceFile | None:
        return await asyncio.to_thread(self._find, name)

    def _find(self, name: str) -> PlaceFile | None:
        folder, _, base = name.rpartition("/")
        try:
            with self._folder(folder) as number:
                found = os.stat(base, dir_fd=number, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return _file(name, found) if stat.S_ISREG(found.st_mode) else None

    async def read(self, file: PlaceFile) -> AsyncGenerator[bytes, None]:
        number = await asyncio.to_thread(self._open, file.name)
        try:
            size = 0
            while piece := await asyncio.to_thread(os.read, number, _PIECE_BYTES):
                size += len(piece)
                yield piece
            if size < file.size:
                raise ended_early(file.name)
        finally:
            os.close(number)

    def _open(self, name: str) -> int:
        folder, _, base = name.rpartition("/")
        with _named_errors(name):
            with self._folder(folder) as parent:
                # Opening a pipe would block.
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                number = os.open(base, flags, dir_fd=parent)
            if not stat.S_ISREG(os.fstat(number).st_mode):
                os.close(number)
                raise refusal(f"{name} is no regular file.")
            return number

    async def put(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        folder, _, base = name.rpartition("/")
        with _named_errors(name):
            number, temporary = await asyncio.to_thread(self._create, folder)
            written = 0
            try:
                with os.fdopen(number, "wb") as file:
                    async for chunk in chunks:
                        written += len(chunk)
                        await asyncio.to_thread(file.write, chunk)
                    await asyncio.to_thread(_sync, file)
                await asyncio.to_thread(self._rename, folder, temporary, base)
            except BaseException:
                with suppress(OSError), self._folder(folder) as parent:
                    os.unlink(temporary, dir_fd=parent)
                raise
        return written

    def _create(self, folder: str) -> tuple[int, str]:
        self._make_folders(folder)
        temporary = f".{uuid4().hex}.part"
        with self._folder(folder) as parent:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(temporary, flags, 0o644, dir_fd=parent), temporary

    def _rename(self, folder: str, old: str, new: str) -> None:
        with self._folder(folder) as parent:
            os.rename(old, new, src_dir_fd=parent, dst_dir_fd=parent)
            os.fsync(parent)

    async def move(self, file: PlaceFile, name: str) -> str:
        with _named_errors(file.name):
            return await asyncio.to_thread(self._move, file, name)

    def _move(self, file: PlaceFile, name: str) -> str:
        self._require_version(file)
        folder, _, base = name.rpartition("/")
        self._make_folders(folder)
        old_folder, _, old = file.name.rpartition("/")
        with self._folder(old_folder) as source, self._folder(folder) as target:
            for free in numbered_names(base):
                try:
                    # Unlike a rename, a link never replaces a file.
                    os.link(old, free, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
                    os.unlink(old, dir_fd=source)
                except FileExistsError:
                    continue
                except OSError as error:
                    if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                        raise
                    if _exists(free, target):
                        continue
                    os.rename(old, free, src_dir_fd=source, dst_dir_fd=target)
                return f"{folder}/{free}" if folder else free
        raise refusal(f"There are too many files named {name}.")

    async def delete(self, file: PlaceFile) -> None:
        with _named_errors(file.name):
            await asyncio.to_thread(self._delete, file)

    def _delete(self, file: PlaceFile) -> None:
        found = self._find(file.name)
        if found is None:
            return
        self._require_version(file)
        folder, _, base = file.name.rpartition("/")
        with suppress(FileNotFoundError), self._folder(folder) as parent:
            os.unlink(base, dir_fd=parent)

    def _require_version(self, file: PlaceFile) -> None:
        """Another file under the same name must not be moved or deleted unread."""
        found = self._find(file.name)
        if found is None or found.version != file.version:
            raise not_found(file.name)

    def _make_folders(self, folder: str) -> None:
        made = ""
        for step in folder.split("/") if folder else ():
            with self._folder(made) as parent, suppress(FileExistsError):
                os.mkdir(step, 0o755, dir_fd=parent)
            made = f"{made}/{step}" if made else step

    @contextmanager
    def _folder(self, name: str) -> Iterator[int]:
        """A descriptor of a folder inside of this place."""
        number = os.dup(self._number)
        try:
            for step in name.split("/"):
                if step:
                    inner = os.open(step, _FOLDER, dir_fd=number)
                    os.close(number)
                    number = inner
            # Of the folder's own: descriptors that were duplicated share their position.
            fresh = os.open(".", _FOLDER, dir_fd=number)
        finally:
            os.close(number)
        try:
            yield fresh
        finally:
            os.close(fresh)


def _open_folder(root: str, steps: Sequence[str]) -> int:
    # The root is the operator's own choice and may be a link.
    number = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps:
            inner = os.open(step, _FOLDER, dir_fd=number)
            os.close(number)
            number = inner
    except BaseException:
        os.close(number)
        raise
    return number


def _file(name: str, found: os.stat_result) -> PlaceFile:
    # The time of the last change of the inode cannot be set by a program that copies files.
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    return PlaceFile(
        name,
        found.st_size,
        f"{found.st_size}-{found.st_mtime_ns}-{found.st_ino}",
        datetime.fromtimestamp(found.st_mtime, UTC),
        max(0.0, time.time() - changed / 1e9),
    )


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise (no_folder(name) if name.startswith("/") else not_found(name)) from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise refusal(f"{name} is or contains a symbolic link.") from error
        raise refusal(f"{name} cannot be used: {error.strerror}.") from error
