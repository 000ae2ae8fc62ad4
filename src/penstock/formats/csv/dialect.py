"""Dialects: how a text is split into cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Protocol

from penstock.formats.csv.fixed_width import Gap, cut, is_underline


class Reader(Protocol):
    """The type of `csv.reader`'s result."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


# Replaces a delimiter of several characters while the text is split.
UNIT = "\x1f"
# Two spaces or more, as in aligned columns.
SPACES = "  "
_LONG_RULE = 20
_BAR = re.compile(r"(?<!\\)\|")
# A mark with a blank after it, and any number of them before it.
_PADDED = re.compile(r" [,;|] ")
_PADDED_MARKS = {
    ",": re.compile(r"(?<! ) ++, "),
    ";": re.compile(r"(?<! ) ++; "),
    "|": re.compile(r"(?<! ) ++\| "),
}
_ALIGNED = re.compile(r"(?<=\S) {2,}(?=\S)")


@dataclass(frozen=True, slots=True)
class Dialect:
    """``quote`` and ``escape`` may be empty. A delimiter may have several characters; a doubled
    quote inside quotes is always allowed."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    skip_space: bool = False
    wrapped: bool = False  # every whole line is in quotes
    ruled: bool = False  # a drawn table: bars between cells, a rule below the header
    gaps: tuple[Gap, ...] = ()  # columns by position: where each ends and the next begins

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "gaps": [list(gap) for gap in self.gaps]}

    @staticmethod
    def of(kept: Mapping[str, Any]) -> Dialect:
        gaps = tuple((begin, end) for begin, end in kept.get("gaps", ()))
        return Dialect(**{**kept, "gaps": gaps})

    @property
    def cut(self) -> str:
        """The single character passed to `csv.reader`."""
        alone = len(self.delimiter) == 1 and not self.ruled and not self.gaps
        return self.delimiter if alone else UNIT

    def prepared(self, text: str) -> str:
        """The text in the form that `reader` needs."""
        if self.wrapped:
            text = "".join(map(unwrapped, io.StringIO(text, newline="")))
        if self.ruled:
            return "".join(map(_cells_of_drawn_line, io.StringIO(text, newline="")))
        if self.gaps:
            return "".join(self._placed(line) for line in io.StringIO(text, newline=""))
        if self.delimiter == SPACES:
            text = _ALIGNED.sub(UNIT, text)
        elif _PADDED.fullmatch(self.delimiter):
            text = _PADDED_MARKS[self.delimiter[1]].sub(UNIT, text)
        elif len(self.delimiter) > 1:
            text = text.replace(self.delimiter, UNIT)
        if self.escape and self.escape in text:
            # `csv.reader` drops every escape character, so those that escape nothing are doubled.
            twice = self.escape * 2
            text = _escapes(self.escape, self.quote + self.cut).sub(
                lambda found: found[0] if found[1] else twice, text
            )
        return text

    def _placed(self, line: str) -> str:
        """A line split by position; a line that underlines the header is empty."""
        text = line.rstrip("\r\n")
        end = line[len(text) :]
        if not text.strip() or is_underline(text):
            return end
        return UNIT.join(cut(text, self.gaps)) + end

    def reader(self, lines: Iterable[str], *, strict: bool) -> Reader:
        return csv.reader(
            lines,
            delimiter=self.cut,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape or None,
            skipinitialspace=self.skip_space,
            strict=strict,
        )


@contextmanager
def cells_up_to(most: int) -> Iterator[None]:
    """Refuse longer cells inside of the block. The limit belongs to the whole process, so it must
    not stay."""
    before = csv.field_size_limit(most)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def csv_rows(text: str, delimiter: str = ",") -> Reader:
    """The records of a text that is in memory anyway, however long their cells are."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def unwrapped(line: str) -> str:
    """A line without the quotes around it."""
    text = line.rstrip("\r\n")
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return line
    return text[1:-1].replace('""', '"') + line[len(text) :]


# Terminals draw tables with lines of their own.
_BOX = str.maketrans(
    dict.fromkeys("│┃║", "|")
    | dict.fromkeys("─━═", "-")
    | dict.fromkeys("┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋╞╪╡", "+")
)


def with_plain_bars(line: str) -> str:
    """A line of a table that is drawn with box characters, with bars and hyphens instead."""
    return line.translate(_BOX) if any(mark in line for mark in "│┃║─━═") else line


def is_rule(line: str) -> bool:
    """Whether a line is only a rule: ``|---|:-:|``, ``----+----``, ``+====+``."""
    text = line.strip()
    marks = set(text)
    if marks in ({"-"}, {"="}) and len(text) >= _LONG_RULE:
        return True
    return bool(marks & {"-", "="}) and bool(marks & {"|", "+"}) and marks <= set("|+-=: \t")


def _cells_of_drawn_line(line: str) -> str:
    """A line of a drawn table as cells; a rule becomes an empty line, to keep line numbers."""
    text = with_plain_bars(line).rstrip("\r\n")
    end = line[len(text) :]
    text = text.strip()
    if "|" not in text:
        return end if is_rule(text) else text + end
    if is_rule(text):
        return end
    text = text.removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    cells = (cell.strip().replace("\\|", "|") for cell in _BAR.split(text))
    return UNIT.join(cells) + end


@lru_cache(maxsize=64)
def _escapes(escape: str, escaped: str) -> re.Pattern[str]:
    """A pattern for an escape character and the character it escapes."""
    return re.compile(f"{re.escape(escape)}([{re.escape(escape + escaped)}])?")
