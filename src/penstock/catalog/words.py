"""Word lists as they are easiest to read and to add to: plain text."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Words between spaces."""
    return frozenset(text.split())


def phrases(text: str) -> tuple[str, ...]:
    """Phrases between bars; line breaks count as spaces."""
    return tuple(phrase for part in text.split("|") if (phrase := " ".join(part.split())))
