"""A 64-bit SimHash of a page's visible text. Pure.

Features are the words of the text: runs of at least two letters, in lower case, each weighted by
how often it occurs, up to ten times. Numbers are left out: clocks, counters and prices change on
every visit, and a change of a price is found by comparing the extracted fields, which is always
done as well. Scripts, styles, templates, comments and tags are not text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b

# Pages that differ in at most so many of the 64 bits are near duplicates.
THRESHOLD = 6
_MAX_WORDS = 200_000
_MAX_WEIGHT = 10
_WORD = re.compile(r"[^\W\d_]{2,40}")
_NAME = re.compile(r"[a-zA-Z]{1,20}")
_HIDDEN = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style", "template")}
# For each byte, a number with a field of 32 bits per bit of the byte: sums of these count bits.
_LANES = tuple(sum((byte >> bit & 1) << 32 * bit for bit in range(8)) for byte in range(256))
_FIELD = (1 << 32) - 1


def visible_text(html: str) -> Iterator[str]:
    """The texts between the tags, in one pass. A construct that does not end hides the rest."""
    place = 0
    while True:
        tag = html.find("<", place)
        if tag < 0:
            yield html[place:]
            return
        if tag > place:
            yield html[place:tag]
        place = _after_tag(html, tag)
        if place < 0:
            return


def _after_tag(html: str, tag: int) -> int:
    if html.startswith("<!--", tag):
        end = html.find("-->", tag + 4)
        return end if end < 0 else end + 3
    end = html.find(">", tag)
    name = _NAME.match(html, tag + 1)
    closing = None if name is None else _HIDDEN.get(name.group().lower())
    if end < 0 or closing is None:
        return end if end < 0 else end + 1
    found = closing.search(html, end)
    return -1 if found is None else found.start()


def simhash(html: str) -> int:
    """As an unsigned number; 0 for a page without words."""
    counts: Counter[str] = Counter()
    total = 0
    for text in visible_text(html):
        words = _WORD.findall(text.lower())
        counts.update(words)
        total += len(words)
        if total > _MAX_WORDS:
            break
    sums, weights = [0] * 8, 0
    for word, count in counts.items():
        weight = min(count, _MAX_WEIGHT)
        weights += weight
        for place, byte in enumerate(blake2b(word.encode(), digest_size=8).digest()):
            sums[place] += _LANES[byte] * weight
    value = 0
    for place, lanes in enumerate(sums):
        for bit in range(8):
            if 2 * (lanes >> 32 * bit & _FIELD) > weights:
                value |= 1 << (8 * place + bit)
    return value


def distance(one: int, other: int) -> int:
    """How many of the 64 bits differ."""
    return ((one ^ other) & (1 << 64) - 1).bit_count()


def signed(value: int) -> int:
    """As PostgreSQL's bigint has it."""
    return value - (1 << 64) if value >> 63 else value
