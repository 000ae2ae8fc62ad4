"""HTML as it is found, cut into tags and texts: whatever is broken is text, nothing is an error.

Works on a stream in bounded memory and in one walk: no input makes it look at a character more than
a few times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple, TextIO

_READ_CHARS = 128 * 1024
# A mark that is not closed within so many characters opens nothing.
_MAX_TAG_LENGTH = 64 * 1024
_NAME = re.compile(r"</?([A-Za-z][\w:.-]{0,60})")
_ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""")
# What these hold is no text of the page.
_UNSHOWN = ("script", "style", "template", "noscript", "title", "xml")


class Tag(NamedTuple):
    """``closes`` is true for an end tag; attributes are parsed only when asked for."""

    name: str
    closes: bool
    source: str

    def attributes(self) -> dict[str, str]:
        found = _ATTRIBUTE.findall(self.source[:_MAX_TAG_LENGTH])
        return {name.lower(): unescape(value.strip("\"'")) for name, value in found[:64]}


def tags_and_texts(file: TextIO) -> Iterator[Tag | str]:
    """What is shown, in its order; comments, scripts and styles are left out."""
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
    """What the ``<`` at this place begins, and where that ends."""
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
    """The ``>`` that ends a tag: not one inside of quotes, unless those are never closed."""
    first = text.find(">", at, most)
    end = first
    while end >= 0:
        inside = text[at:end]
        if inside.count('"') % 2 == 0:
            return end
        end = text.find(">", end + 1, min(most, first + 4096))
    return first
