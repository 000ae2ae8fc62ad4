"""JSON as it stands in pages: with comments, trailing commas, raw line breaks, single quotes,
unquoted keys, or as a literal of JavaScript."""

from __future__ import annotations

import html
import re
from typing import Any

import orjson

MAX_LENGTH = 4_000_000
MAX_DEPTH = 100
# Values that the tolerant reader makes of one text; strict JSON has no such bound.
MAX_VALUES = 200_000

_SPACE_OR_COMMENT = re.compile(r"(?:\s++|/\*.*?\*/|//[^\n]*+|<!--|-->)*+", re.DOTALL)
_SCALAR = re.compile(r"[^\s,:;\[\]{}()\"'`]++")
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]{1,4})?")
_WORDS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "undefined": None, "NaN": None,
    "!0": True, "!1": False,
}  # fmt: skip
_QUOTED = {
    quote: re.compile(rf"{quote}([^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+){quote}", re.DOTALL)
    for quote in "\"'`"
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "", "v": " "}
_CDATA = re.compile(
    r"^\s{0,9}(?://|/\*)?\s{0,9}<!\[CDATA\[\s{0,9}(?:\*/)?"
    r"|(?://|/\*)?\s{0,9}\]\]>\s{0,9}(?:\*/)?\s{0,9}$"
)


class NotJsonError(ValueError):
    pass


def parse_all(text: str) -> list[Any]:
    """All values of a script that should contain JSON; empty if it contains none."""
    text = text.strip()
    if not text or len(text) > MAX_LENGTH:
        return []
    try:
        return [orjson.loads(text)]
    except orjson.JSONDecodeError:
        pass
    text = _CDATA.sub("", text)
    if "&quot;" in text and '"' not in text:
        text = html.unescape(text)
    values: list[Any] = []
    at = 0
    while (at := _next_opening(text, at)) >= 0:
        try:
            value, at = parse_at(text, at)
        except NotJsonError:
            break
        values.append(value)
    return values


def _next_opening(text: str, at: int) -> int:
    found = [place for sign in "{[" if (place := text.find(sign, at)) >= 0]
    return min(found, default=-1)


def parse_at(text: str, at: int) -> tuple[Any, int]:
    """The object or array that begins at ``at``, and the place after it. Raises NotJsonError."""
    reader = _Reader(text)
    return reader.value(at, 0), reader.at


class _Reader:
    __slots__ = ("at", "left", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.left = MAX_VALUES

    def value(self, at: int, depth: int) -> Any:
        self.left -= 1
        if depth > MAX_DEPTH or self.left < 0:
            raise NotJsonError("too deep or too large")
        at = self._skip(at)
        sign = self.text[at : at + 1]
        if sign == "{":
            return self._object(at + 1, depth)
        if sign == "[":
            return self._array(at + 1, depth)
        if sign in ('"', "'", "`") and sign:
            return self._string(at, sign)
        return self._scalar(at)

    def _skip(self, at: int) -> int:
        found = _SPACE_OR_COMMENT.match(self.text, at)
        return found.end() if found else at

    def _object(self, at: int, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while True:
            at = self._skip(at)
            sign = self.text[at : at + 1]
            if sign == "}":
                self.at = at + 1
                return members
            if sign == ",":
                at += 1
                continue
            if sign in ('"', "'") and sign:
                key = self._string(at, sign)
            else:
                found = _SCALAR.match(self.text, at)
                if found is None:
                    raise NotJsonError(f"no key at {at}")
                key, self.at = found[0], found.end()
            at = self._skip(self.at)
            if self.text[at : at + 1] != ":":
                raise NotJsonError(f"no colon at {at}")
            members[key] = self.value(at + 1, depth + 1)
            at = self.at

    def _array(self, at: int, depth: int) -> list[Any]:
        values: list[Any] = []
        while True:
            at = self._skip(at)
            sign = self.text[at : at + 1]
            if sign == "]":
                self.at = at + 1
                return values
            if sign == ",":
                at += 1
                continue
            values.append(self.value(at, depth + 1))
            at = self.at

    def _string(self, at: int, quote: str) -> str:
        found = _QUOTED[quote].match(self.text, at)
        if found is None:
            raise NotJsonError(f"a text without end at {at}")
        self.at = found.end()
        body = found[1]
        return _ESCAPE.sub(_unescaped, body) if "\\" in body else body

    def _scalar(self, at: int) -> Any:
        found = _SCALAR.match(self.text, at)
        if found is None:
            raise NotJsonError(f"no value at {at}")
        word, self.at = found[0], found.end()
        if word in _WORDS:
            return _WORDS[word]
        if _NUMBER.fullmatch(word):
            # As written: 12.90 is a price and must not become 12.9.
            return word
        raise NotJsonError(f"not a value at {at}")


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code is None:
        return _PLAIN_ESCAPES.get(found[3], found[3])
    number = int(code, 16)
    return "" if 0xD800 <= number <= 0xDFFF else chr(number)
