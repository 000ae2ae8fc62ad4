"""The parts of an xlsb workbook: binary records (BIFF12) in the members of a ZIP archive."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, NamedTuple

from penstock.formats.sheets.numbers import GENERAL, built_in_format, kind_of_format
from penstock.formats.source import corrupt

_READ_BYTES = 256 * 1024
_MAX_RECORD = 64 * 1024 * 1024
# Types of records.
ROW, BLANK, RK, ERROR, BOOL, REAL, TEXT, SHARED = range(8)
FORMULA_TEXT, FORMULA_REAL, FORMULA_BOOL, FORMULA_ERROR = 8, 9, 10, 11
_STRING_ITEM, _FORMAT, _XF, _PROPERTIES, _SHEET = 19, 44, 47, 153, 156
_BEGIN_CELL_STYLES, _END_CELL_STYLES = 617, 618
_VISIBLE = 0
_uint = struct.Struct("<I").unpack_from
_ushort = struct.Struct("<H").unpack_from


def records(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The type and the content of each record."""
    buffer, at = b"", 0
    while True:
        if len(buffer) - at < 16:
            buffer, at = buffer[at:] + file.read(_READ_BYTES), 0
            if not buffer:
                return
        kind, at = _number(buffer, at, 2)
        size, at = _number(buffer, at, 4)
        if size > _MAX_RECORD:
            raise corrupt("workbook", f"a record of {size:,} bytes")
        while len(buffer) - at < size:
            more = file.read(max(_READ_BYTES, size))
            if not more:
                raise corrupt("workbook", "it ends inside a record")
            buffer, at = buffer[at:] + more, 0
        yield kind, buffer[at : at + size]
        at += size


def _number(buffer: bytes, at: int, most: int) -> tuple[int, int]:
    """A number of seven bits a byte, the lowest first. The type of a record is written in the same
    way."""
    value = 0
    for place in range(most):
        if at >= len(buffer):
            raise corrupt("workbook", "it ends inside a record")
        byte = buffer[at]
        at += 1
        value |= (byte & 0x7F) << (7 * place)
        if not byte & 0x80:
            break
    return value, at


def wide_text(content: bytes, at: int) -> tuple[str, int]:
    """A text with its length before it, and the place after it."""
    (length,) = _uint(content, at)
    end = at + 4 + 2 * length
    if length == 0xFFFFFFFF:
        return "", at + 4
    if end > len(content):
        raise corrupt("workbook", "a text is longer than its record")
    return content[at + 4 : end].decode("utf-16-le", "replace").replace("\0", "\ufffd"), end


class SheetPart(NamedTuple):
    name: str
    relation: str
    visible: bool


def read_workbook(file: IO[bytes]) -> tuple[list[SheetPart], bool]:
    """The sheets, and whether dates count from 1904."""
    sheets, from_1904 = [], False
    for kind, content in records(file):
        if kind == _PROPERTIES:
            from_1904 = bool(_uint(content)[0] & 1)
        elif kind == _SHEET:
            relation, at = wide_text(content, 8)
            sheets.append(
                SheetPart(wide_text(content, at)[0], relation, _uint(content)[0] == _VISIBLE)
            )
    return sheets, from_1904


def read_shared(file: IO[bytes]) -> list[str]:
    return [wide_text(content, 1)[0] for kind, content in records(file) if kind == _STRING_ITEM]


def read_formats(file: IO[bytes]) -> list[str]:
    """The kind of number format of each cell style."""
    codes: dict[int, str] = {}
    styles: list[str] = []
    inside = False
    for kind, content in records(file):
        if kind == _FORMAT:
            codes[_ushort(content)[0]] = wide_text(content, 2)[0][:200]
        elif kind in (_BEGIN_CELL_STYLES, _END_CELL_STYLES):
            inside = kind == _BEGIN_CELL_STYLES
        elif kind == _XF and inside:
            number = _ushort(content, 2)[0]
            styles.append(kind_of_format(codes.get(number) or built_in_format(number)))
    return styles


def real_of(content: bytes, at: int) -> float:
    found: float = struct.unpack_from("<d", content, at)[0]
    return found


def short_real_of(content: bytes, at: int) -> float:
    """A number in four bytes: an integer or the upper half of a real, perhaps in hundredths."""
    (raw,) = _uint(content, at)
    if raw & 2:
        value = float(struct.unpack_from("<i", content, at)[0] >> 2)
    else:
        value = struct.unpack("<d", b"\0\0\0\0" + struct.pack("<I", raw & 0xFFFFFFFC))[0]
    return value / 100 if raw & 1 else value


def style_of(content: bytes, styles: list[str]) -> str:
    number = _uint(content, 4)[0] & 0xFFFFFF
    return styles[number] if number < len(styles) else GENERAL
