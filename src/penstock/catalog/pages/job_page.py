"""A job posting from its page: markup first, then labels, class names and headings."""

from __future__ import annotations

import html
from typing import Any

from penstock.catalog.pages.candidates import Candidates, Chosen
from penstock.catalog.pages.html_tree import Page, parse
from penstock.catalog.pages.job_seen import (
    OTHER_JOB_NAMES,
    add_labelled,
    add_seen,
    looks_like_job,
)
from penstock.catalog.pages.job_values import (
    day_of,
    employment_types,
    is_remote,
    parts_of,
    place_of,
    salary_amounts,
    salary_of,
    text_lines,
    unit_of_salary,
)
from penstock.catalog.pages.job_words import LABELS
from penstock.catalog.pages.labelled import pairs
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.meta_tags import MetaTags
from penstock.catalog.pages.regions import OUTSIDE, Regions
from penstock.catalog.pages.schema_product import CONFIDENCE, likeness, products_in
from penstock.catalog.pages.things import Thing, text_of
from penstock.catalog.pages.values import (
    read_currency_code,
    read_line_text,
    read_long_text,
)
from penstock.catalog.pages.words import label_key

JOB_FIELDS = (
    "title", "company", "locations", "remote", "employmentType", "salary", "datePosted",
    "validThrough", "description", "requirements", "responsibilities",
)  # fmt: skip
_MAX_DESCRIPTION = 100_000


def job_postings_in(things: list[Thing]) -> list[Thing]:
    return [one for thing in things for one in thing.within() if _is_posting(one)]


def _is_posting(thing: Thing) -> bool:
    """Pages spell the type as they like."""
    return any(kind.lower() == "jobposting" for kind in thing.types)


def read_job(
    page: Page, things: list[Thing], meta: MetaTags, locale: Locale, *, asked: bool
) -> Chosen | None:
    """The job posting of the page; None if the page describes none, or several."""
    postings = job_postings_in(things)
    titles = [one for one in (meta.first("og:title"), _title(page)) if one]
    found = Candidates()
    if postings:
        best = max(postings, key=lambda one: _fit(one, titles))
        if len(postings) > 3 and _fit(best, titles) < 0.5 and not asked:
            return None
        _add_posting(found, best, locale)
    elif not asked and products_in(things):
        # The page itself says what it is about.
        return None
    regions = Regions(page, tuple(titles), OTHER_JOB_NAMES, OUTSIDE - {"aside"})
    labelled = [pair for pair in pairs(regions, LABELS) if label_key(pair.label) in LABELS]
    if not postings and not asked and not looks_like_job(regions, labelled):
        return None
    add_labelled(found, labelled, locale)
    add_seen(found, regions, meta, locale)
    if not found.has("title"):
        return None
    return {field: one for field in JOB_FIELDS if (one := found.best(field)) is not None}


def _title(page: Page) -> str | None:
    title = page.first("title")
    return None if title is None else page.text(title)


def _fit(posting: Thing, titles: list[str]) -> float:
    name = posting.text("title", "name") or ""
    return max((likeness(name, title) for title in titles), default=0.0)


# Markup


def _add_posting(found: Candidates, posting: Thing, locale: Locale) -> None:
    source, sure = posting.source, CONFIDENCE[posting.source]

    def add(field: str, value: Any, factor: float = 1.0) -> None:
        found.add(field, value, source, sure * factor)

    add("title", _line(posting, "title", "name"))
    add("company", _line(posting, "hiringOrganization"))
    places = [place for one in posting.all("jobLocation") if (place := _place(one))]
    homes = [
        place for one in posting.all("applicantLocationRequirements") if (place := _place(one))
    ]
    add("locations", list(dict.fromkeys(places or homes))[:50])
    kinds = [text for one in posting.all("employmentType") if (text := text_of(one))]
    add("employmentType", employment_types(kinds))
    add("remote", _says_remote(posting, places) or None)
    add("salary", _salary(posting, locale))
    for field in ("datePosted", "validThrough"):
        text = posting.text(field)
        add(field, None if text is None else day_of(text, locale))
    written = posting.text("description")
    description = None if written is None else read_long_text(written)
    add("description", description)
    parts = parts_of(_lines_of(written, description))
    needed = [
        text
        for name in ("qualifications", "skills", "experienceRequirements", "educationRequirements")
        if (text := _long(posting, name))
    ]
    add("requirements", "\n".join(dict.fromkeys(needed)) or parts.get("requirements"))
    add("responsibilities", _long(posting, "responsibilities") or parts.get("responsibilities"))


def _lines_of(written: str | None, description: str | None) -> list[tuple[str, int]]:
    """Lines of a description, with its headings if it has markup."""
    plain = html.unescape(html.unescape(written or ""))
    if "<" not in plain or len(plain) > _MAX_DESCRIPTION:
        return text_lines(description)
    page = parse(plain)
    body = page.first("body")
    return text_lines(description) if body is None else page.leveled_lines(body)


def _line(posting: Thing, *names: str) -> str | None:
    text = posting.text(*names)
    return None if text is None else read_line_text(text)


def _long(posting: Thing, *names: str) -> str | None:
    texts = [
        text
        for one in posting.all(*names)
        if (text := one.text("name", "credentialCategory") if isinstance(one, Thing) else one)
    ]
    return read_long_text("\n".join(texts)) if texts else None


def _places(posting: Thing, name: str) -> list[str]:
    found = [place for one in posting.all(name) if (place := _place(one))]
    return list(dict.fromkeys(found))[:50]


def _place(value: Any) -> str | None:
    if isinstance(value, str):
        return read_line_text(value)
    addresses = value.all("address") or [value]
    for address in addresses:
        if isinstance(address, str):
            return read_line_text(address)
        country = [text_of(one) for one in address.all("addressCountry")]
        parts = [address.text("addressLocality"), address.text("addressRegion"), *country]
        place = place_of(parts) or place_of([address.text("name", "streetAddress")])
        if place:
            return read_line_text(place)
    name = value.text("name")
    return None if name is None else read_line_text(name)


def _says_remote(posting: Thing, places: list[str]) -> bool:
    kind = (posting.text("jobLocationType") or "").upper()
    title = posting.text("title", "name") or ""
    # Where applicants may live matters only for work from anywhere.
    anywhere = bool(posting.all("applicantLocationRequirements")) and not places
    return "TELECOMMUTE" in kind or anywhere or is_remote([title, *places])


def _salary(posting: Thing, locale: Locale) -> dict[str, str] | None:
    for value in posting.all("baseSalary", "estimatedSalary", "salary"):
        if isinstance(value, str):
            named = posting.text("salaryCurrency")
            read = salary_of(f"{value} {named}" if named else value, locale)
            if read:
                return read
            continue
        inner = (value.things("value") or [value])[0]
        single = inner.text("value") or value.text("value")
        amounts = salary_amounts(
            {
                "min": inner.text("minValue") or value.text("minValue") or single,
                "max": inner.text("maxValue") or value.text("maxValue") or single,
            },
            locale,
        )
        code = value.text("currency") or inner.text("currency") or posting.text("salaryCurrency")
        currency = None if code is None else read_currency_code(code, locale)
        unit = unit_of_salary(inner.text("unitText") or value.text("unitText", "duration") or "")
        if amounts:
            kept = {"currency": currency, **amounts, "unit": unit}
            return {name: text for name, text in kept.items() if text}
    return None
