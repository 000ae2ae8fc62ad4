"""Skip what may precede the first element of an XML or HTML document.

Plain string code, because a pattern for "any number of comments" backtracks exponentially.
"""

from __future__ import annotations

import re

_SPACE = re.compile(r"\s*+")


def skip_prologue(text: str) -> int:
    """The index after a byte order mark, white space, XML declarations and comments."""
    at = _skip_space(text, 1 if text.startswith("\ufeff") else 0)
    while True:
        if text.startswith("<!--", at):
            end = text.find("-->", at + 4)
            length = 3
        elif text[at : at + 5].lower() == "<?xml":
            end = text.find(">", at + 5)
            length = 1
        else:
            return at
        if end < 0:
            return at
        at = _skip_space(text, end + length)


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
