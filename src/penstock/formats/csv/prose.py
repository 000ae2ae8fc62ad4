"""Recognise texts that are not tables: letters, web pages, logs, programs. They are refused,
because reading them would give a small, wrong result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from penstock.formats.csv.sniff import SniffResult
from penstock.formats.structure.cell_kinds import TYPED, kind_of

_LOG = re.compile(
    r"(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s.{0,60}?"
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ \S+:"
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] \")"
)
_MAIL = re.compile(
    r"(?:Return-Path|Received|Delivered-To|From|To|Cc|Subject|Date|Message-ID|Reply-To): "
)
_HEADING = re.compile(r"#{1,6} \S")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,2}[.)]) \S")
_CODE = re.compile(
    r"\s*(?:import |from \S+ import|def |class |function |var |let |const |return\b|if |for |"
    r"while |#include|package |using |public |private |\}|\{|</|//|/\*|\*/|@\w+|echo |export )"
    r"|.*(?:[{};]|\)\s*:|=>|\\)\s*$"
)
_SECTION = re.compile(r"\[{1,2}[\w .:-]{1,60}\]{1,2}\s*$")
_SETTING = re.compile(r"\s*(?:- )?[\w.-]+:(?: .*)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ENDS = (".", ",", ";", ":", "?", "!", "…", "。", "、")
_STOP = re.compile(r"[a-zà-ÿ]\. [A-ZÀ-Þ]")
_MIN_WORDS = 3
_MIN_LINES = 2
# Punctuation is followed by a blank; a delimiter seldom is.
_LOOSE = {",": ", ", ":": ": ", ";": "; ", " ": " ", "-": "- ", "  ": "  ", ".": ". "}


def describe_prose(lines: Sequence[str], sniffed: SniffResult) -> str | None:
    """What kind of text it is, in words for people; None if it may contain a table."""
    filled = [line.rstrip() for line in lines if line.strip()]
    if not filled or sniffed.dialect.gaps or sniffed.dialect.ruled:
        return None
    clear = sniffed.width > 1 and sniffed.dialect.delimiter in "\t|;" and sniffed.score > 0.5
    if clear and not _is_code(filled):
        return None
    if _share(_LOG.match, filled) >= 0.4:
        return "a log"
    if len(filled) > 3 and all(map(_MAIL.match, filled[:2])):
        return "a mail"
    # Lines of cells may end with a delimiter, but contain no braces.
    braces = _share(lambda line: "{" in line or "}" in line, filled) >= 0.5
    if braces and _is_code(filled):
        return "a program or settings"
    if sniffed.width > 1 and not _could_be_punctuation(filled, sniffed):
        return None
    if _is_code(filled):
        return "a program or settings"
    return "a text in sentences" if _is_prose(filled) else None


def _share(test: Callable[[str], object], lines: Sequence[str]) -> float:
    return sum(bool(test(line)) for line in lines) / len(lines)


def _is_code(lines: Sequence[str]) -> bool:
    sections = sum(map(bool, map(_SECTION.match, lines)))
    settings = sum(" = " in line or "=" in line[:40] for line in lines)
    if sections >= 1 and settings >= 0.4 * len(lines):
        return True
    nested = any(line[0] == " " for line in lines)
    if len(lines) >= 3 and nested and _share(_SETTING.fullmatch, lines) >= 0.8:
        return True
    return len(lines) >= 3 and _share(_CODE.match, lines) >= 0.5


def _could_be_punctuation(lines: Sequence[str], sniffed: SniffResult) -> bool:
    """Whether the delimiter could be ordinary punctuation."""
    mark = sniffed.dialect.delimiter
    loose = _LOOSE.get(mark)
    if loose is None:
        return False
    if len(lines) > _MIN_LINES and len({line.count(mark) for line in lines}) == 1:
        # In sentences the number of commas varies.
        return False
    cells = [cell for line in lines[:100] for cell in line.split(mark) if cell.strip()]
    if sum(kind_of(cell) in TYPED for cell in cells) > 0.1 * len(cells):
        return False
    marks = sum(line.rstrip(mark).count(mark) for line in lines)
    return sum(line.count(loose) for line in lines) >= 0.9 * marks


def _is_prose(lines: Sequence[str]) -> bool:
    """Lines of several words that end or continue like sentences. Product names have no full stop,
    and codes have no words."""
    if sum(map(bool, map(_HEADING.match, lines))) and len(lines) > 3:
        return _share(_ITEM.match, lines) + _share(_is_sentence, lines) >= 0.4
    wordy = [line for line in lines if len(_WORD.findall(line)) >= _MIN_WORDS]
    if len(wordy) < max(2, 0.5 * len(lines)):
        return False
    if _share(lambda line: line.strip()[0].islower(), lines) > 0.8:
        # In a text without capitals, a small letter does not mean a continued sentence.
        return _share(lambda line: line.endswith(_ENDS), wordy) >= 0.5
    return _share(_is_sentence, wordy) >= 0.5


def _is_sentence(line: str) -> bool:
    """Whether the line ends like a sentence, continues one, or contains the end of one."""
    text = line.strip()
    if len(_WORD.findall(text)) < _MIN_WORDS:
        return False
    return text.endswith(_ENDS) or text[0].islower() or _STOP.search(text) is not None
