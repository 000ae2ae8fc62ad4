"""The price that a visitor sees: near the heading and the buy button, with a currency, not struck
out and not of another product."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.regions import Regions
from penstock.catalog.pages.values import Amount, read_amount
from penstock.catalog.pages.words import (
    OLD_PRICE_NAMES,
    OTHER_AMOUNT_NAMES,
    PRICE_NAMES,
    name_words,
)
from penstock.catalog.values.currencies import TOKEN

MAX_PRICE_TEXT = 48
_MAX_CANDIDATES = 400
_DIGIT = re.compile(r"[0-9]")
_NUMBER = re.compile(r"[0-9][0-9.,'\u00a0\u202f ]*[0-9]|[0-9]")
_NOT_DIGITS = re.compile(r"[^0-9]+")
_OTHER_TEXT = re.compile(
    r"%|/\s?(?:mo|month|monat|mois|mes|miesi)|per month|pro monat|par mois|al mes|mtl\.|\bx\s?[0-9]"
    r"|shipping|delivery|versand|livraison|env[ií]o|verzend|wysy|doprav|spar|save|off\b|you save|"
    r"[0-9]\s?(?:kg|g|ml|l|cm|mm|m²|w|v|gb|mb|tb|mah|\")\b|[0-9]{1,2}[:.][0-9]{2}\s?(?:am|pm|uhr)",
    re.IGNORECASE,
)
_FROM_TEXT = re.compile(
    r"^(?:from|ab|desde|à partir de|dès|od|da|vanaf|från|fra|alkaen|a partire da)\s", re.I
)
_STRUCK = frozenset(("del", "s", "strike"))


@dataclass(frozen=True, slots=True)
class SeenPrice:
    amount: Amount
    element: Element
    score: float
    old: bool


def visible_digits(page: Page) -> frozenset[str]:
    """The digits of all numbers of the text, without marks: 119,01 is 11901."""
    found: set[str] = set()
    for _, text in page.texts:
        if len(text) <= 2_000:
            for number in _NUMBER.findall(text):
                digits = _NOT_DIGITS.sub("", number)
                if len(digits) <= 12:
                    found.add(digits)
    return frozenset(found)


def is_visible(amount: str, digits: frozenset[str]) -> bool:
    """Whether the text of the page has the amount in any way of writing; cents may stand in an
    element of their own."""
    head, _, decimals = amount.partition(".")
    whole = head.lstrip("0") or "0"
    if decimals.strip("0"):
        cents = f"{decimals:<02}".replace(" ", "0")
        forms = {whole + cents, whole + decimals, head + cents}
        return not forms.isdisjoint(digits) or (whole in digits and cents in digits)
    return whole in digits or whole + "00" in digits


def seen_prices(regions: Regions, locale: Locale) -> list[SeenPrice]:
    """Prices in the page, the most probable first."""
    page = regions.page
    found: dict[int, SeenPrice] = {}
    last_end = -1
    for element, text in page.texts:
        if not _DIGIT.search(text) or len(text) > 400 or element.index < last_end:
            continue
        seen = _price_around(regions, element, locale)
        if seen is not None and seen.element.index not in found:
            found[seen.element.index] = seen
            last_end = seen.element.end
            if len(found) >= _MAX_CANDIDATES:
                break
    return sorted(found.values(), key=lambda one: -one.score)


def _price_around(regions: Regions, element: Element, locale: Locale) -> SeenPrice | None:
    """The smallest element around a number whose whole text is a price."""
    page = regions.page
    holder: Element | None = element
    best: tuple[Element, Amount, str] | None = None
    for _ in range(4):
        if (
            holder is None
            or holder.text_end - holder.text_from > 10
            or holder.tag in ("title", "script")
        ):
            break
        text = page.spaced_text(holder) if holder is not element else page.text(holder)
        if len(text) > MAX_PRICE_TEXT:
            break
        amount = _amount(page, holder, text, locale)
        if amount is not None:
            has_currency = TOKEN.search(text) is not None
            if has_currency or best is None:
                best = (holder, amount, text)
            if has_currency:
                break
        holder = holder.parent
    if best is None:
        return None
    holder, amount, text = best
    score, old = _score(regions, holder, text)
    return SeenPrice(amount, holder, score, old) if score > 0 else None


def _amount(page: Page, holder: Element, text: str, locale: Locale) -> Amount | None:
    if _OTHER_TEXT.search(text):
        return None
    text = _FROM_TEXT.sub("", text)
    split = _split_cents(page, holder)
    if split is not None:
        text = split
    return read_amount(text.strip(" *:"), locale)


def _split_cents(page: Page, holder: Element) -> str | None:
    """`12` and `99` in elements of their own are 12.99."""
    pieces = [
        one.strip() for _, one in page.texts[holder.text_from : holder.text_end] if one.strip()
    ]
    numbers = [one for one in pieces if _DIGIT.search(one)]
    if len(numbers) != 2 or not re.fullmatch(r"[0-9]{2}", numbers[1].strip(" ,.")):
        return None
    whole = re.fullmatch(r"([^0-9]{0,5})([0-9][0-9.,' \u00a0\u202f]*?)[,. ]?", numbers[0])
    if whole is None or numbers[1][:1] == "-":
        return None
    signs = " ".join(one.strip(",.") for one in pieces if not _DIGIT.search(one))
    cents = numbers[1].strip(" ,.")
    return f"{whole[1]} {_NOT_DIGITS.sub('', whole[2])}.{cents} {signs}".strip()


def _score(regions: Regions, holder: Element, text: str) -> tuple[float, bool]:
    names = set(name_words(holder.names))
    old = holder.tag in _STRUCK
    above = holder
    for above in list(holder.ancestors())[:3]:
        if above.end - above.index > 40:
            break
        names |= name_words(above.names)
        old = old or above.tag in _STRUCK
    inner = regions.page.inside(holder)
    old = old or (
        bool(inner) and all(one.tag in _STRUCK for one in inner if one.text_end > one.text_from)
    )
    score = 0.25
    has_currency = TOKEN.search(text) is not None
    named = not names.isdisjoint(PRICE_NAMES) or "price" in holder.get("itemprop").lower()
    if not has_currency and not named:
        return 0.0, old
    score += 0.2 * has_currency + 0.25 * named
    own = name_words(holder.names)
    if (
        not old
        and not own.isdisjoint(OLD_PRICE_NAMES)
        and own.isdisjoint({"sale", "special", "new", "current", "final", "now"})
    ):
        old = True
    if not names.isdisjoint(OTHER_AMOUNT_NAMES):
        score -= 0.25
    if regions.is_elsewhere(holder):
        score -= 0.4
    if any(one.tag == "a" for one in (holder, *list(holder.ancestors())[:6])):
        score -= 0.2
    far = regions.distance(holder)
    score += 0.3 / (1.0 + far / 60.0)
    return max(score, 0.0), old


def best_prices(regions: Regions, locale: Locale) -> tuple[SeenPrice | None, SeenPrice | None]:
    """The price, and the old price that stands struck out beside it."""
    seen = seen_prices(regions, locale)
    price = next((one for one in seen if not one.old), None)
    if price is None:
        # A class name that says "old" may be the only price there is.
        return (seen[0], None) if seen else (None, None)
    before = [
        one
        for one in seen
        if one.old
        and abs(one.element.index - price.element.index) <= 60
        and Decimal(one.amount.amount) > Decimal(price.amount.amount)
    ]
    struck = any(one.element.tag in _STRUCK for one in before)
    near = min(before, key=lambda one: abs(one.element.index - price.element.index), default=None)
    if near is None and struck is False:
        return price, None
    return price, near
