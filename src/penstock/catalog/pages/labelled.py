"""Values with a label before them: `EAN: 4006381333931`, rows of tables, definition lists."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import takewhile
from typing import NamedTuple

from penstock.catalog.pages.candidates import Candidates
from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.regions import Regions
from penstock.catalog.pages.values import (
    read_gtin_text,
    read_identifier_text,
    read_line_text,
    read_status,
)
from penstock.catalog.pages.words import label_key, labels

MAX_LABEL = 60
MAX_VALUE = 400
MAX_PAIRS = 2_000
MAX_VALUES = 50
MAX_ATTRIBUTES = 200

_SOURCE = "label"
# `Varenr. SB850`
_ABBREVIATED = re.compile(r"([^\W\d_][^\d:]{1,20}\.)\s?([\w./-]{2,40})")
_BOLD = frozenset(("b", "strong", "em", "i", "span", "label", "u"))
_COLON = re.compile(r"[:：]")
_READERS = {
    "sku": read_identifier_text, "gtin": read_gtin_text, "mpn": read_identifier_text,
    "brand": read_line_text, "availability": read_status,
}  # fmt: skip


class Pair(NamedTuple):
    label: str
    value: str
    element: Element
    # In a table or a definition list, not in running text.
    in_table: bool
    # Another value of the label before it.
    is_further: bool = False


def add_labelled(found: Candidates, regions: Regions) -> None:
    """Identifiers, brand and availability by their labels, and the table of specifications."""
    known = labels()
    attributes: dict[str, str] = {}
    for pair in pairs(regions, known):
        key = label_key(pair.label)
        meant = known.get(key)
        if meant is not None:
            field, sure = meant
            value = _READERS[field](pair.value)
            if value is not None and (field != "brand" or len(value) <= 60):
                found.add(field, value, _SOURCE, sure * _trust(field, pair, regions))
        if pair.in_table and len(attributes) < MAX_ATTRIBUTES and key:
            label = pair.label.strip().rstrip(":：").strip()
            value = read_line_text(pair.value)
            if label and value and len(label) <= MAX_LABEL:
                attributes.setdefault(label, value)
    if len(attributes) > 1:
        found.add("attributes", attributes, _SOURCE, 0.6)


def _trust(field: str, pair: Pair, regions: Regions) -> float:
    trust = {"gtin": 0.85, "sku": 0.72, "mpn": 0.7, "brand": 0.7, "availability": 0.6}[field]
    # What stands nearest to the heading is about the product.
    return trust - min(0.15, regions.distance(pair.element) / 8_000.0)


def pairs(regions: Regions, known: Container[str]) -> Iterator[Pair]:
    """Labels with their values: all of tables and definition lists, elsewhere the known ones."""
    page = regions.page
    count = 0
    for element in page.elements:
        found = _pair_of(page, element, known)
        if found is None or not found.value or regions.is_elsewhere(element):
            continue
        yield found
        if element.tag == "dt":
            yield from _further_values(page, element, found)
        count += 1
        if count >= MAX_PAIRS:
            return


def _further_values(page: Page, label: Element, first: Pair) -> Iterator[Pair]:
    """A definition list may have several values for one label."""
    following = label.parent.children[first.element.place + 1 :] if label.parent else []
    for value in takewhile(lambda one: one.tag == "dd", following[:MAX_VALUES]):
        pair = _pair(page, label, value, True)
        if pair is not None:
            yield pair._replace(is_further=True)


def _pair_of(page: Page, element: Element, known: Container[str]) -> Pair | None:
    tag = element.tag
    if tag == "tr":
        cells = [one for one in element.children if one.tag in ("td", "th")]
        if len(cells) == 2:
            return _pair(page, cells[0], cells[1], True)
        return None
    if tag == "dt":
        value = _next_element(element)
        if value is not None and value.tag == "dd":
            return _pair(page, element, value, True)
        return None
    if tag in ("td", "th", "dd", "table", "body", "html", "script", "title", "a"):
        return None
    if element.text_end - element.text_from > 12 or element.text_end == element.text_from:
        return None
    return _in_text(page, element, known) or _beside(page, element, known)


def _in_text(page: Page, element: Element, known: Container[str]) -> Pair | None:
    """`EAN: 4006381333931` as the text of one element, its parts in whatever elements."""
    text = page.spaced_text(element)
    if len(text) > MAX_LABEL + 80:
        return None
    parts = [part.strip() for part in _COLON.split(text, maxsplit=1)]
    if len(parts) < 2 and (short := _ABBREVIATED.fullmatch(text)) is not None:
        parts = [short[1], short[2]] if any(map(str.isdecimal, short[2])) else parts
    if len(parts) < 2:
        # `SKU HON-AC-500`
        head, _, code = text.rpartition(" ")
        if head and _is_code(code) and label_key(head) in known:
            is_label = label_key(text) in known or label_key(code) in known
            parts = parts if is_label else [head, code]
    if len(parts) < 2 or not 1 < len(parts[0]) <= MAX_LABEL or not parts[1] or ": " in parts[1]:
        return None
    is_known = label_key(parts[0]) in known
    return Pair(parts[0], parts[1], element, False) if is_known else None


def _is_code(text: str) -> bool:
    """Whether it is no word of a sentence."""
    return 3 <= len(text) <= 40 and (any(map(str.isdecimal, text)) or text.isupper())


def _beside(page: Page, element: Element, known: Container[str]) -> Pair | None:
    """A label alone in an element, its value in the next one."""
    if element.children and len(element.children) > 1:
        return None
    text = page.text(element)
    if not 2 <= len(text) <= 40 or label_key(text) not in known:
        return None
    if (following := _text_after(page, element)) is not None:
        return Pair(text, following, element, False)
    value = _next_element(element)
    if value is None:
        # The rest of the parent's text: `<strong>SKU</strong> 12345`.
        parent = element.parent
        if parent is None or parent.text_end - parent.text_from > 6:
            return None
        whole = page.spaced_text(parent)
        # A label below its value: `<b>Zwolle</b><small>Location</small>`.
        rest = whole.removeprefix(text) if whole.startswith(text) else whole.removesuffix(text)
        rest = rest.strip(" :")
        return Pair(text, rest, element, False) if 0 < len(rest) <= 80 else None
    return _pair(page, element, value, False)


def _text_after(page: Page, element: Element) -> str | None:
    """`<b>Salary:</b> £12 per hour<br>`: the text of the parent up to the next element, if the
    label ends with a colon."""
    if element.tag not in _BOLD or element.text_end >= len(page.texts):
        return None
    owner, text = page.texts[element.text_end]
    is_label = page.text(element).endswith((":", "：")) or text.lstrip().startswith((":", "："))
    value = " ".join(text.split()).strip(" :：")
    is_value = owner is element.parent and is_label and 0 < len(value) <= MAX_VALUE
    return value if is_value else None


def _pair(page: Page, label: Element, value: Element, in_table: bool) -> Pair | None:
    name, text = page.text(label), page.spaced_text(value)
    if not 1 < len(name) <= MAX_LABEL or not 0 < len(text) <= MAX_VALUE:
        return None
    return Pair(name, text, value, in_table)


def _next_element(element: Element) -> Element | None:
    parent = element.parent
    if parent is None:
        return None
    following = parent.children[element.place + 1 : element.place + 2]
    return following[0] if following else None
