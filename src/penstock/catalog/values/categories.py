"""Category paths: `Clothing > Shirts`, `Men/Winter Wear`, `A | B`, `A » B`."""

from __future__ import annotations

import re

import orjson

from penstock.catalog.values.result import EMPTY, NormalisedValue
from penstock.catalog.values.text import read_line

JOINED_BY = " > "
MAX_LEVELS = 12
MAX_PATHS = 20
MAX_JSON_LENGTH = 5_000

# The first of these marks that occurs separates levels; the slash in "TV/HiFi > Cables" does not.
_MARKS = (
    re.compile(r"\s{0,5}(?:->|=>|›|»|→|>{1,3})\s{0,5}"),
    re.compile(r"\s{0,5}\|\|?\s{0,5}"),
    re.compile(r"\s{0,5}::\s{0,5}"),
    re.compile(r"\s{0,5}\\\s{0,5}"),
    re.compile(r"\s{0,5}/{1,3}\s{0,5}"),
)
_SIGNS = (("->", "=>", "›", "»", "→", ">"), ("|",), ("::",), ("\\",), ("/",))
_CONFIDENCE = (1.0, 0.95, 0.95, 0.9, 0.85)
_BETWEEN_PATHS = re.compile(r"\s{0,5}[,;\n]\s{0,5}")


def read_category(text: str) -> NormalisedValue:
    """A list of paths, usually one, with levels joined by ` > `."""
    listed = _from_json(text)
    if listed is not None:
        return NormalisedValue(listed, "category_json") if listed else EMPTY
    if not any(sign in text for signs in _SIGNS for sign in signs):
        line = read_line(text)
        return line if line.value is None else line._replace(value=[line.value])
    for number, signs in enumerate(_SIGNS):
        if any(sign in text for sign in signs) and not (number == 4 and "://" in text):
            return _read_paths(text, number)
    return read_line(text)._replace(value=[text.strip()])


_LISTED = re.compile(r"(?<!\\),")


def read_categories(text: str) -> NormalisedValue:
    """The same for a column of several categories, whose paths are separated by commas; a comma
    in a name is written `\\,`."""
    if text.startswith("["):
        return read_category(text)
    paths: list[str] = []
    confidence = 1.0
    for piece in _LISTED.split(text[:2_000]):
        read = read_category(piece.replace("\\,", ",").strip())
        paths += [path for path in read.value or () if path not in paths]
        confidence = min(confidence, read.confidence) if read.value else confidence
    return NormalisedValue(paths[:MAX_PATHS], "category_paths", confidence) if paths else EMPTY


def _read_paths(text: str, number: int) -> NormalisedValue:
    text = " ".join(text[:2_000].split()) if "\n" not in text else text[:2_000]
    signs = _SIGNS[number]
    pieces = _BETWEEN_PATHS.split(text)
    # "Home, Garden > Tools": a comma separates paths only if every piece is a path.
    several = len(pieces) > 1 and sum(any(s in piece for s in signs) for piece in pieces) > 1
    paths: list[str] = []
    for piece in pieces if several else [text]:
        path = _path(piece, number)
        if path and path not in paths:
            paths.append(path)
    if not paths:
        return read_line(text.strip("".join(signs) + " "))._replace(value=None)
    rule = "category_paths" if len(paths) > 1 else "category_path"
    return NormalisedValue(paths[:MAX_PATHS], rule, _CONFIDENCE[number])


def _path(text: str, number: int) -> str:
    levels: list[str] = []
    for part in _MARKS[number].split(text):
        line = read_line(part.strip())
        if line.value and (not levels or levels[-1] != line.value):
            levels.append(line.value)
    return JOINED_BY.join(levels[:MAX_LEVELS])


def read_tags(text: str) -> NormalisedValue:
    """Tags separated by commas, semicolons, bars or line breaks, without duplicates."""
    listed = _from_json(text)
    if listed is not None:
        return NormalisedValue(listed, "tags_json") if listed else EMPTY
    mark = next((m for m in ("|", ";", "\n", ",") if m in text), None)
    tags: list[str] = []
    for part in text[:5_000].split(mark) if mark else [text[:5_000]]:
        line = read_line(part.strip().lstrip("#"))
        if line.value and line.value not in tags:
            tags.append(line.value)
    return NormalisedValue(tags[:100], "tags") if tags else EMPTY


def _from_json(text: str) -> list[str] | None:
    """`["a", "b"]` or `[{"name": "a"}]`, as in shop exports; None if it is not a list."""
    if not text.startswith("[") or not text.endswith("]") or len(text) > MAX_JSON_LENGTH:
        return None
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    names = [one.get("name") if isinstance(one, dict) else one for one in read]
    lines = [read_line(name).value for name in names if isinstance(name, str)]
    return list(dict.fromkeys(line for line in lines if line))[:100]
