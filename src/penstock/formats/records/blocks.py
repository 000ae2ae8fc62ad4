"""Records as blocks of `Name: value` lines: cards, tickets, old exports, flat YAML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from penstock.formats.records.flatten import IDENTITY

_LOOKED_AT = 400
_MAX_NAME_LENGTH = 40
_MIN_NAMES = 2
_MIN_BLOCKS_PER_NAME = 3
_RULE = re.compile(r"\s*([-=*_#~+])\1{2,}\s*")
_LINE = {
    mark: re.compile(
        rf"\s*(?:[-*•] )?([^\W\d][^:=;|\t\"]{{0,{_MAX_NAME_LENGTH - 1}}}?)[ \t.]*"
        rf"{mark}(?!//)[ \t]*(.*)"
    )
    for mark in (":", "=")
}
_DASH = re.compile(r"- \S")
# A comma in a name means that the text is delimited.
_LIST = re.compile(r",\S")


class Blocks(NamedTuple):
    """How records are separated: by blank lines, by the dash at their start, or by their first
    name."""

    mark: str
    start: str  # "blank", "dash" or the name itself after a colon: ":sku"


def find_blocks(text: str) -> Blocks | None:
    """None if the text is something else, which its first lines usually show."""
    lines = text.splitlines()[:_LOOKED_AT]
    filled = [line for line in lines if line.strip() and not _RULE.fullmatch(line)]
    if len(filled) < _MIN_BLOCKS_PER_NAME:
        return None
    for mark in _LINE:
        named = [_named(line, mark) is not None for line in filled]
        if sum(named[:20]) >= 0.5 * len(named[:20]) and sum(named) >= 0.6 * len(filled):
            found = _find_separator(lines, mark)
            if found is not None:
                return found
    return None


def _named(line: str, mark: str) -> tuple[str, str] | None:
    match = _LINE[mark].fullmatch(line)
    if match is None or _LIST.search(match[1]) or len(match[1].split()) > 5:
        return None
    value = match[2].strip()
    quoted = len(value) > 1 and value[0] == value[-1] == '"' and value.count('"') == 2
    return match[1].strip(), value[1:-1] if quoted else value


def _find_separator(lines: Sequence[str], mark: str) -> Blocks | None:
    for start in ("blank", "dash"):
        names = [list(dict(one)) for one in _split(lines, mark, start)]
        blocks = [one for one in names if len(one) >= _MIN_NAMES]
        if (
            len(blocks) >= 2
            and _are_similar(blocks)
            and _cover_most_lines(lines, blocks, names, mark)
        ):
            return Blocks(mark, start)
    pairs = [pair for line in lines if (pair := _named(line, mark)) is not None]
    first = pairs[0][0]
    blocks = [list(dict(one)) for one in _split(lines, mark, f":{first}")]
    if len(blocks) >= 2 and len(pairs) >= 2 * len(blocks) and _are_similar(blocks):
        return Blocks(mark, f":{first}")
    names_of_one = [name for name, _ in pairs]
    alone = len(set(names_of_one)) == len(names_of_one) >= _MIN_BLOCKS_PER_NAME
    known = any(re.sub(r"[\W_]+", "", name).casefold() in _IDENTITY for name in names_of_one)
    filled = [line for line in lines if line.strip()]
    # The same number of marks in each line means that the text is delimited.
    whole = len(pairs) == len(filled) and {line.count(mark) for line in filled} in ({1}, {1, 2})
    return Blocks(mark, f":{first}") if alone and known and whole else None


_IDENTITY = {re.sub(r"[\W_]+", "", name) for name in IDENTITY - {"name", "id", "title", "code"}}


def _are_similar(blocks: Sequence[Sequence[str]]) -> bool:
    """Whether most blocks have most names, and at least one name is in nearly all."""
    names = Counter(name for block in blocks for name in block)
    common = [count for count in names.values() if count >= 0.5 * len(blocks)]
    return (
        len(common) >= _MIN_NAMES
        and max(common) >= 0.9 * len(blocks)
        and 2 * sum(common) >= names.total()
    )


def _cover_most_lines(
    lines: Sequence[str], blocks: Sequence[Sequence[str]], all_: Sequence[Sequence[str]], mark: str
) -> bool:
    """Whether nearly all named lines are in blocks, each name once per block."""
    named = sum(_named(line, mark) is not None for line in lines)
    return len(blocks) >= 0.6 * len(all_) and sum(map(len, blocks)) >= 0.8 * named


def _split(lines: Iterable[str], mark: str, start: str) -> Iterator[list[tuple[str, str]]]:
    """Blocks of names and values; a line without a name continues the value above it."""
    block: list[tuple[str, str]] = []
    after_blank = True
    for line in lines:
        if not line.strip() or _RULE.fullmatch(line):
            if start == "blank" and block:
                yield block
                block = []
            after_blank = True
            continue
        pair = _named(line, mark)
        begins = start == "dash" and _DASH.match(line)
        if block and (begins or (pair is not None and start == f":{pair[0]}")):
            yield block
            block = []
        if pair is not None:
            block.append(pair)
        elif block and not after_blank:
            name, value = block[-1]
            block[-1] = (name, f"{value}\n{line.strip()}".strip())
        after_blank = False
    if block:
        yield block


def records_in(lines: Iterable[str], how: Blocks) -> Iterator[dict[str, str]]:
    """Each block as a record; a repeated name adds a line to its value."""
    for block in _split(lines, how.mark, how.start):
        record: dict[str, str] = {}
        for name, value in block:
            record[name] = f"{record[name]}\n{value}" if name in record else value
        yield record
