"""What every reader of a cell returns."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.catalog.problem_codes import CODES, Severity, describe

# A quoted value in a message; the whole one is in the row's own cells.
MAX_SHOWN = 80


class Problem(NamedTuple):
    """Something wrong with one value, before it is known in which row it stands."""

    code: str
    message: str
    severity: Severity


class Normalised(NamedTuple):
    """A value, the rule that made it, and how sure that rule is.

    ``value`` is None where nothing could be read; ``problems`` then says why. An empty cell is
    None without a problem.
    """

    value: Any
    rule: str
    confidence: float = 1.0
    problems: tuple[Problem, ...] = ()


EMPTY = Normalised(None, "empty")

# Builds a named tuple in a third of the time its own constructor takes; for the hottest paths only.
build = tuple.__new__


def problem(code: str, **words: object) -> Problem:
    value = words.get("value")
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        words["value"] = value[:MAX_SHOWN] + "…"
    return Problem(code, describe(code, **words), CODES[code].severity)


def unreadable(code: str, text: str, **words: object) -> Normalised:
    return Normalised(None, "unreadable", 0.0, (problem(code, value=text, **words),))
