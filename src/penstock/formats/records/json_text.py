"""Parse JSON strictly and incrementally, value by value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import isinf
from typing import Any, TextIO

from penstock.formats.records.flatten import Number
from penstock.model.errors import BadInput

_SPACE = re.compile(r"[ \t\n\r]*")
_READ_CHARS = 256 * 1024
MAX_VALUE_CHARS = 16 * 1024 * 1024
_MAX_DIGITS = 1000


def invalid(why: str) -> BadInput:
    return BadInput("INVALID_JSON", f"The JSON is not valid: {why}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise invalid(f"the key {twice!r} occurs twice in one object")
    return found


def _integer(text: str) -> Number:
    if len(text) > _MAX_DIGITS:
        raise invalid(f"a number has {len(text):,} digits")
    return Number(text)


def _decimal(text: str) -> Number:
    if len(text) > _MAX_DIGITS or isinf(float(text)):
        raise invalid(f"the number {text[:40]} is too large")
    return Number(text)


def _constant(text: str) -> Any:
    raise invalid(f"{text} is no JSON")


DECODER = json.JSONDecoder(
    parse_int=_integer,
    parse_float=_decimal,
    parse_constant=_constant,
    object_pairs_hook=_unique,
)


def check_text(value: Any) -> None:
    """Refuse what the database cannot store: NUL and lone surrogates."""
    match value:
        case str():
            if "\0" in value:
                raise invalid("a text contains \\u0000")
            if not value.isascii():
                try:
                    value.encode()
                except UnicodeEncodeError:
                    raise invalid("a text contains a lone surrogate") from None
        case dict():
            for name, member in value.items():
                check_text(name)
                check_text(member)
        case list():
            for member in value:
                check_text(member)


class JsonText:
    """A position in a JSON text that advances value by value."""

    def __init__(self, file: TextIO, nesting: int) -> None:
        self._file = file
        self._nesting = nesting
        self._text = ""
        self._at = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._more()

    def take(self, mark: str) -> None:
        found = self.peek()
        if found != mark:
            raise invalid(f"expected {mark!r}, found {found!r}" if found else "it ends too early")
        self._at += 1

    def value(self) -> Any:
        if not self.peek():
            raise invalid("it ends too early")
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
            except RecursionError:
                raise invalid("it is nested too deeply") from None
            except ValueError as error:
                if self._ended:
                    said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
                    raise invalid(said) from None
            else:
                # A number at the end of the buffer may continue.
                if end < len(self._text) or self._ended:
                    self._at = end
                    self._check(value)
                    return value
            self._more()

    def members(self) -> Iterator[str]:
        """The keys of an object; the value of each must be read before the next key."""
        self.take("{")
        seen: set[str] = set()
        if self.peek() == "}":
            return self.take("}")
        while True:
            if self.peek() != '"':
                raise invalid(f"expected a key, found {self.peek()!r}")
            name = self.value()
            if name in seen:
                raise invalid(f"the key {name!r} occurs twice in one object")
            seen.add(name)
            self.take(":")
            yield name
            if self.peek() == "}":
                return self.take("}")
            self.take(",")

    def elements(self) -> Iterator[Any]:
        self.take("[")
        if self.peek() == "]":
            return self.take("]")
        while True:
            yield self.value()
            if self.peek() == "]":
                return self.take("]")
            self.take(",")

    def end(self) -> None:
        found = self.peek()
        if found:
            raise invalid(f"something follows its end: {found!r}")

    def _check(self, value: Any) -> None:
        if depth_of(value) > self._nesting:
            raise invalid(f"it is nested more than {self._nesting} deep")
        check_text(value)

    def _more(self) -> None:
        held = len(self._text) - self._at
        if held > MAX_VALUE_CHARS:
            raise BadInput(
                "CELL_TOO_LARGE", f"One value of the JSON has more than {held:,} characters"
            )
        # Twice as much each time, so that parsing a long value takes linear time.
        try:
            block = self._file.read(max(_READ_CHARS, held))
        except UnicodeDecodeError as error:
            raise invalid(f"its bytes are no {error.encoding}: {error.reason}") from None
        self._ended = not block
        self._text = self._text[self._at :] + block
        self._at = 0


def depth_of(value: Any) -> int:
    """Computed level by level, since the nesting may exceed Python's recursion limit."""
    depth, level = 0, [value]
    while nested := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        level = [part for one in nested for part in _parts(one)]
    return depth


def _parts(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value
