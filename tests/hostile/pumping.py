"""Texts that make a pattern backtrack, derived from the pattern itself, and what they cost.

For every repeat of a pattern: what stands before it, then what it repeats, many times, then
something that cannot follow. A pattern passes when doubling a text about doubles its time.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

# The parser of patterns is not public, and its types are not known everywhere.
codes: Any = import_module("re._constants")
parser: Any = import_module("re._parser")

# Characters that mean something in one of the formats, or stand for a class of them.
POOL = " 0a.-,A\t\n\"'<>/;:=|&%()[]{}_xé€"
GENERIC = (
    " ", "\t", "\n", "\r\n", "0", "a", ".", ",", ";", "-", '"', "'", "<", "<!--", "<a ", "(", "[",
    "{", "&", "%", "1.", "1,", "a ", "a-", "é",
)  # fmt: skip
# Exponential patterns are found among short texts, before a long one would take forever.
SHORT_TIMES = (14, 18, 22, 26)
LENGTH = 2400
# A text of LENGTH that takes fewer steps than this is not looked at again.
STEPS_SCREENED = 80_000
STEPS_SHORT = 150_000
# Twice the text takes twice as long where the pattern is linear, four times where quadratic.
FAILING_RATIO = 2.8
# Linear, but with a factor that makes it as bad: steps for each character.
MOST_STEPS_EACH = 1500

Text = str | bytes
Run = Callable[..., Any]
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
# A repeat with a bound this low is as good as none.
FEW = 40


def step_seconds() -> float:
    """What one step takes on this machine now: a known number of them, measured."""
    pattern, text = re.compile(r" +x"), " " * 1000
    return min(_seconds(pattern.search, text) for _ in range(5)) / (len(text) ** 2 / 2)


@dataclass
class Pumps:
    """Units to repeat, each with what has to stand before it."""

    pattern: re.Pattern[Any]
    found: dict[tuple[str, str], None] = field(default_factory=dict)

    def of(self) -> list[tuple[str, str]]:
        tree = parser.parse(self.pattern.pattern, self.pattern.flags & ~re.DEBUG)
        self._walk(list(tree), "")
        for unit in GENERIC:
            self.found.setdefault(("", unit))
        return list(self.found)

    def _walk(self, nodes: list[Any], before: str) -> None:
        for place, (kind, value) in enumerate(nodes):
            if kind in REPEATS:
                low, high, body = value
                if high > FEW:
                    # What matches the neighbours, too, is what can be split in many ways.
                    following = _literals(nodes[place + 1 :])
                    for unit in _units(list(body), following):
                        self.found.setdefault((before, unit))
                        self.found.setdefault(("", unit))
                self._walk(list(body), before)
                if low == 0:
                    self._walk_rest(nodes[place + 1 :], before)
            elif kind is codes.SUBPATTERN:
                self._walk(list(value[3]), before)
            elif kind is codes.ATOMIC_GROUP:
                self._walk(list(value), before)
            elif kind in (codes.ASSERT, codes.ASSERT_NOT):
                self._walk(list(value[1]), before)
            elif kind is codes.BRANCH:
                for branch in value[1]:
                    self._walk(list(branch), before)
            before += sample([(kind, value)])

    def _walk_rest(self, nodes: list[Any], before: str) -> None:
        """The same as if an optional part were not there, for the next repeat only."""
        for kind, value in nodes[:1]:
            if kind in REPEATS and value[1] > FEW:
                for unit in _units(list(value[2]), ""):
                    self.found.setdefault((before, unit))


def sample(nodes: list[Any], branch: int = 0) -> str:
    """A short text that the nodes match, or nearly."""
    made = ""
    for kind, value in nodes:
        if kind is codes.LITERAL:
            made += chr(value)
        elif kind in (codes.IN, codes.ANY, codes.NOT_LITERAL):
            made += next(_matching(kind, value), "a")
        elif kind in REPEATS:
            low = value[0] if value[0] else 1
            made += sample(list(value[2]), branch) * min(low, 40)
        elif kind is codes.SUBPATTERN:
            made += sample(list(value[3]), branch)
        elif kind is codes.ATOMIC_GROUP:
            made += sample(list(value), branch)
        elif kind is codes.BRANCH:
            made += sample(list(value[1][branch % len(value[1])]), branch)
    return made


def _units(body: list[Any], following: str) -> Iterator[str]:
    if len(body) == 1 and body[0][0] in (codes.IN, codes.ANY, codes.NOT_LITERAL, codes.LITERAL):
        kind, value = body[0]
        chars = [chr(value)] if kind is codes.LITERAL else list(_matching(kind, value, following))
        yield from chars[:5]
        return
    yield from {sample(body, branch) for branch in range(4)} - {""}


def _matching(kind: Any, value: Any, first: str = "") -> Iterator[str]:
    for char in dict.fromkeys(first + POOL):
        if _accepts(kind, value, char):
            yield char
    if kind is codes.IN and not any(_accepts(kind, value, char) for char in first + POOL):
        for what, given in value:
            if what is codes.LITERAL:
                yield chr(given)
            elif what is codes.RANGE:
                yield chr(given[0])


def _accepts(kind: Any, value: Any, char: str) -> bool:
    if kind is codes.ANY:
        return char != "\n"
    if kind is codes.NOT_LITERAL:
        return bool(ord(char) != value)
    found, negated = False, False
    for what, given in value:
        if what is codes.NEGATE:
            negated = True
        elif what is codes.LITERAL:
            found |= ord(char) == given
        elif what is codes.RANGE:
            found |= given[0] <= ord(char) <= given[1]
        elif what is codes.CATEGORY:
            found |= _CATEGORIES[given](char)
    return bool(found) is not negated


def _word(char: str) -> bool:
    return char.isalnum() or char == "_"


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    codes.CATEGORY_DIGIT: str.isdigit,
    codes.CATEGORY_NOT_DIGIT: lambda char: not char.isdigit(),
    codes.CATEGORY_SPACE: str.isspace,
    codes.CATEGORY_NOT_SPACE: lambda char: not char.isspace(),
    codes.CATEGORY_WORD: _word,
    codes.CATEGORY_NOT_WORD: lambda char: not _word(char),
}


def _literals(nodes: list[Any]) -> str:
    return sample(nodes[:2])[:3]


def texts(before: str, unit: str, length: int, *, anywhere: bool) -> list[str]:
    """The unit repeated; where a match may begin anywhere, also what stands before it."""
    times = max(1, length // len(unit))
    made = [before + unit * times, before + unit * times + "\0"]
    if anywhere and before:
        together = before + unit
        made.append(together * max(1, length // len(together)) + "\0")
        made.append(before * max(1, length // 2 // len(before)) + unit * (times // 2))
    return made


def slow_text(
    pattern: re.Pattern[Any], methods: set[str], step: float, cap: int | None = None
) -> str | None:
    """A text that the pattern is too slow for, described, or None. ``cap``: no text is longer."""
    anywhere = bool(methods - {"match", "fullmatch"})
    method = "fullmatch" if methods == {"fullmatch"} else "search" if anywhere else "match"
    run, encoded = getattr(pattern, method), isinstance(pattern.pattern, bytes)

    def cost(before: str, unit: str, form: int, length: int, best_of: int = 1) -> float:
        text = texts(before, unit, length, anywhere=anywhere)[form]
        given = text.encode("utf-8", "replace") if encoded else text
        return min(_seconds(run, given) for _ in range(best_of)) / step

    for before, unit in Pumps(pattern).of():
        for form in range(len(texts(before, unit, 1, anywhere=anywhere))):
            why = _slow(
                lambda *args, b=before, u=unit, f=form: cost(b, u, f, *args), len(unit), cap
            )
            if why is not None:
                return f"{method}, {before!r} and {unit!r} repeated (form {form}): {why}"
    return None


def _slow(cost: Callable[..., float], unit: int, cap: int | None) -> str | None:
    for times in SHORT_TIMES:
        if cost(times * unit) > STEPS_SHORT and cost(times * unit, 3) > STEPS_SHORT:
            return f"{times} repetitions take more than {STEPS_SHORT:,} steps"
    if cost(LENGTH if cap is None else cap) < STEPS_SCREENED:
        return None
    length, once = LENGTH, cost(LENGTH, 3)
    ratios = []
    for _ in range(2):
        length *= 2
        twice = cost(length, 3)
        ratios.append(twice / once)
        if twice > MOST_STEPS_EACH * length:
            return f"{length} characters take {twice:,.0f} steps"
        once = twice
    if min(ratios) > FAILING_RATIO:
        return f"twice the text takes {min(ratios):.1f} times as long"
    return None


def _seconds(run: Run, text: Text) -> float:
    start = time.process_time()
    run(text)
    return time.process_time() - start
