"""Read the container of old Office files: named streams in chains of sectors, with limits."""

from __future__ import annotations

import struct
from typing import NamedTuple

from penstock.formats.source import corrupt

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_END = 0xFFFFFFFA  # this and above: no sector
_HEADER_SECTORS = 109
_ENTRY = 128
_MAX_ENTRIES = 4096


class Entry(NamedTuple):
    name: str
    kind: int
    start: int
    size: int


class OleFile:
    """A chain that leaves the file or forms a cycle ends there."""

    def __init__(self, content: bytes) -> None:
        if len(content) < 512 or not content.startswith(SIGNATURE):
            raise corrupt("workbook", "its container has no header")
        self._content = content
        shift, mini_shift = struct.unpack_from("<HH", content, 30)
        if shift not in (9, 12) or mini_shift != 6:
            raise corrupt("workbook", "its container has odd sectors")
        self._size, self._mini_size = 1 << shift, 1 << mini_shift
        start, self._cutoff, mini_fat = struct.unpack_from("<I4xII", content, 48)
        self._fat = self._read_fat()
        self._mini_fat = _numbers(self._chain(mini_fat))
        self.entries = self._read_entries(start)
        root = next((entry for entry in self.entries if entry.kind == 5), None)
        self._mini = self._chain(root.start) if root else b""

    def stream(self, *names: str) -> bytes | None:
        for name in names:
            for entry in self.entries:
                if entry.kind == 2 and entry.name.lower() == name.lower():
                    return self._stream(entry)
        return None

    def _stream(self, entry: Entry) -> bytes:
        if entry.size >= self._cutoff or not self._mini:
            return self._chain(entry.start)[: entry.size]
        parts, at, left = [], entry.start, len(self._mini) // self._mini_size + 1
        while at < _END and left > 0:
            parts.append(self._mini[at * self._mini_size : (at + 1) * self._mini_size])
            at = self._mini_fat[at] if at < len(self._mini_fat) else _END
            left -= 1
        return b"".join(parts)[: entry.size]

    def _sector(self, number: int) -> bytes:
        start = (number + 1) * self._size
        return self._content[start : start + self._size]

    def _chain(self, at: int) -> bytes:
        parts, left = [], len(self._content) // self._size + 1
        while at < _END and left > 0:
            parts.append(self._sector(at))
            at = self._fat[at] if at < len(self._fat) else _END
            left -= 1
        return b"".join(parts)

    def _read_fat(self) -> list[int]:
        sectors = list(struct.unpack_from(f"<{_HEADER_SECTORS}I", self._content, 76))
        at, count = struct.unpack_from("<II", self._content, 68)
        left = min(count, len(self._content) // self._size + 1)
        while at < _END and left > 0:
            more = _numbers(self._sector(at))
            sectors += more[:-1]
            at = more[-1] if more else _END
            left -= 1
        fat: list[int] = []
        for number in sectors:
            if number < _END:
                fat += _numbers(self._sector(number))
        return fat

    def _read_entries(self, start: int) -> list[Entry]:
        data = self._chain(start)
        found = []
        for at in range(0, min(len(data), _MAX_ENTRIES * _ENTRY) - _ENTRY + 1, _ENTRY):
            length, kind = struct.unpack_from("<HB", data, at + 64)
            name = data[at : at + max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
            first, size = struct.unpack_from("<II", data, at + 116)
            if kind:
                found.append(Entry(name, kind, first, size))
        return found


def _numbers(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))
