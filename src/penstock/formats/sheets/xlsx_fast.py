"""Read the XML that spreadsheets write with patterns, several times as fast as parser events.

Only exact matches are accepted. Anything else (a prefix, CDATA, an unusual order of attributes)
raises `NotPlain`, and a real parser is used instead.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO, NamedTuple

READ_BYTES = 512 * 1024
MAX_HELD_CHARS = 32 * 1024 * 1024

_ROW = re.compile(r'\s*+<row((?: [\w:]++="[^"]*+")*+)\s*+(/?)>')
_ROW_END = "</row>"
_NUMBER = re.compile(r' r="(\d{1,7})"')
_HIDDEN = re.compile(r'\bhidden="(?:1|true)"')
_CELL = re.compile(
    r'<c r="([A-Z]{1,3})\d{1,7}"((?: [\w:]++="[^"]*+")*+)\s*+'
    r"(?:/>|>(?:<f[^<>]*/>|<f[^<>]*+>[^<]*+</f>)?"
    r"(?:<v>([^<]*+)</v>|<v/>|<is>((?:[^<]++|<(?!/?(?:is|c)[ >/]))*+)</is>)?</c>)"
)
_STRING = re.compile(
    r'<si>(?:<t(?: xml:space="preserve")?>([^<]*+)</t></si>'
    r"|((?:[^<]++|<(?!/?si[ >/]))*+)</si>)|<si/>"
)
_PHONETIC = re.compile(r"<rPh\b(?:[^<]++|<(?!/?rPh\b))*+</rPh>")
_TEXT = re.compile(r"<t(?: [^<>]*+)?>([^<]*+)</t>")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9A-Fa-f]{1,6}));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class NotPlain(Exception):
    """The XML needs a real parser."""


class Cell(NamedTuple):
    """A match of `_CELL`: letters of the column, other attributes, value, inline string."""

    column: str
    attributes: str
    value: str
    inline: str


def plain_rows(file: IO[bytes]) -> Iterator[tuple[int, list[tuple[str, str, str, str]], bool]]:
    """Row number, raw cells (see `Cell`) and whether the row is hidden."""
    number = 0
    for text in _pieces(file, "sheetData", _ROW_END):
        at = 0
        # Matched, not searched: after a mismatch nothing further is accepted.
        while (row := _ROW.match(text, at)) is not None:
            attributes, closed = row.groups()
            begin = at = end = row.end()
            if not closed:
                end = text.find(_ROW_END, begin)
                if end < 0:
                    raise NotPlain
                at = end + len(_ROW_END)
            told = _NUMBER.search(attributes)
            number = int(told[1]) if told else number + 1
            body = text[begin:end]
            if not body:
                continue
            cells = _CELL.findall(body)
            if len(cells) != body.count("<c "):
                raise NotPlain
            yield number, cells, "hidden=" in attributes and _HIDDEN.search(attributes) is not None
        if "<row" in text[at:]:
            raise NotPlain


def plain_strings(file: IO[bytes]) -> Iterator[str]:
    for text in _pieces(file, "sst", "</si>"):
        found = _STRING.findall(text)
        if len(found) != text.count("<si>") + text.count("<si/>"):
            raise NotPlain
        for simple, rich in found:
            yield unescape(simple) if not rich else rich_text(rich)


def rich_text(xml: str) -> str:
    return unescape("".join(_TEXT.findall(_PHONETIC.sub("", xml))))


def unescape(text: str) -> str:
    if "&" not in text:
        return text
    return _REFERENCE.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    if found[1]:
        return _NAMED[found[1]]
    code = int(found[2]) if found[2] else int(found[3], 16)
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise NotPlain
    return chr(code)


def _pieces(file: IO[bytes], root: str, end: str) -> Iterator[str]:
    """The text inside an element, split after whole children."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    held, inside = "", False
    opening = re.compile(rf"<{root}[^<>]*?(/?)>")
    while block := file.read(READ_BYTES):
        try:
            held += decoder.decode(block)
        except UnicodeDecodeError:
            raise NotPlain from None
        if not inside:
            if "<!" in held:
                raise NotPlain
            found = opening.search(held)
            if found is None:
                if len(held) > MAX_HELD_CHARS:
                    raise NotPlain
                continue
            if found[1]:
                return
            inside, held = True, held[found.end() :]
        if "<!" in held:
            raise NotPlain
        closing = held.find(f"</{root}>")
        if closing >= 0:
            yield held[:closing]
            return
        cut = held.rfind(end) + len(end)
        if cut >= len(end):
            yield held[:cut]
            held = held[cut:]
        elif len(held) > MAX_HELD_CHARS:
            raise NotPlain
    raise NotPlain
