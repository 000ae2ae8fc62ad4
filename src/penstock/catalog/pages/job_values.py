"""Values of job postings: kinds of employment, salaries, places, dates, parts of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from penstock.catalog.pages.job_words import (
    APPLY,
    APPLY_BEGINNINGS,
    KINDS,
    LABELS,
    PARTS,
    PERMANENT,
    REMOTE,
    SALARY_UNITS,
    STEMS,
)
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.values import plain_amount, read_amount
from penstock.catalog.pages.words import label_key
from penstock.catalog.values.currencies import TOKEN, currency_of
from penstock.catalog.values.dates import DateOrder, read_date
from penstock.catalog.values.numbers import read_number
from penstock.catalog.word_lists import words

_CODES = words("FULL_TIME PART_TIME CONTRACTOR TEMPORARY INTERN VOLUNTEER PER_DIEM OTHER")
_SEPARATOR = re.compile(r"[,;/|•·()]|\s[-–]\s|\s(?:or|and|oder|und|ou|et|o|y|e|i|nebo|alebo)\s|\n")
_DAY = re.compile(r"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}")
_DATE_INSIDE = re.compile(
    r"(?<![0-9])(?:[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{4}"
    r"|[0-9]{1,2}(?:st|nd|rd|th|er|º|\.)?\s(?:de\s)?[^\W\d_]{3,12}\.?,?\s(?:de\s)?[0-9]{4})(?![0-9])"
)
_MAX_DATE_TEXT = 60
_NUMBER = re.compile(r"[0-9][0-9.,'\u00a0\u202f ]*[0-9]|[0-9]")
_THOUSAND = re.compile(r"(?<=[0-9])\s?[kK](?![^\W\d_])")
_WORD = re.compile(r"[^\W\d_]+|/h(?:r)?(?![^\W\d_])|p\.a\.")
_NOT_REMOTE = re.compile(r"(?<![^\W_])(?:not?|non|kein|nicht|sin|pas|ikke|inte|ei|nie)(?![^\W_])")
_JOINED = re.compile(r"\s(?:and|und|et|y|e|i|a|og|och|en|ja|ve|и|та|és|și|&|\+)\s|[,/]")
MAX_LINE = 3_000
_MAX_HEADING = 60
_MAX_BUTTON = 60
_MAX_HEADING_WORDS = 8
# The level of lines in bold type.
_BOLD_LEVEL = 8
# Shorter ones also stand in headings of other parts.
_LONG_PARTS = frozenset(phrase for phrase in PARTS if len(phrase) >= 6)
_YEARLY_FROM = 15_000
# Salaries in these currencies are paid by the year if they are high.
_CODE = re.compile(r"[A-Z]{3}")
_STRONG = words("EUR USD GBP CHF CAD AUD NZD SGD")
_LEGAL_FORM = re.compile(
    r"(?:\s|^)(?:gmbh(?: & co\.? kg)?|ag|se|kg|ohg|e\.?v\.?|s\.?r\.?o\.?|a\.?s\.?|sp\. ?z ?o\. ?o\."
    r"|s\.?a\.?|s\.?a\.?s\.?|sarl|s\.?r\.?l\.?|s\.?p\.?a\.?|s\.?l\.?|ltda?\.?|lda\.?|limited|plc|inc\.?|llc|llp"
    r"|corp\.?|b\.?v\.?|n\.?v\.?|ab|asa?|a/s|aps|oyj?|zrt\.?|kft\.?|nyrt\.?|bt\.?"
    r"|d\.?o\.?o\.?|eood|ood|pty ltd)$"
    r"|^(?:ооо|ао|пао|зао|ип|тов|株式会社)\s?|株式会社$|有限公司$",
    re.IGNORECASE,
)


def employment_types(texts: Iterable[str], *, by_beginning: bool = False) -> list[str]:
    """Codes of schema.org, from codes and from words in many languages; with ``by_beginning`` other
    words may follow these: `CDD de 6 mois`."""
    kept: list[str] = []
    for text in texts:
        found: list[str] = []
        for part in _SEPARATOR.split(text[:300]):
            code = part.strip().upper().replace("-", "_").replace(" ", "_")
            code = code if code in _CODES else KINDS.get(label_key(part), "")
            if not code and by_beginning:
                code = _kind_at_start(label_key(part))
            # `Fixed-term contract` and `Fixed-Term/Contract` are no work of a contractor.
            if code == "CONTRACTOR" and label_key(part) == "contract" and found:
                continue
            found += [code] if code else []
        kept += [code for code in dict.fromkeys(found) if code not in kept]
    # A permanent job is one of full time, unless the posting says how much.
    says_how_much = not {"FULL_TIME", "PART_TIME"}.isdisjoint(kept)
    found = ["FULL_TIME" if code == PERMANENT else code for code in kept]
    return [
        code for code, was in zip(found, kept, strict=True) if was != PERMANENT or not says_how_much
    ]


def _kind_at_start(key: str) -> str:
    while " " in key:
        key = key.rpartition(" ")[0]
        if key in KINDS:
            return KINDS[key]
    return ""


def is_remote(texts: Iterable[str]) -> bool:
    return any(
        word in low and _NOT_REMOTE.search(low) is None
        for text in texts for low in (text.lower(),) for word in REMOTE
    )  # fmt: skip


def day_of(text: str, locale: Locale) -> str | None:
    """The date as `2020-10-20`; None for `3 days ago`, which depends on when one reads it."""
    found = _DAY.search(text)
    if found is not None:
        return found[0]
    is_american = locale.language == "en" and locale.currency in ("USD", "CAD", None)
    order: DateOrder = "mdy" if is_american else "dmy"
    inside = _DATE_INSIDE.search(text[:_MAX_DATE_TEXT])
    # `Friday 27 November 2026 at noon`
    for written in (text.strip()[:_MAX_DATE_TEXT], "" if inside is None else inside[0]):
        read = read_date(written, order).value if written else None
        if isinstance(read, str) and _DAY.fullmatch(read):
            return read
    return None


def salary_of(text: str, locale: Locale) -> dict[str, str] | None:
    """`€45,000 - €55,000 per year`: currency, min, max and unit."""
    in_thousands = _THOUSAND.search(text[:300]) is not None
    text = _THOUSAND.sub("000", text[:300])
    tokens = list(TOKEN.finditer(text))
    if not tokens:
        return None
    # `$80,000 - $95,000 CAD`: a code says more than a sign.
    token = next((one for one in tokens if _CODE.fullmatch(one[0].strip())), tokens[0])
    currency = currency_of(token[0], locale.currency)
    amounts = [amount for found in _NUMBER.findall(text) if (amount := _plain(found, locale))]
    amounts = [one for one in amounts if float(one) >= 5][:2]
    if not amounts or currency is None:
        return None
    kept = {"currency": currency.currency, "min": amounts[0], "max": amounts[-1]}
    if in_thousands and float(kept["min"]) < 1000 <= float(kept["max"]):
        # `42 - 50 k€`
        kept["min"] += "000" if "." not in kept["min"] else ""
    if float(kept["max"]) < float(kept["min"]):
        kept["max"] = kept["min"]
    unit = unit_of_salary(text[tokens[0].start() :]) or unit_of_salary(text)
    if unit is None and currency.currency in _STRONG and float(kept["min"]) >= _YEARLY_FROM:
        unit = "YEAR"
    return kept | ({"unit": unit} if unit else {})


def has_legal_form(text: str) -> bool:
    """`Acme GmbH`: the name of a company."""
    return _LEGAL_FORM.search(text) is not None


def _plain(text: str, locale: Locale) -> str | None:
    number = read_number(text.replace("\u00a0", " ").replace("\u202f", " "), locale.decimal)
    return None if number is None else plain_amount(number.text)


def unit_of_salary(text: str) -> str | None:
    low = text.lower()
    code = low.strip().upper()
    if code in ("HOUR", "DAY", "WEEK", "MONTH", "YEAR"):
        return code
    for word in _WORD.findall(low):
        if word in SALARY_UNITS:
            return SALARY_UNITS[word]
    return None


def salary_amounts(values: dict[str, str | None], locale: Locale) -> dict[str, str]:
    """`min` and `max` from the members of schema.org's MonetaryAmount."""
    kept: dict[str, str] = {}
    for name, text in values.items():
        amount = None if text is None else read_amount(text, locale)
        if amount is not None:
            kept[name] = amount.amount
    return kept


def says_apply(text: str) -> bool:
    if not 2 <= len(text) <= _MAX_BUTTON:
        return False
    key = label_key(text).rstrip("!›»>→ ")
    if key in APPLY:
        return True
    # `Apply coupon` is no application; `postuler sur le site` is one.
    at = key.find(" ")
    while at > 0:
        if key[:at] in APPLY_BEGINNINGS:
            return True
        at = key.find(" ", at + 1)
    return False


def parts_of(lines: Iterable[tuple[str, int]]) -> dict[str, str]:
    """Requirements and responsibilities of a text, by its headings. Lines have their level as
    headings, 0 for text; a heading that is not known ends a part of its own level or a lower
    one, and so does a button to apply or the label of a salary. A heading below that of the same
    part names it more precisely, so that only what follows it is kept."""
    kept: dict[str, list[str]] = {}
    part: str | None = None
    began = 0
    for line, level in lines:
        line = line.lstrip("-•*· ")
        found, rest = _part_and_rest(line, level)
        if found is not None:
            if found == part and 0 < began < level < _BOLD_LEVEL:
                kept.pop(part, None)
            part, began, line = found, level, rest
        elif (level and (not began or level <= began)) or _is_beside_text(line):
            part = None
        if part in ("requirements", "responsibilities") and line:
            kept.setdefault(part, []).append(line[:MAX_LINE])
    return {name: "\n".join(lines) for name, lines in kept.items()}


def _is_beside_text(line: str) -> bool:
    """A button to apply, or the label of a salary below the text."""
    return says_apply(line) or LABELS.get(label_key(line)) == "salary"


def text_lines(text: str | None) -> list[tuple[str, int]]:
    """Lines of a text without markup, none of which is known to be a heading."""
    return [(line, 0) for line in (text or "").split("\n")]


def _part_and_rest(line: str, level: int) -> tuple[str | None, str]:
    head, colon, rest = line.partition(":")
    has_head = bool(colon) and len(head) <= _MAX_HEADING
    key = label_key(head if has_head else line).rstrip("?!… ")
    if not 0 < len(key) <= _MAX_HEADING:
        return None, ""
    found = PARTS.get(key)
    is_heading = level or (has_head and not rest.strip())
    if found is None and is_heading:
        found = part_of_heading(key)
    return found, rest.strip() if has_head else ""


@lru_cache(maxsize=4_096)
def part_of_heading(key: str) -> str | None:
    """The part that a heading names with other words around: `your tasks with us`, `requirements
    and skills`."""
    if len(key.split()) > _MAX_HEADING_WORDS:
        return None
    for piece in _JOINED.split(key):
        if (found := PARTS.get(piece.strip())) is not None:
            return found
    written = key.split()
    runs = (
        " ".join(written[start:stop])
        for start in range(len(written))
        for stop in range(start + 1, len(written) + 1)
    )
    best = max((run for run in runs if run in _LONG_PARTS), key=len, default="")
    if best:
        return PARTS[best]
    meant = {part for word in written for stem, part in STEMS.items() if word.startswith(stem)}
    return meant.pop() if len(meant) == 1 else None


def place_of(parts: Iterable[Any]) -> str | None:
    """Locality, region and country in one line, each once."""
    kept: list[str] = []
    for part in parts:
        text = part.strip(" ,") if isinstance(part, str) else ""
        if text and text not in kept:
            kept.append(text)
    return ", ".join(kept) or None
