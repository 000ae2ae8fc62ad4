"""The bytes of a file, or of one file inside an archive, which is never unpacked to disk."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from penstock.model.errors import BadInput

BLOCK_BYTES = 1024 * 1024
# Entries that programs add to archives.
_JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")
_MAX_ENTRIES = 10_000
# Real tables compress to a twentieth; above this ratio and size it is a zip bomb.
_MAX_RATIO = 150
_RATIO_FROM_BYTES = 32 * 1024 * 1024
_ENCRYPTED = 0x1
_MAX_NAMED = 20
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF-")


@dataclass(frozen=True, slots=True)
class Source:
    """``size`` is the number of bytes that `open` returns."""

    path: Path
    size: int
    container: str | None = None
    member: str | None = None

    def open(self) -> BinaryIO:
        match self.container:
            case "gzip":
                return cast(BinaryIO, gzip.open(self.path))
            case "zip":
                with zipfile.ZipFile(self.path) as archive:
                    return cast(
                        BinaryIO, io.BufferedReader(_Member(archive.open(self.member or "")))
                    )
        return self.path.open("rb")

    def seekable(self, limits: Mapping[str, int]) -> IO[bytes]:
        """For formats that need seeking; a compressed file is held in memory."""
        if self.container is None:
            return self.path.open("rb")
        if self.size > limits["file_bytes"]:
            raise bomb(self.size)
        with self.open() as file:
            return io.BytesIO(file.read())

    def head(self, count: int) -> bytes:
        with self.open() as file:
            return file.read(count)

    def text(self, encoding: str, errors: str) -> io.TextIOWrapper:
        return io.TextIOWrapper(self.open(), encoding, errors, newline="")

    def shown(self) -> str | None:
        return f"zip: {self.member}" if self.container == "zip" else self.container


class _Member(io.RawIOBase):
    """An entry of an archive, for readers that want a raw stream."""

    def __init__(self, entry: IO[bytes]) -> None:
        self._entry = entry

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._entry.read(len(view))
        view[: len(data)] = data
        return len(data)

    def tell(self) -> int:
        return self._entry.tell()

    def close(self) -> None:
        self._entry.close()
        super().close()


def plain_source(path: Path, limits: Mapping[str, int]) -> Source:
    size = path.stat().st_size
    if size > limits["file_bytes"]:
        raise BadInput("FILE_TOO_LARGE", f"The file is larger than {limits['file_bytes']:,} bytes")
    return Source(path, size)


def in_gzip(source: Source, limits: Mapping[str, int]) -> Source:
    size = 0
    try:
        with gzip.open(source.path) as file:
            while block := file.read(BLOCK_BYTES):
                size += len(block)
                check_inflated(size, source.size, limits)
    except (OSError, EOFError, zlib.error) as error:
        raise corrupt("gzip archive", error) from error
    return Source(source.path, size, "gzip")


def in_zip(
    source: Source, archive: zipfile.ZipFile, member: str | int | None, limits: Mapping[str, int]
) -> Source:
    check_zip(archive, source.size, limits)
    files = [
        entry for entry in archive.infolist()
        if not entry.filename.endswith("/") and not any(junk in entry.filename for junk in _JUNK)
    ]  # fmt: skip
    only = _choose_member(archive, files, member)
    if only.flag_bits & _ENCRYPTED:
        raise protected("The ZIP archive")
    return Source(source.path, only.file_size, "zip", only.filename)


def _choose_member(
    archive: zipfile.ZipFile, files: list[zipfile.ZipInfo], member: str | int | None
) -> zipfile.ZipInfo:
    """The file given by name or number, or else the only one besides pictures."""
    names = [entry.filename for entry in files]
    shown = ", ".join(names[:_MAX_NAMED]) + (", …" if len(names) > _MAX_NAMED else "")
    if member is not None:
        wanted = str(member).strip()
        for entry in files:
            if wanted in (entry.filename, entry.filename.rpartition("/")[2]):
                return entry
        if wanted.isdecimal() and 1 <= int(wanted) <= len(files):
            return files[int(wanted) - 1]
        raise BadInput(
            "INVALID_PARAMETERS", f"member {wanted!r}: the archive contains {shown or 'nothing'}",
            option="member",
        )  # fmt: skip
    if len(files) > 1:
        files = [entry for entry in files if not _is_picture(archive, entry)] or files
    if len(files) != 1:
        raise BadInput(
            "ARCHIVE_NOT_ONE_FILE",
            f"The ZIP archive contains {len(names):,} files ({shown or 'none'}): "
            "name the one to read as `member`, or send each",
            files=len(names),
            names=names[:_MAX_NAMED],
        )
    return files[0]


def _is_picture(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    """Archives of shops contain pictures besides the product list."""
    if entry.flag_bits & _ENCRYPTED:
        return False
    with archive.open(entry) as file:
        return file.read(8).startswith(_PICTURES)


def open_zip(file: Path | IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise corrupt("ZIP archive", error) from error


def check_zip(archive: zipfile.ZipFile, size: int, limits: Mapping[str, int]) -> None:
    """Check the declared sizes before inflating; entries cannot exceed them."""
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES:
        raise BadInput("ARCHIVE_BOMB", f"The archive contains {len(entries):,} files")
    check_inflated(sum(entry.file_size for entry in entries), size, limits)
    for entry in entries:
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise corrupt("archive", f"{entry.filename} uses an unknown compression method")
    ends = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < ends:
            raise BadInput("ARCHIVE_BOMB", "Files in the archive overlap each other")
        ends = entry.header_offset + entry.compress_size


def check_inflated(inflated: int, packed: int, limits: Mapping[str, int]) -> None:
    most = limits["inflated_bytes"]
    ratio = inflated / max(packed, 1)
    if inflated > most or (inflated > _RATIO_FROM_BYTES and ratio > _MAX_RATIO):
        raise bomb(inflated)


def bomb(size: int) -> BadInput:
    return BadInput(
        "ARCHIVE_BOMB", f"Uncompressed, the file has {size:,} bytes or more, which is not allowed"
    )


def protected(what: str) -> BadInput:
    return BadInput(
        "FILE_PASSWORD_PROTECTED", f"{what} is protected by a password: save it without one"
    )


def corrupt(what: str, error: BaseException | str) -> BadInput:
    return BadInput("FILE_CORRUPT", f"The {what} is damaged or cut off: {error}")
