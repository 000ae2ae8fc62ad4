"""The result of reading a cell: a value and its problems."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.catalog.problem_codes import CODES, Severity, describe

# Characters of a value quoted in a message.
MAX_SHOWN = 80


class Problem(NamedTuple):
    """A problem of one value, without its row."""

    code: str
    message: str
    severity: Severity


class NormalisedValue(NamedTuple):
    """A value, the rule that produced it, and its confidence.

    ``value`` is None if nothing could be read; ``problems`` says why. An empty cell is None without
    a problem.
    """

    value: Any
    rule: str
    confidence: float = 1.0
    problems: tuple[Problem, ...] = ()


EMPTY = NormalisedValue(None, "empty")

# Creates a named tuple three times as fast as its constructor; for the hottest paths only.
build = tuple.__new__


def problem(code: str, **words: object) -> Problem:
    value = words.get("value")
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        words["value"] = value[:MAX_SHOWN] + "…"
    return Problem(code, describe(code, **words), CODES[code].severity)


def unreadable(code: str, text: str, **words: object) -> NormalisedValue:
    return NormalisedValue(None, "unreadable", 0.0, (problem(code, value=text, **words),))
