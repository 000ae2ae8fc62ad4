"""Rules of robots.txt (RFC 9309), reduced to those of one user agent. Pure.

The groups that name the user agent apply, else the groups of `*`. Of the rules that match a path,
the longest one decides; of two with the same length, `Allow`. `*` stands for any characters, a
final `$` for the end of the path. `Crawl-delay`, which the RFC does not have, is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

# The RFC asks for at least 500 KiB; what comes after is not read.
MAX_ROBOTS_BYTES = 512 * 1024
_MAX_RULES = 5000
_MAX_PATTERN = 2000
_MAX_DELAY_S = 60.0
_TOKEN = re.compile(r"[A-Za-z_-]+")


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """Patterns with whether they allow, and the least time between two requests."""

    rules: tuple[tuple[bool, str], ...] = ()
    crawl_delay_ms: int = 0

    def allows(self, url: str) -> bool:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if path == "/robots.txt":
            return True
        longest, allowed = -1, True
        for allows, pattern in self.rules:
            size = len(pattern)
            if size < longest or (size == longest and (allowed or not allows)):
                continue
            if wildcard_match(pattern, path):
                longest, allowed = size, allows
        return allowed

    def as_json(self) -> dict[str, Any]:
        return {"rules": [list(one) for one in self.rules], "crawlDelayMs": self.crawl_delay_ms}

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> RobotsRules:
        rules = tuple((bool(allows), str(pattern)) for allows, pattern in said["rules"])
        return RobotsRules(rules, int(said["crawlDelayMs"]))


def product_token(user_agent: str) -> str:
    """The name by which a robots.txt addresses a user agent: `penstock` of `Penstock/1.0 (…)`."""
    found = _TOKEN.match(user_agent.strip())
    return found.group().lower() if found else "*"


def wildcard_match(pattern: str, text: str) -> bool:
    """Whether the text begins with the pattern, where `*` is any text and a final `$` the end.
    Each piece is looked for once, so the time is bounded by both lengths."""
    ends = pattern.endswith("$")
    pieces = (pattern[:-1] if ends else pattern).split("*")
    if not text.startswith(pieces[0]):
        return False
    if len(pieces) == 1:
        return not ends or len(text) == len(pieces[0])
    place = len(pieces[0])
    for piece in pieces[1:-1]:
        found = text.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    last = pieces[-1]
    if ends:
        return len(text) - len(last) >= place and text.endswith(last)
    return text.find(last, place) >= 0


def parse_robots(body: bytes, user_agent: str) -> RobotsRules:
    """The rules that apply to this user agent. Lines that cannot be read are ignored."""
    wanted = product_token(user_agent)
    groups: dict[str, list[tuple[str, str]]] = {}
    names: list[str] = []
    in_rules = False
    for key, value in _lines(body):
        if key == "user-agent":
            if in_rules:
                names, in_rules = [], False
            names.append(value.lower())
        elif key in ("allow", "disallow", "crawl-delay"):
            in_rules = True
            for name in names:
                groups.setdefault(name, []).append((key, value))
    fitting = [name for name in groups if name != "*" and wanted == product_token(name)]
    lines = [line for name in fitting for line in groups[name]]
    if not fitting:
        lines = groups.get("*", [])
    return _rules(lines)


def _lines(body: bytes) -> Iterator[tuple[str, str]]:
    text = body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    for line in text.splitlines():
        key, found, value = line.partition("#")[0].partition(":")
        if found:
            yield key.strip().lower(), value.strip()


def _rules(lines: list[tuple[str, str]]) -> RobotsRules:
    rules: dict[tuple[bool, str], None] = {}
    delay = 0.0
    for key, value in lines:
        if key == "crawl-delay":
            delay = max(delay, _seconds(value))
        elif value and len(value) <= _MAX_PATTERN and len(rules) < _MAX_RULES:
            rules[key == "allow", value] = None
    return RobotsRules(tuple(rules), round(delay * 1000))


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        return 0.0
    return min(max(seconds, 0.0), _MAX_DELAY_S) if seconds == seconds else 0.0
