"""A source's configuration as TOML or JSON text, with the line of each part for error messages."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from pydantic import ValidationError

from penstock.model.errors import BadInput
from penstock.model.sources.config import SourceConfig
from penstock.model.text.wrong_input import reason_of

MAX_BYTES = 256 * 1024
DEEPEST = 20
_MAX_LINE = 10_000
CREDENTIALS = "credentials"
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[{}\[\]:,]|[^\s{}\[\]:,"]++')
Path = tuple[str, ...]


class SourceDocument:
    """The parsed text: ``values`` without the credentials, and the ``credentials``."""

    def __init__(self, values: dict[str, Any], lines: Mapping[Path, int]) -> None:
        credentials = values.pop(CREDENTIALS, {})
        if not isinstance(credentials, dict) or not all(
            isinstance(one, str) for one in credentials.values()
        ):
            raise BadInput("INVALID_CONFIG", "credentials: names with texts are expected")
        self.values = values
        self.credentials: dict[str, str] = credentials
        self._lines = lines

    def line_of(self, place: Sequence[object]) -> int | None:
        """The line of the closest part of the text."""
        path = tuple(str(part) for part in place)
        while path:
            if path in self._lines:
                return self._lines[path]
            path = path[:-1]
        return None

    def config(self) -> SourceConfig:
        """Raises `BadInput` with the line, the field and the reason."""
        try:
            text = orjson.dumps(self.values)
        except TypeError as error:
            raise BadInput("INVALID_CONFIG", f"A value cannot be used: {error}") from error
        try:
            return SourceConfig.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise self.refusal(error) from error

    def refusal(self, error: ValidationError) -> BadInput:
        first = error.errors(include_url=False, include_input=False)[0]
        place = [str(part) for part in first["loc"]]
        reason = reason_of(first)
        named = re.match(r"([A-Za-z]\w*(?:\.[\w-]+)*): ", reason)
        if named is not None and not place:
            # `mapping.price.amount`: the name of the field has points itself.
            head, _, rest = named[1].partition(".")
            place = [head, rest] if rest else [head]
            reason = reason[named.end() :]
        return self.refused(place, reason)

    def refused(self, place: Sequence[str], reason: str) -> BadInput:
        line = self.line_of(place)
        where = ".".join(place)
        message = ": ".join(part for part in (where[:200], reason[:500]) if part)
        if line is None:
            return BadInput("INVALID_CONFIG", message, field=where[:200])
        return BadInput("INVALID_CONFIG", f"line {line}: {message}", line=line, field=where[:200])


def read_document(text: str, *, is_toml: bool) -> SourceDocument:
    """Raises `BadInput` for a text that is too large or no TOML or JSON."""
    if len(text.encode()) > MAX_BYTES:
        raise BadInput("INVALID_CONFIG", f"A configuration has at most {MAX_BYTES:,} bytes.")
    values = _toml(text) if is_toml else _json(text)
    _check_depth(values, DEEPEST)
    return SourceDocument(values, _toml_lines(text) if is_toml else _json_lines(text))


def _toml(text: str) -> dict[str, Any]:
    for number, line in enumerate(text.splitlines(), 1):
        # The parser takes time quadratic in the length of a dotted key.
        if len(line) > _MAX_LINE:
            raise BadInput(
                "INVALID_CONFIG", f"line {number}: this is not valid TOML for a source: a line has"
                f" at most {_MAX_LINE:,} characters", line=number,
            )  # fmt: skip
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        found = re.search(r"line (\d+)", str(error))
        where = f"line {found[1]}: " if found else ""
        raise BadInput(
            "INVALID_CONFIG", f"{where}this is not valid TOML ({str(error)[:200]})"
        ) from error


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise BadInput(
            "INVALID_CONFIG", f"line {error.lineno}: this is not valid JSON ({error.msg})",
            line=error.lineno,
        ) from error  # fmt: skip
    except (RecursionError, ValueError) as error:
        raise BadInput("INVALID_CONFIG", f"This is not valid JSON: {str(error)[:200]}") from error
    if not isinstance(found, dict):
        raise BadInput("INVALID_CONFIG", "line 1: a configuration is a JSON object", line=1)
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice[:40]!r} is there twice")
    return found


def _check_depth(value: Any, depth: int) -> None:
    if depth == 0:
        raise BadInput("INVALID_CONFIG", f"The configuration is nested more than {DEEPEST} deep")
    if isinstance(value, dict):
        for one in value.values():
            _check_depth(one, depth - 1)
    elif isinstance(value, list):
        for one in value:
            _check_depth(one, depth - 1)


def _toml_lines(text: str) -> dict[Path, int]:
    """Lines of keys, found line by line: tables and keys, without a parser of values."""
    lines: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        told = line.strip()
        if told.startswith("["):
            table = _key_parts(told.lstrip("["), "]")
            lines.setdefault(table, number)
        elif told and told[0] != "#":
            key = _key_parts(told, "=")
            if key:
                lines.setdefault((*table, *key), number)
    return lines


def _key_parts(text: str, end: str) -> Path:
    """The parts of a dotted key up to ``end``; empty if it does not end so. One pass."""
    parts: list[str] = []
    part, at = "", 0
    while at < len(text):
        character = text[at]
        if character == end:
            parts.append(part.strip())
            return tuple(parts)
        if character == ".":
            parts.append(part.strip())
            part = ""
        elif character in "\"'":
            closing = text.find(character, at + 1)
            if closing < 0:
                return ()
            part, at = text[at + 1 : closing], closing
        else:
            part += character
        at += 1
    return ()


def _json_lines(text: str) -> dict[Path, int]:
    """Lines of the members of objects, by a walk over the tokens."""
    lines: dict[Path, int] = {}
    path: list[str] = []
    counts: list[int | None] = []  # positions in arrays; None in objects
    pending: str | None = None
    number, last = 1, 0
    for token in _JSON_TOKEN.finditer(text):
        number += text.count("\n", last, token.start())
        last = token.start()
        told = token[0]
        if told in "{[":
            if counts:
                place = counts[-1]
                path.append(pending if place is None and pending is not None else str(place))
            counts.append(None if told == "{" else 0)
            pending = None
        elif told in "}]":
            counts.pop()
            if counts:
                path.pop()
        elif told == ",":
            if counts and counts[-1] is not None:
                counts[-1] += 1
            pending = None
        elif told.startswith('"') and counts and counts[-1] is None and pending is None:
            pending = json.loads(told)
            lines.setdefault((*path, pending), number)
    return lines
