"""Word lists: text files in the `data/` folder of a package.

A file consists of sections: a `[heading]` and the text below it. Lines that begin with `# ` are
comments. Its reader decides what the text is: `words`, `phrases` or `entries`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from types import MappingProxyType


def load_from(package: str, name: str) -> Mapping[str, str]:
    """The sections of ``data/<name>.txt`` of a package by heading, in the order of the file."""
    content = pkgutil.get_data(package, f"data/{name}.txt")
    assert content is not None
    return parse(content.decode("utf-8"))


def parse(text: str) -> Mapping[str, str]:
    """Sections by heading. Raises ValueError for a heading that occurs twice, an empty section and
    text before the first heading."""
    sections: dict[str, list[str]] = {}
    body: list[str] = []
    for line in text.splitlines():
        if not line or line.startswith("# "):
            continue
        if line[0] == "[" and line[-1] == "]":
            if line[1:-1] in sections:
                raise ValueError(f"the heading {line} occurs twice")
            body = sections[line[1:-1]] = []
        elif not sections:
            raise ValueError(f"text before the first heading: {line!r}")
        else:
            body.append(line)
    if empty := [heading for heading, lines in sections.items() if not lines]:
        raise ValueError(f"sections without text: {', '.join(empty)}")
    return MappingProxyType({heading: "\n".join(lines) for heading, lines in sections.items()})


def words(text: str) -> frozenset[str]:
    """Words separated by white space."""
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """Phrases separated by bars; line breaks count as spaces."""
    return tuple(phrase for part in text.split("|") if (phrase := " ".join(part.split())))


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Lines of `key = text`; an indented line continues the one before."""
    for line in text.replace("\n    ", " ").splitlines():
        key, equals, value = line.partition(" = ")
        if not equals:
            raise ValueError(f"no `key = text`: {line!r}")
        yield key, value


def by_word(text: str) -> dict[str, str]:
    """Entries reversed: each word of `key = word word` with its key."""
    return {word: key for key, value in entries(text) for word in value.split()}
