"""Download files of web servers: never from internal addresses, and stored while they arrive."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from email.message import Message
from typing import Final
from urllib.parse import unquote, urlsplit

from penstock.app.uploads import Upload, forget_upload
from penstock.engine.runtime import Runtime
from penstock.model.errors import (
    BadInput,
    NotThere,
    PenstockError,
    PermanentError,
    TransientError,
    file_too_large,
)
from penstock.model.ids import new_id
from penstock.model.network.fetching import (
    FetchLimits,
    FetchPurpose,
    FetchRequest,
    ResponseHead,
    StreamedResponse,
)
from penstock.model.ports import StoredBlob
from penstock.model.text.encodings import is_text_encoding
from penstock.model.text.media_types import media_type_of

_NOT_THERE: Final = frozenset({404, 410})
_THEIR_FAULT: Final = frozenset({"NETWORK_ERROR", "FETCH_TIMEOUT"})
_MAY_PASS: Final = frozenset({408, 425, 429})
# Not allowed in the name of a file: separators of paths, and control characters.
_NO_NAME: Final = re.compile(r"[/\\\x00-\x1f\x7f-\x9f]")
_LONGEST_NAME: Final = 255
_LONGEST_HEADER: Final = 4096
_LONGEST_SUFFIX: Final = 12


@dataclass(frozen=True, slots=True)
class Download:
    """A downloaded file, and what the server said about it. Only ``host`` of the URL is shown
    anywhere: the rest may contain a secret."""

    blob: StoredBlob
    name: str
    media_type: str
    host: str


async def download(runtime: Runtime, url: str) -> Download:
    """The file behind ``url``, stored durably but not recorded in the database yet."""
    limit = runtime.settings.max_file_bytes
    asked = FetchRequest(
        url, headers={"Accept": "*/*", "User-Agent": "Penstock"},
        limits=FetchLimits(most_bytes=limit, total_ms=runtime.settings.import_url_ms),
    )  # fmt: skip
    try:
        async with runtime.fetchers[FetchPurpose.FILE].stream(asked) as answer:
            host = urlsplit(answer.url).hostname or ""
            if not 200 <= answer.status < 300:
                raise _refusal(answer, host)
            blob = await runtime.blobs.put(answer.pieces, limit)
            return Download(blob, _name_of(answer), answer.header("content-type") or "", host)
    except PermanentError as error:
        if error.code == "FETCH_TOO_LARGE":
            raise file_too_large(limit) from error
        raise
    except TransientError as error:
        if error.code in _THEIR_FAULT:
            raise _unreachable(error.message, error.retry_after_ms) from error
        raise


@asynccontextmanager
async def fetched_from(runtime: Runtime, url: str) -> AsyncIterator[Upload]:
    """The file behind ``url`` as an upload, deleted again if the job is refused."""
    found = await download(runtime, url)
    upload = Upload(new_id(), found.name, found.media_type, found.blob, found.host)
    try:
        kind = media_type_of(found.name, found.media_type, found.blob.head)
        yield replace(upload, media_type=kind)
    except BaseException:
        await asyncio.shield(forget_upload(runtime, upload))
        raise


def _refusal(answer: ResponseHead, host: str) -> PenstockError:
    status = answer.status
    if status in _NOT_THERE:
        return NotThere("FILE_NOT_FOUND", f"{host} has no file at this URL (it answered {status}).")
    if status in _MAY_PASS or status >= 500:
        return _unreachable(f"{host} answered {status}.", answer.retry_after_ms)
    return BadInput(
        "URL_REFUSED",
        f"{host} answered {status} instead of the file. Check that the URL opens without signing"
        " in, or upload the file itself.",
        status=status,
    )


def _unreachable(why: str, retry_after_ms: int | None) -> TransientError:
    return TransientError(
        "URL_UNREACHABLE",
        f"The file could not be fetched. {why} Check the URL, or send the request again later.",
        retry_after_ms=retry_after_ms,
    )


def _name_of(answer: StreamedResponse) -> str:
    """The name that the server gives, else the end of the URL, as a plain file name."""
    found = urlsplit(answer.url)
    told = _disposition_name(answer.header("content-disposition") or "")
    for name in (told, unquote(found.path.rpartition("/")[2])):
        plain = _NO_NAME.sub("_", name).strip()
        if plain.strip("."):
            return _shorten(plain)
    return found.hostname or "download"


def _disposition_name(header: str) -> str:
    """The file's name of a Content-Disposition header. Its extended form names an encoding, which
    must be one of text; a header that cannot be read names nothing."""
    told = Message()
    try:
        told["Content-Disposition"] = header[:_LONGEST_HEADER]
        given = told.get_param("filename", None, "content-disposition")
        if isinstance(given, tuple) and not is_text_encoding(given[0] or "utf-8"):
            return ""
        return told.get_filename() or ""
    except (ValueError, LookupError, TypeError):
        return ""


def _shorten(name: str) -> str:
    """The end tells the kind."""
    if len(name) <= _LONGEST_NAME:
        return name
    suffix = name[name.rfind(".") :] if "." in name[-_LONGEST_SUFFIX:] else ""
    return name[: _LONGEST_NAME - len(suffix)] + suffix
