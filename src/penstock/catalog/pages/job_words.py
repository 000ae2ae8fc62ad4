"""Words of job postings, read once."""

from __future__ import annotations

from penstock.catalog.pages.words import label_key
from penstock.catalog.word_lists import load, phrases

_LISTS = load("job_words")


def _by_phrase(prefix: str) -> dict[str, str]:
    """The rest of the heading by each phrase below it; the first heading wins."""
    found: dict[str, str] = {}
    for heading, text in _LISTS.items():
        if heading.startswith(prefix):
            for phrase in phrases(text):
                found.setdefault(label_key(phrase), heading.removeprefix(prefix))
    return found


LABELS = _by_phrase("label ")
KINDS = _by_phrase("kind ")
SALARY_UNITS = _by_phrase("salary unit ")
PARTS = _by_phrase("heading ") | dict.fromkeys(
    (label_key(phrase) for phrase in phrases(_LISTS["other headings"])), "other"
)
REMOTE = phrases(_LISTS["remote"])
APPLY = frozenset(label_key(phrase) for phrase in phrases(_LISTS["apply button"]))
