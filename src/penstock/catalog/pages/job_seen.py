"""What a visitor sees of a job posting: labels, class names, headings, texts below the title."""

from __future__ import annotations

import re
from itertools import takewhile

from penstock.catalog.pages.candidates import Candidates
from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.job_values import (
    day_of,
    employment_types,
    has_legal_form,
    is_remote,
    part_of_heading,
    parts_of,
    salary_of,
    says_apply,
    unit_of_salary,
)
from penstock.catalog.pages.job_words import (
    CAREER_PAGES,
    CITIES,
    LABELS,
    NAMED_DATES,
    PARTS,
    REGIONS,
)
from penstock.catalog.pages.labelled import Pair
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.meta_tags import MetaTags
from penstock.catalog.pages.regions import Regions
from penstock.catalog.pages.values import read_line_text, read_long_text
from penstock.catalog.pages.words import OTHER_PRODUCT_NAMES, label_key, name_words
from penstock.catalog.word_lists import words

_SOURCE = "page"
_TITLE_NAMES = words(
    "job-title jobtitle title topcard posting-headline position-title vacancy-title job-header"
    " postingtitle job-name"
)
_COMPANY_NAMES = words(
    "company company-name companyname employer employer-name org org-name organization"
    " hiring-organization hiringorganization firma company-title job-company recruiter advertiser"
    " advertiser-name agency arbeitgeber entreprise empresa azienda werkgever pracodawca"
)
_PLACE_NAMES = words(
    "location locations job-location joblocation place city workplace region bullet ort lieu"
    " standort address arbeitsort ville plats sted lokalita miasto ciudad ubicacion locality town"
    " area workplaces office"
)
_SALARY_NAMES = words(
    "salary salaries pay compensation wage remuneration gehalt salaire salario stipendio salaris"
    " wynagrodzenie mzda plat lon lonn palkka maas zarplata"
)
# Parts of a name that make it the name of something else.
_NOT_COMPANY = words(
    "logo description rating size industry profile url website town city location address"
    " jobs more about image img icon review reviews"
)
_TEXT_NAMES = words(
    "description job-description jobdescription job-details posting-description vacancy-description"
    " job-content job-body job-text content details listing-container show-more-less-html prose"
    " details-text jobad jobaddetails descriptiontext jobdescriptiontext"
)
_DATE_NAMES = words("posted date-posted posted-date date publish-date job-date created published")
_JOB_NAMES = words(
    "job jobs vacancy posting jobad stellenanzeige stelle vacature oferta joblisting"
)
# Boards call the posting itself a listing.
OTHER_JOB_NAMES = (OTHER_PRODUCT_NAMES - words("listing teaser carousel ads")) | words(
    "similar-jobs related-jobs more-jobs other-jobs recommended-jobs job-alert jobalert"
)
_MAP_NAMES = _PLACE_NAMES | words("map marker pin map-marker map-pin geo place-icon")
# Texts beside a place's name that say how one works.
_MODES = words("on-site onsite hybrid remote vor-ort presencial híbrido hybride")
_SEPARATORS = re.compile(r"\s[-–|:@]\s")
_BEFORE_COMPANY = re.compile(
    r"^\s?[-–|:,@]\s?|^\s?(?:at|bei|chez|en|presso|bij|w|u|hos)\s", re.IGNORECASE
)
_JOBS_AT = re.compile(
    r"^(?:(?:jobs?|jobb|careers?|karriere|stellen|emplois?|work(?:ing)?|arbeiten|werken|vacatures"
    r"|travailler|trabaja|trabalhar|lavora|praca|kariera)\s(?:at|bei|bij|chez|hos|en|em|in|w|z))\s",
    re.IGNORECASE,
)
_AFTER_COMPANY = re.compile(r"\s[-–|:,]\s?$")
# `at Acme` beside the title.
_AT = re.compile(r"^(?:at|bei|chez|@)\s{1,2}(?=\S)", re.IGNORECASE)
_COMPANY_ADDRESS = re.compile(
    r"/(?:compan(?:y|ies)|cmp|employers?|firm[ay]?|unternehmen|arbeitgeber|entreprises?|empresas?"
    r"|aziende?|bedrijf|bedrijven|pracodawca|organi[sz]ations?)/",
    re.IGNORECASE,
)
# `(m/w/d)`, `H/F` and such: titles of postings only.
_ALL_GENDERS = re.compile(
    r"\([mwfdxhi]\s?[/|*]\s?[mwfdxhi](?:\s?[/|*]\s?[mwfdxhi])?\)"
    r"|\s[HFM]/[HFM](?:/[XN])?\b|\(all genders\)",
    re.IGNORECASE,
)
_DATE_AT_END = re.compile(
    r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./ -][0-9]{1,2}[./ -][0-9]{2,4}"
    r"|(?:[0-9]{1,2}(?:st|nd|rd|th|er|º|\.)?\s(?:de\s)?[^\W\d_]{3,12}\.?,?\s(?:de\s)?[0-9]{4})"
    r"|(?:[^\W\d_]{3,12}\.?\s[0-9]{1,2},?\s[0-9]{4}))$"
)
_LINKING = re.compile(r"\s(?:is|ist|am|le|il|el|on|dnia|dne|den|är|er)$")
_SIDE_BY_SIDE = re.compile(r"\s[·•|∙●‧]\s")
_SIGN_BEFORE = re.compile(r"^[^\w$€£¥₹#(\[]{1,3}\s")
_PIN_BEFORE = re.compile("^[\N{ROUND PUSHPIN}\N{EARTH GLOBE EUROPE-AFRICA}\N{WORLD MAP}]\\W{0,3}")
# How far below the title its facts stand, and above it the company.
_BELOW, _ABOVE = 200, 40
_MAX_FACT = 60
_MAX_SENTENCE = 200
_PAY = re.compile(
    r"gehalt|lohn|entgelt|salary|wage|salaire|rémunération|salario|sueldo|stipendio|retribuzione"
    r"|salaris|salário|wynagrodzenie|mzda|fizetés|salariu|lønn?|palkka|maaş|зарплат|оклад",
    re.IGNORECASE,
)
_LABEL_TAGS = words("dt th h1 h2 h3 h4 h5 h6 label a option title button")


# Whether it is a job posting


def looks_like_job(regions: Regions, labelled: list[Pair]) -> bool:
    """A button to apply and a label or heading of job postings, or several other signs of one."""
    page = regions.page
    kinds = {LABELS[label_key(pair.label)] for pair in labelled}
    parts = _parts_named(page)
    can_apply = any(
        element.tag in ("a", "button", "input", "h2", "h3")
        and says_apply(page.text(element) or element.get("value"))
        for element in page.elements
        if element.text_end - element.text_from <= 4
    )
    if (can_apply and (kinds or parts)) or len(kinds) >= 3:
        return True
    heading = regions.heading
    if heading is None:
        return False
    near = page.elements[heading.index : heading.index + _BELOW]
    signs = can_apply + len(kinds) + len(parts)
    signs += 2 * (_ALL_GENDERS.search(page.text(heading)) is not None)
    signs += any(employment_types([text]) for _, text in _facts(page, near))
    signs += any(not name_words(one.called).isdisjoint(_JOB_NAMES) for one in near)
    return signs >= 3


def _parts_named(page: Page) -> set[str]:
    """The parts that headings such as `Your tasks` or `Requirements` begin."""
    found: set[str | None] = set()
    for element in page.all("h2", "h3", "h4", "h5", "strong", "b"):
        text = page.text(element) if 0 < element.text_end - element.text_from <= 3 else ""
        if 3 < len(text) <= _MAX_FACT:
            key = label_key(text).rstrip("?!")
            found.add(PARTS.get(key) or part_of_heading(key))
    return {one for one in found if one in ("requirements", "responsibilities")}


# Labels


def add_labelled(found: Candidates, labelled: list[Pair], locale: Locale) -> None:
    kinds: list[str] = []
    places: list[tuple[list[str], float]] = []
    for pair in labelled:
        field = LABELS[label_key(pair.label)]
        text = read_line_text(pair.value)
        if text is None:
            continue
        sure = 0.7 if pair.in_table else 0.65
        if field == "locations":
            if places and pair.is_further:
                places[-1][0].append(text)
            elif len(text) <= 200:
                places.append(([text], sure))
            found.add("remote", is_remote([text]) or None, "label", sure)
        elif field == "employmentType":
            kinds += [text]
        elif field == "remote":
            found.add(field, is_remote([text]) or None, "label", sure)
        elif field == "salary":
            found.add(field, _labelled_salary(pair.label, text, locale), "label", sure)
        elif field == "company":
            found.add(field, text if len(text) <= 100 else None, "label", sure)
        elif field == "dates":
            _add_period(found, text, locale, sure)
        else:
            found.add(field, day_of(text, locale), "label", sure)
    for named, sure in places:
        found.add("locations", named, "label", sure)
    found.add("employmentType", employment_types(kinds, by_beginning=True), "label", 0.7)


def _labelled_salary(label: str, text: str, locale: Locale) -> dict[str, str] | None:
    """The label may say the unit: `Hourly rate: 19.50 €`."""
    pay, unit = salary_of(text, locale), unit_of_salary(label)
    return pay if pay is None or unit is None else {**pay, "unit": pay.get("unit") or unit}


def _add_period(found: Candidates, text: str, locale: Locale, sure: float) -> None:
    """`11/02/2026 to 11/16/2026`: when the posting was published, and until when it is open."""
    days = [day_of(part, locale) for part in re.split(r"\s(?:to|-|–|bis|au|al|do|till?)\s", text)]
    if len(days) == 2 and all(days):
        found.add("datePosted", days[0], "label", sure)
        found.add("validThrough", days[1], "label", sure)


# Names and texts


def add_seen(found: Candidates, regions: Regions, meta: MetaTags, locale: Locale) -> None:
    page = regions.page
    heading = regions.heading or _named(page, _TITLE_NAMES, 150)
    if heading is not None:
        found.add("title", read_line_text(page.text(heading)), _SOURCE, 0.6)
    _add_facts(found, regions, heading, locale)
    _add_company(found, page, heading, regions)
    _add_place(found, page, heading)
    pay = _named(page, _SALARY_NAMES, 150, after=heading)
    if pay is not None:
        found.add("salary", salary_of(page.spaced_text(pay), locale), _SOURCE, 0.55)
    _add_told_salary(found, regions, locale)
    _add_dates(found, regions, heading, locale)
    body = _longest_named(page, _TEXT_NAMES)
    if body is not None:
        found.add("description", "\n".join(page.lines(body))[:20_000], _SOURCE, 0.5)
    elif text := meta.first("og:description", "description"):
        found.add("description", read_long_text(text), "meta", 0.3)
    whole = page.first("main") or page.first("article") or page.first("body")
    for scope, sure in ((body, 0.5), (whole, 0.4)):
        parts = {} if scope is None else parts_of(page.leveled_lines(scope))
        for field in ("requirements", "responsibilities"):
            found.add(field, parts.get(field), _SOURCE, sure)
    if not found.has("remote") and heading is not None:
        found.add("remote", is_remote([page.text(heading)]) or None, _SOURCE, 0.5)


def _facts(page: Page, elements: list[Element]) -> list[tuple[Element, str]]:
    """Short texts that stand alone in an element."""
    found = []
    for element in elements:
        # Elements without a text inside, such as pictures, do not count.
        if element.text_end - element.text_from != 1 or page.texts[element.text_from][0] != element:
            continue
        text = page.text(element)
        pieces = _SIDE_BY_SIDE.split(text) if len(text) <= _MAX_SENTENCE else []
        # `Part-time · Hannover`
        for piece in pieces if len(pieces) > 1 else [text]:
            # Signs such as that of a clock stand before some.
            fact = _SIGN_BEFORE.sub("", piece).strip()
            if 1 < len(fact) <= _MAX_FACT:
                found.append((element, fact))
    return found


def _add_facts(
    found: Candidates, regions: Regions, heading: Element | None, locale: Locale
) -> None:
    """`Full-time`, `Remote` and `$42.50 – $51.00 per hour` below the heading, without a label."""
    page = regions.page
    start = 0 if heading is None else heading.index
    kinds: list[str] = []
    for element, text in _facts(page, page.elements[start : start + _BELOW]):
        if regions.is_elsewhere(element):
            continue
        kinds.append(text)
        if element.tag in _LABEL_TAGS or text.endswith(":"):
            continue
        found.add("remote", is_remote([text]) or None, _SOURCE, 0.45)
        for place in _places_in(text):
            found.add("locations", [place], _SOURCE, 0.42)
        pay = salary_of(text, locale)
        if pay is not None and ("unit" in pay or pay["min"] != pay["max"]):
            found.add("salary", pay, _SOURCE, 0.4)
    found.add("employmentType", employment_types(kinds)[:3], _SOURCE, 0.45)


def _places_in(text: str) -> list[str]:
    """`Boise, Idaho` and `Permanent, Part-time, Hannover`: known names of places, with the country
    or state that follows them."""
    parts = [part.strip() for part in text.split(",")]
    found: list[str] = []
    for at, part in enumerate(parts):
        if label_key(part) in CITIES:
            beside = parts[at + 1 : at + 3]
            regions = list(takewhile(_may_follow_city if len(parts) == 2 else _is_region, beside))
            found.append(", ".join([part, *regions]))
    if found or len(parts) != 2:
        return found
    # The name of a small town is known by the country after it.
    is_place = len(label_key(parts[1])) > 2 and label_key(parts[1]) in REGIONS
    return [text] if is_place and parts[0].istitle() else []


def _is_region(text: str) -> bool:
    return label_key(text) in REGIONS


def _may_follow_city(text: str) -> bool:
    """A province such as `Vizcaya`, alone beside its city."""
    is_name = text.istitle() and text.isalpha()
    return _is_region(text) or (is_name and not employment_types([text]) and not is_remote([text]))


def _add_told_salary(found: Candidates, regions: Regions, locale: Locale) -> None:
    """`The minimum salary is 2,500 EUR gross per month.`"""
    if found.has("salary"):
        return
    for owner, text in regions.page.texts:
        if 20 <= len(text) <= _MAX_SENTENCE and _PAY.search(text):
            pay = None if regions.is_elsewhere(owner) else salary_of(text, locale)
            if pay is not None and "unit" in pay:
                found.add("salary", pay, _SOURCE, 0.35)
                return


def _add_place(found: Candidates, page: Page, heading: Element | None) -> None:
    place = _named(page, _PLACE_NAMES, 100, after=heading, texts_without=_MODES)
    text = None if place is None else read_line_text(page.text(place))
    if text is not None:
        found.add("locations", [text], _SOURCE, 0.5)
    start = 0 if heading is None else heading.index
    for element in page.elements[start : start + _BELOW]:
        text = page.text(element) if element.text_end - element.text_from == 1 else ""
        if len(text) <= _MAX_FACT and _PIN_BEFORE.match(text):
            found.add("locations", [_PIN_BEFORE.sub("", text)], _SOURCE, 0.45)
            break
    for icon in page.elements[start : start + _BELOW]:
        # A picture of a pin instead of a label.
        if icon.text_end > icon.text_from or icon.parent is None or not icon.attributes:
            continue
        names = f"{icon.called} {icon.get('name')} {icon.get('data-icon')} {icon.get('alt')}"
        text = page.text(icon.parent)
        if not name_words(names).isdisjoint(_MAP_NAMES) and 1 < len(text) <= _MAX_FACT:
            found.add("locations", [text], _SOURCE, 0.45)
            return


def _add_company(found: Candidates, page: Page, heading: Element | None, regions: Regions) -> None:
    found.add("company", _company_in_title(page, heading, regions.titles), "title", 0.4)
    element = _named(page, _COMPANY_NAMES, 100, after=heading, without=_NOT_COMPANY)
    if element is not None:
        text = _AT.sub("", _own_text(page, element))
        found.add("company", read_line_text(text), _SOURCE, 0.5)
    if heading is None:
        return
    around = page.elements[max(0, heading.index - _ABOVE) : heading.index + _ABOVE]
    for one in around:
        if one.tag == "a" and _COMPANY_ADDRESS.search(one.get("href")):
            text = page.text(one)
            if 2 <= len(text) <= _MAX_FACT and not says_apply(text):
                found.add("company", read_line_text(text), _SOURCE, 0.55)
                break
    for one, text in _facts(page, around):
        is_other = one.tag in ("button", "option", "title") or regions.is_elsewhere(one)
        if not is_other and has_legal_form(text):
            found.add("company", read_line_text(_AT.sub("", text)), _SOURCE, 0.52)
            break


def _own_text(page: Page, element: Element) -> str:
    """The text without that of links and buttons beside it."""
    own = [
        text
        for owner, text in page.texts[element.text_from : element.text_end]
        if owner is element or owner.tag not in ("a", "button")
    ]
    return " ".join("".join(own).split()) or page.text(element)


def _add_dates(
    found: Candidates, regions: Regions, heading: Element | None, locale: Locale
) -> None:
    page = regions.page
    date = _named(page, _DATE_NAMES, 40, after=heading)
    if date is not None:
        inner = next((one for one in page.inside(date) if one.get("datetime")), date)
        written = inner.get("datetime") or page.text(date)
        found.add("datePosted", day_of(written, locale), _SOURCE, 0.5)
    for element in page.elements:
        if element.text_end - element.text_from not in (1, 2) or regions.is_elsewhere(element):
            continue
        text = page.text(element)
        at = _DATE_AT_END.search(text) if 12 <= len(text) <= 80 else None
        if at is None or not at.start():
            continue
        label = text[: at.start()]
        field = NAMED_DATES.get(label_key(label)) or NAMED_DATES.get(_date_label(label))
        if field is not None:
            found.add(field, day_of(at[0], locale), _SOURCE, 0.6)


def _date_label(text: str) -> str:
    """`The closing date is` names a date as `closing date` does."""
    return label_key(_LINKING.sub("", text.strip())).removeprefix("the ")


def _company_in_title(page: Page, heading: Element | None, titles: tuple[str, ...]) -> str | None:
    """`Acme - Engineer`, `Engineer at Acme` and `Careers | Acme` name the company beside the
    heading."""
    name = "" if heading is None else page.text(heading)
    for title in titles:
        if name and name in title:
            before, _, after = title.partition(name)
            # `Job application for` stands before the title, too.
            is_name = _AFTER_COMPANY.search(before) or has_legal_form(before.strip())
            first = _AFTER_COMPANY.sub("", before) if is_name else ""
            sides = [first, _BEFORE_COMPANY.sub("", after)]
        elif any(label_key(one) in CAREER_PAGES for one in _SEPARATORS.split(title)):
            sides = [title]
        else:
            continue
        rests = [rest for one in sides if (rest := _without_career_page(one))]
        if len(rests) == 2:
            # The other one may be the name of a board or of a software.
            rests = [one for one in rests if has_legal_form(one)]
        if len(rests) == 1 and 2 <= len(rests[0]) <= 60 and not _SEPARATORS.search(rests[0]):
            return read_line_text(rests[0])
    return None


def _without_career_page(title: str) -> str:
    """`Jobs bei Acme`, `Careers | Acme`: the rest of a title that names the company."""
    parts = [_JOBS_AT.sub("", one.strip(" -–|:,")) for one in _SEPARATORS.split(title)]
    kept = [one for one in parts if one and label_key(one) not in CAREER_PAGES]
    return kept[0] if len(kept) == 1 else title.strip() if kept else ""


def _named(
    page: Page, names: frozenset[str], longest: int, after: Element | None = None,
    without: frozenset[str] = frozenset(), texts_without: frozenset[str] = frozenset(),
) -> Element | None:  # fmt: skip
    """The first element with such a name and a short text; of elements in one another the inner
    one."""
    start = 0 if after is None else max(after.index - 30, 0)
    best: Element | None = None
    for element in page.elements[start:]:
        if best is not None and not best.contains(element):
            break
        if not element.attributes or element.text_end - element.text_from > 4:
            continue
        if element.tag in ("meta", "script", "input", "option", "title", "button"):
            continue
        if after is not None and (element is after or after.contains(element)):
            continue
        called = name_words(element.called)
        if not called.isdisjoint(names) and called.isdisjoint(without):
            text = page.text(element)
            key = label_key(text)
            if 1 < len(text) <= longest and key not in LABELS and key not in texts_without:
                best = element
    return best


def _longest_named(page: Page, names: frozenset[str]) -> Element | None:
    best, length = None, 100
    for element in page.elements:
        if element.tag in ("div", "section", "article") and element.attributes:
            size = sum(len(text) for _, text in page.texts[element.text_from : element.text_end])
            if length < size <= 30_000 and not name_words(element.called).isdisjoint(names):
                best, length = element, size
    return best
