"""Parts of a workbook that are written in UTF-16, read as UTF-8 like all others."""

from __future__ import annotations

import codecs
import io
import re
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_MARKS = (
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
# It names UTF-16, which the bytes no longer are.
_DECLARATION = re.compile(r"\s*+<\?xml\s[^<>]{0,200}\?>")
_READ_BYTES = 64 * 1024


def encoding_of_part(head: bytes) -> str | None:
    """The encoding of a part that is not UTF-8, by its first bytes."""
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)


def open_as_utf8(file: IO[bytes], encoding: str) -> IO[bytes]:
    return io.BufferedReader(_Utf8(file, encoding))


class _Utf8(io.RawIOBase):
    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._text = codecs.getreader(encoding)(file, "replace")
        begin = self._text.read(_READ_BYTES)
        declared = _DECLARATION.match(begin)
        self._held = begin[declared.end() if declared else 0 :].encode("utf-8", "replace")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        target = memoryview(buffer).cast("B")
        if not self._held:
            self._held = self._text.read(_READ_BYTES).encode("utf-8", "replace")
        size = min(len(target), len(self._held))
        target[:size] = self._held[:size]
        self._held = self._held[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()
