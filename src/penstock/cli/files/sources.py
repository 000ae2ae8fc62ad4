"""The input of a command: a file of this machine, or a URL."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Protocol
from urllib.parse import unquote, urlsplit

from penstock.app.downloads import download
from penstock.app.uploads import Upload
from penstock.cli.errors import USAGE, CliError
from penstock.engine.runtime import Runtime
from penstock.model.ids import new_id

_READ_BYTES = 1024 * 1024


class Source(Protocol):
    @property
    def name(self) -> str: ...
    async def stored(self, runtime: Runtime) -> Upload: ...


def is_url(given: str) -> bool:
    return given.lower().startswith(("http://", "https://"))


def stem_of(given: str) -> str:
    """The default name of its results."""
    if not is_url(given):
        return Path(given).stem
    found = urlsplit(given)
    return PurePosixPath(unquote(found.path)).stem or found.hostname or "download"


@contextmanager
def opened(given: str) -> Iterator[Source]:
    """A file that cannot be read is reported before anything else is done."""
    if is_url(given):
        yield _OnTheWeb(given)
        return
    path = Path(given)
    try:
        file = path.open("rb")
    except IsADirectoryError as error:
        raise CliError(USAGE, f"{given} is a folder, not a file.") from error
    except OSError as error:
        raise CliError(USAGE, f"Cannot read {given}: {error.strerror}.") from error
    with file:
        yield _OnDisk(path, file)


@dataclass(frozen=True)
class _OnDisk:
    path: Path
    file: IO[bytes]

    @property
    def name(self) -> str:
        return self.path.name

    async def stored(self, runtime: Runtime) -> Upload:
        name = self.name.encode("utf-8", "replace").decode()[:255]
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        blob = await runtime.blobs.put(_chunks(self.file), runtime.settings.max_file_bytes)
        return Upload(new_id(), name, media_type, blob)


@dataclass(frozen=True)
class _OnTheWeb:
    url: str

    @property
    def name(self) -> str:
        return urlsplit(self.url).hostname or "download"

    async def stored(self, runtime: Runtime) -> Upload:
        found = await download(runtime, self.url)
        return Upload(new_id(), found.name, found.media_type, found.blob, found.host)


async def _chunks(source: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(source.read, _READ_BYTES):
        yield chunk
