"""The shared strings of an xlsx workbook."""

from __future__ import annotations

import os
import tempfile
import zipfile
import zlib
from array import array
from typing import IO

from penstock.formats.sheets.xlsx_book import Book, local, parse, unescaped
from penstock.formats.sheets.xlsx_fast import NotPlain, plain_strings
from penstock.formats.source import corrupt
from penstock.model.errors import BadInput

# A string takes about one byte per letter, plus sixty.
_HELD_BYTES = 64 * 1024 * 1024


class SharedStrings:
    """Strings by number; above a size they are kept in an unnamed temporary file."""

    def __init__(self) -> None:
        self.held: list[str] = []
        self._bytes = 0
        self._file: IO[bytes] | None = None
        self._ends = array("Q", [0])

    def add(self, text: str) -> None:
        if self._file is None:
            self.held.append(text)
            self._bytes += len(text) + 60
            if self._bytes > _HELD_BYTES:
                self._spill()
        else:
            self._write(text)

    def _spill(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the strings do
        for text in self.held:
            self._write(text)
        self.held = []

    def _write(self, text: str) -> None:
        assert self._file is not None
        data = text.encode("utf-8", "replace")
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def done(self) -> None:
        if self._file is not None:
            self._file.flush()

    def at(self, number_text: str) -> str:
        """The string that a cell refers to; empty if there is none."""
        if not number_text.isdecimal():
            return ""
        number = int(number_text)
        if self._file is None:
            return self.held[number] if number < len(self.held) else ""
        if number >= len(self._ends) - 1:
            return ""
        start, end = self._ends[number], self._ends[number + 1]
        # Not mapped: all pages that were read would count as memory of the process.
        return os.pread(self._file.fileno(), end - start, start).decode()


def read_strings(book: Book, most_cell: int) -> SharedStrings:
    if book.strings_path is None:
        return SharedStrings()
    try:
        strings = SharedStrings()
        with book.part(book.strings_path) as file:
            for text in plain_strings(file):
                if len(text) > most_cell:
                    raise _too_large(most_cell)
                strings.add(unescaped(text))
    except NotPlain:
        strings = _Events(most_cell).read(book)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise corrupt("workbook", error) from error
    strings.done()
    return strings


def _too_large(most: int) -> BadInput:
    return BadInput("CELL_TOO_LARGE", f"A cell is larger than {most:,} bytes")


class _Events:
    """The strings from a parser of any XML."""

    def __init__(self, most_cell: int) -> None:
        self._strings = SharedStrings()
        self._most = most_cell
        self._parts: list[str] = []
        self._open = False
        self._phonetic = 0
        self._size = 0

    def read(self, book: Book) -> SharedStrings:
        with book.part(book.strings_path or "") as file:
            for _ in parse(file, self._start, self._end, self._text):
                pass
        return self._strings

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        match local(name):
            case "t":
                self._open = self._phonetic == 0
            case "rPh":
                self._phonetic += 1
            case "si":
                self._parts.clear()
                self._size = 0

    def _end(self, name: str) -> None:
        match local(name):
            case "t":
                self._open = False
            case "rPh":
                self._phonetic -= 1
            case "si":
                self._strings.add(unescaped("".join(self._parts)))

    def _text(self, data: str) -> None:
        if self._open:
            self._parts.append(data)
            self._size += len(data)
            if self._size > self._most:
                raise _too_large(self._most)
