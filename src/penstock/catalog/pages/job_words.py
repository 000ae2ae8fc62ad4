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
# Labels of dates, which also begin sentences.
NAMED_DATES = {
    key: field for key, field in LABELS.items() if field in ("datePosted", "validThrough")
}
# Without an end; not a kind of its own.
PERMANENT = "permanent"
KINDS = _by_phrase("kind ")
SALARY_UNITS = _by_phrase("salary unit ")
PARTS = _by_phrase("heading ") | dict.fromkeys(
    (label_key(phrase) for phrase in phrases(_LISTS["other headings"])), "other"
)
# Beginnings of words that name a part, whatever stands around them.
STEMS = {
    stem: part
    for part in ("requirements", "responsibilities")
    for stem in _LISTS[f"stems of {part}"].split()
}
CAREER_PAGES = frozenset(label_key(phrase) for phrase in phrases(_LISTS["career pages"]))
_PLACES = load("places")
CITIES = frozenset(label_key(phrase) for phrase in phrases(_PLACES["cities"]))
# Countries and states after the name of a city.
REGIONS = frozenset(label_key(phrase) for phrase in phrases(_PLACES["regions"]))
REMOTE = phrases(_LISTS["remote"])
APPLY = frozenset(label_key(phrase) for phrase in phrases(_LISTS["apply button"]))
# Those that other words may follow.
APPLY_BEGINNINGS = frozenset(one for one in APPLY if " " in one or len(one) >= 8)
