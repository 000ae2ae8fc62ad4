"""Split HTML into tags and texts. Broken markup is treated as text, never as an error.

Works on a stream in bounded memory and linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple, TextIO

_READ_CHARS = 128 * 1024
# A `<` without a `>` within so many characters is not a tag.
_MAX_TAG_LENGTH = 64 * 1024
_NAME = re.compile(r"</?([A-Za-z][\w:.-]{0,60})")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
# Elements whose content is not displayed.
_UNSHOWN = ("script", "style", "template", "noscript", "title", "xml")


class Tag(NamedTuple):
    """``closes``: an end tag. Attributes are parsed on demand."""

    name: str
    closes: bool
    source: str

    def attributes(self) -> dict[str, str]:
        found = _ATTRIBUTE.findall(self.source[:_MAX_TAG_LENGTH])
        return {name.lower(): unescape(value.strip("\"'")) for name, value in found[:64]}


def tags_and_texts(file: TextIO) -> Iterator[Tag | str]:
    """Tags and displayed texts in order, without comments, scripts and styles."""
    unshown: str | None = None
    for piece in _pieces(file):
        if isinstance(piece, Tag):
            if unshown is None and not piece.closes and piece.name in _UNSHOWN:
                unshown = None if piece.source.endswith("/>") else piece.name
            elif unshown == piece.name and piece.closes:
                unshown = None
            elif unshown is None:
                yield piece
        elif unshown is None:
            yield piece


def _pieces(file: TextIO) -> Iterator[Tag | str]:
    held, at, final = "", 0, False
    while not final or at < len(held):
        if not final and len(held) - at < _MAX_TAG_LENGTH:
            more = file.read(_READ_CHARS)
            final = not more
            held, at = held[at:] + more, 0
            continue
        mark = held.find("<", at)
        if mark < 0:
            yield unescape(held[at:])
            at = len(held)
        elif mark > at:
            yield unescape(held[at:mark])
            at = mark
        else:
            piece, at = _at_mark(held, at)
            if piece is not None:
                yield piece


def _at_mark(text: str, at: int) -> tuple[Tag | str | None, int]:
    """What starts at the ``<`` at this position, and its end."""
    most = at + _MAX_TAG_LENGTH
    if text.startswith("<!--", at):
        end = text.find("-->", at + 4, most)
        return None, (end + 3 if end >= 0 else at + 4)
    if text.startswith(("<!", "<?"), at):
        end = text.find(">", at, most)
        return None, (end + 1 if end >= 0 else at + 2)
    name = _NAME.match(text, at)
    end = _end_of_tag(text, name.end(), most) if name else -1
    if name is None or end < 0:
        return "<", at + 1
    source = text[at : end + 1]
    return Tag(name[1].lower(), source[1] == "/", source), end + 1


def _end_of_tag(text: str, at: int, most: int) -> int:
    """The ``>`` that ends a tag: not one inside quotes, unless they are never closed."""
    first = text.find(">", at, most)
    end = first
    while end >= 0:
        inside = text[at:end]
        if inside.count('"') % 2 == 0:
            return end
        end = text.find(">", end + 1, min(most, first + 4096))
    return first
