"""A job posting from its page: markup first, then labels, class names and headings."""

from __future__ import annotations

import re
from typing import Any

from penstock.catalog.pages.candidates import Candidates, Chosen
from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.job_values import (
    day_of,
    employment_types,
    is_remote,
    parts_of,
    place_of,
    salary_amounts,
    salary_of,
    unit_of_salary,
)
from penstock.catalog.pages.job_words import APPLY, LABELS, PARTS, REMOTE
from penstock.catalog.pages.labelled import Pair, pairs
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.meta_tags import MetaTags
from penstock.catalog.pages.regions import Regions
from penstock.catalog.pages.schema_product import CONFIDENCE, likeness
from penstock.catalog.pages.things import Thing, text_of
from penstock.catalog.pages.values import (
    read_currency_code,
    read_line_text,
    read_long_text,
)
from penstock.catalog.pages.words import label_key, name_words
from penstock.catalog.word_lists import words

JOB_FIELDS = (
    "title", "company", "locations", "remote", "employmentType", "salary", "datePosted",
    "validThrough", "description", "requirements", "responsibilities",
)  # fmt: skip
_SOURCE = "page"
_TITLE_NAMES = words(
    "job-title jobtitle title topcard posting-headline position-title vacancy-title job-header"
    " postingtitle job-name"
)
_COMPANY_NAMES = words(
    "company company-name companyname employer employer-name org org-name organization"
    " hiring-organization firma company-title job-company recruiter"
)
_PLACE_NAMES = words(
    "location locations job-location joblocation place city workplace region bullet ort lieu"
    " standort address"
)
_TEXT_NAMES = words(
    "description job-description jobdescription job-details posting-description vacancy-description"
    " job-content job-body job-text content details listing-container show-more-less-html"
)
_SEPARATORS = re.compile(r"\s[-–|:@]\s")
_BESIDE_TITLE = re.compile(
    r"^\s?[-–|:,@]\s|\s[-–|:,]\s?$|^\s?(?:at|bei|chez|en|presso|bij|w|u|hos)\s", re.IGNORECASE
)
# `at Acme` beside the title.
_AT = re.compile(r"^(?:at|bei|chez|@)\s{1,2}(?=\S)", re.IGNORECASE)
_DATE_NAMES = words("posted date-posted posted-date date publish-date job-date created")


def job_postings_in(things: list[Thing]) -> list[Thing]:
    return [one for thing in things for one in thing.within() if "JobPosting" in one.types]


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
    regions = Regions(page, tuple(titles))
    labelled = [pair for pair in pairs(regions, LABELS) if label_key(pair.label) in LABELS]
    if not postings and not asked and not _looks_like_job(page, labelled):
        return None
    _add_labelled(found, labelled, locale)
    _add_seen(found, regions, meta, locale)
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
    parts = parts_of((description or "").split("\n"))
    needed = [
        text
        for name in ("qualifications", "skills", "experienceRequirements", "educationRequirements")
        if (text := _long(posting, name))
    ]
    add("requirements", "\n".join(dict.fromkeys(needed)) or parts.get("requirements"))
    add("responsibilities", _long(posting, "responsibilities") or parts.get("responsibilities"))


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


# What a visitor sees


def _looks_like_job(page: Page, labelled: list[Pair]) -> bool:
    """A button to apply, and a label or a heading of job postings."""
    kinds = {LABELS[label_key(pair.label)] for pair in labelled}
    can_apply = any(
        element.tag in ("a", "button", "input", "h2", "h3")
        and label_key(page.text(element) or element.get("value")) in APPLY
        for element in page.elements
        if element.text_end - element.text_from <= 4
    )
    return (can_apply and (bool(kinds) or _has_part(page))) or len(kinds) >= 3


def _has_part(page: Page) -> bool:
    """A heading such as `Your tasks` or `Requirements`."""
    return any(
        PARTS.get(label_key(page.text(element))) in ("requirements", "responsibilities")
        for element in page.all("h2", "h3", "h4", "h5", "strong", "b")
        if element.text_end - element.text_from <= 3
    )


def _add_labelled(found: Candidates, labelled: list[Pair], locale: Locale) -> None:
    for pair in labelled:
        field = LABELS[label_key(pair.label)]
        text = read_line_text(pair.value)
        if text is None:
            continue
        sure = 0.7 if pair.in_table else 0.65
        if field == "locations":
            found.add(field, [text] if len(text) <= 200 else None, "label", sure)
            found.add("remote", is_remote([text]) or None, "label", sure)
        elif field == "employmentType":
            found.add(field, employment_types([text]), "label", sure)
        elif field == "salary":
            found.add(field, salary_of(text, locale), "label", sure)
        elif field == "company":
            found.add(field, text if len(text) <= 100 else None, "label", sure)
        else:
            found.add(field, day_of(text, locale), "label", sure)


def _add_seen(found: Candidates, regions: Regions, meta: MetaTags, locale: Locale) -> None:
    page = regions.page
    heading = regions.heading or _named(page, _TITLE_NAMES, 150)
    if heading is not None:
        found.add("title", read_line_text(page.text(heading)), _SOURCE, 0.6)
    _add_unlabelled(found, page, heading)
    found.add("company", _company_in_title(page, heading, regions.titles), "title", 0.4)
    for field, names in (("company", _COMPANY_NAMES), ("locations", _PLACE_NAMES)):
        element = _named(page, names, 100, after=heading)
        text = None if element is None else read_line_text(_AT.sub("", page.text(element)))
        found.add(field, text if field == "company" or text is None else [text], _SOURCE, 0.5)
    date = _named(page, _DATE_NAMES, 40, after=heading)
    if date is not None:
        written = date.get("datetime") or page.text(date)
        found.add("datePosted", day_of(written, locale), _SOURCE, 0.5)
    body = _longest_named(page, _TEXT_NAMES)
    if body is not None:
        found.add("description", "\n".join(page.lines(body))[:20_000], _SOURCE, 0.5)
    elif text := meta.first("og:description", "description"):
        found.add("description", read_long_text(text), "meta", 0.3)
    whole = body or page.first("main") or page.first("article") or page.first("body")
    parts = {} if whole is None else parts_of(page.lines(whole))
    for field in ("requirements", "responsibilities"):
        found.add(field, parts.get(field), _SOURCE, 0.5 if body is not None else 0.4)
    if not found.has("remote") and heading is not None:
        found.add("remote", is_remote([page.text(heading)]) or None, _SOURCE, 0.5)


def _add_unlabelled(found: Candidates, page: Page, heading: Element | None) -> None:
    """`Full-time` and `Remote` below the heading, without a label."""
    start = 0 if heading is None else heading.index
    for element in page.elements[start : start + 200]:
        if element.children or element.text_end - element.text_from != 1:
            continue
        text = page.text(element)
        if len(text) <= 60:
            found.add("employmentType", employment_types([text]), _SOURCE, 0.45)
            found.add("remote", label_key(text) in REMOTE or None, _SOURCE, 0.45)


def _company_in_title(page: Page, heading: Element | None, titles: tuple[str, ...]) -> str | None:
    """`Acme - Engineer` and `Engineer at Acme` name the company beside the heading."""
    name = "" if heading is None else page.text(heading)
    for title in titles:
        if name and name in title:
            rest = _BESIDE_TITLE.sub("", title.replace(name, "")).strip()
            if 2 <= len(rest) <= 60 and not _SEPARATORS.search(rest):
                return read_line_text(rest)
    return None


def _named(
    page: Page, names: frozenset[str], longest: int, after: Element | None = None
) -> Element | None:
    """The first element with such a class name and a short text."""
    start = 0 if after is None else max(after.index - 30, 0)
    for element in page.elements[start:]:
        if not element.attributes or element.text_end - element.text_from > 4:
            continue
        if element.tag in ("meta", "script", "input", "option", "title"):
            continue
        if after is not None and (element is after or after.contains(element)):
            continue
        if not name_words(element.names).isdisjoint(names):
            text = page.text(element)
            if 1 < len(text) <= longest and label_key(text) not in LABELS:
                return element
    return None


def _longest_named(page: Page, names: frozenset[str]) -> Element | None:
    best, length = None, 100
    for element in page.elements:
        if element.tag in ("div", "section", "article") and element.attributes:
            size = sum(len(text) for _, text in page.texts[element.text_from : element.text_end])
            if length < size <= 30_000 and not name_words(element.names).isdisjoint(names):
                best, length = element, size
    return best
