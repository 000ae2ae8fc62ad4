"""Parts of a product page: its heading, its buy button, and what belongs to other products."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.schema_product import likeness
from penstock.catalog.pages.words import (
    ADD_TO_CART,
    OTHER_PRODUCT_NAMES,
    OUT_OF_STOCK,
    SOLD_OUT_BUTTON,
    label_key,
    name_words,
)
from penstock.catalog.word_lists import words

MIN_LIST = 3
OUTSIDE = words("nav footer aside title option select")
_BUTTONS = frozenset(("button", "a", "input", "span", "div"))
_NAME_NAMES = words("name title product-title product-name goods-name item-name prd-name")
_LOGO_NAMES = words("logo site-title site-name brand-logo header-logo sitename")
_TITLE_NAMES = words(
    "product-title product-name producttitle productname product-heading pdp-title item-title"
)


@dataclass(frozen=True)
class Regions:
    page: Page
    titles: tuple[str, ...]
    # Names of the parts that are about something else.
    elsewhere: frozenset[str] = OTHER_PRODUCT_NAMES
    # Tags of such parts.
    outside: frozenset[str] = OUTSIDE

    @cached_property
    def heading(self) -> Element | None:
        """The heading that names the product: the one most like the titles of the page."""
        best, score = None, 0.0
        for element in self.page.elements:
            if element.tag not in ("h1", "h2") and not _is_called_title(element):
                continue
            text = self.page.text(element)
            if not 2 <= len(text) <= 300 or self.is_elsewhere(element) or _is_logo(element):
                continue
            value = {"h1": 1.0, "h2": 0.2}.get(element.tag, 0.6)
            if element.tag == "h2" and not name_words(element.names).isdisjoint(_NAME_NAMES):
                value = 0.6
            if not self.titles and best is None and element.tag == "h2":
                value = 0.6
            value += 1.5 * max((likeness(text, title) for title in self.titles), default=0.0)
            if value > score + 0.05:
                best, score = element, value
        return best if score >= 0.6 else None

    @cached_property
    def _outer(self) -> dict[int, bool]:
        return {}

    def is_elsewhere(self, element: Element) -> bool:
        """Inside of navigation, a list of other products, or another part that is not about the
        product of the page."""
        known = self._outer.get(element.index)
        if known is not None:
            return known
        path: list[Element] = []
        answer = False
        current: Element | None = element
        while current is not None:
            known = self._outer.get(current.index)
            if known is not None:
                answer = known
                break
            path.append(current)
            if current.tag in self.outside or (
                current.tag not in ("body", "html", "main")
                and current.attributes
                and not self.elsewhere.isdisjoint(name_words(current.names))
                and not self._holds_heading(current)
            ):
                answer = True
                break
            current = current.parent
        for one in path:
            self._outer[one.index] = answer
        return answer

    def _holds_heading(self, element: Element) -> bool:
        """A container of half the page is not a list of other products, whatever its name."""
        return element.end - element.index > len(self.page.elements) * 0.5

    @cached_property
    def buttons(self) -> list[tuple[Element, bool]]:
        """Buttons to buy, with whether they say that the product can be bought."""
        found: list[tuple[Element, bool]] = []
        for element in self.page.elements:
            if element.tag not in _BUTTONS or element.text_end - element.text_from > 8:
                continue
            if element.tag == "input" and element.get("type").lower() not in (
                "submit",
                "button",
                "image",
            ):
                continue
            if element.tag in ("span", "div") and element.end - element.index > 3:
                continue
            text = self.page.text(element) or element.get("value") or element.get("aria-label")
            if not 2 <= len(text) <= 60:
                continue
            key = label_key(text)
            if key in ADD_TO_CART and not self.is_elsewhere(element):
                found.append((element, not _is_disabled(element)))
            elif _says_sold_out(element, key) and not self.is_elsewhere(element):
                found.append((element, False))
        return found

    @cached_property
    def is_blocked(self) -> bool:
        """Whether a button below the heading cannot be pressed, and none to buy is known: the
        product may be sold out, in words that are not known."""
        below = self.page.elements[self.start :]
        return not self.buttons and any(
            one.tag == "button" and _is_disabled(one) and not self.is_elsewhere(one)
            for one in below
        )

    @cached_property
    def is_list(self) -> bool:
        """Whether at least three parts that are made alike have a button to buy each."""
        made = Counter(
            (button.parent.tag, button.parent.names)
            for button, _ in self.buttons
            if button.parent is not None
        )
        return bool(made) and max(made.values()) >= MIN_LIST

    @cached_property
    def start(self) -> int:
        """The first element of the part that describes the product."""
        return 0 if self.heading is None else self.heading.index

    def distance(self, element: Element) -> float:
        """How far an element stands from the heading and the buy button; before the heading counts
        three times."""
        from_heading = element.index - self.start
        far = float(from_heading) if from_heading >= 0 else -3.0 * from_heading
        if self.buttons:
            near = min(abs(element.index - button.index) for button, _ in self.buttons[:3])
            far = min(far, 2.0 * near)
        return far


def _says_sold_out(element: Element, key: str) -> bool:
    if key in SOLD_OUT_BUTTON and element.tag != "div":
        return True
    return _is_disabled(element) and any(one in key for one in OUT_OF_STOCK)


def _is_disabled(element: Element) -> bool:
    for one in (element, element.parent):
        if one is not None and ("disabled" in one.attributes or one.get("aria-disabled") == "true"):
            return True
    return "disabled" in name_words(element.names)


def _is_logo(element: Element) -> bool:
    """The name of the site, which some themes make a heading on every page."""
    if not name_words(element.names).isdisjoint(_LOGO_NAMES):
        return True
    links = [one for one in element.children if one.tag == "a"]
    return len(element.children) == 1 and bool(links) and links[0].get("href") == "/"


def _is_called_title(element: Element) -> bool:
    if not element.attributes:
        return False
    called = name_words(element.names)
    return not called.isdisjoint(_TITLE_NAMES) or element.get("itemprop") == "name"
