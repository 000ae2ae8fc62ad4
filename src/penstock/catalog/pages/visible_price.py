"""The price that a visitor sees: near the heading and the buy button, with a currency, not struck
out and not of another product."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.regions import Regions
from penstock.catalog.pages.values import Amount, read_amount
from penstock.catalog.pages.words import (
    NET_WORDS,
    OLD_PRICE_NAMES,
    OLD_PRICE_WORDS,
    OTHER_AMOUNT_NAMES,
    OTHER_AMOUNT_WORDS,
    PRICE_NAMES,
    name_words,
)
from penstock.catalog.values.currencies import TOKEN

MAX_PRICE_TEXT = 48
_MAX_CANDIDATES = 400
_DIGIT = re.compile(r"[0-9]")
_NUMBER = re.compile(r"[0-9][0-9.,'\u00a0\u202f ]{0,20}[0-9]|[0-9]")
_NOT_DIGITS = re.compile(r"[^0-9]+")
_OTHER_TEXT = re.compile(
    "|".join(re.escape(word) for word in OTHER_AMOUNT_WORDS)
    + r"|\bx\s?[0-9]|\boff\b|[0-9]\s?(?:kg|g|ml|l|cm|mm|m²|w|v|gb|mb|tb|mah|\")\b"
    r"|[0-9]{1,2}[:.][0-9]{2}\s?(?:am|pm|uhr)",
    re.IGNORECASE,
)
_TAX = "mwst|ust|vat|tva|iva|btw|moms|mva|alv|dph|áfa|kdv|ндс|пдв|ддс|pdv|ddv|φπα|gst|pvn|pvm|tax"
# `(sis. alv 25,5 %)` is no discount.
_TAX_RATE = re.compile(
    rf"\(?(?:[^\W\d_]{{1,10}}\.?\s)?(?:(?:{_TAX})\.?\s?[0-9]{{1,2}}(?:[.,][0-9]{{1,2}})?\s?%"
    rf"|[0-9]{{1,2}}(?:[.,][0-9]{{1,2}})?\s?%\s?(?:{_TAX})(?![^\W\d_])\.?)\)?",
    re.IGNORECASE,
)
_NET_TEXT = re.compile(
    r"(?<![^\W\d_])(?:" + "|".join(re.escape(word) for word in NET_WORDS) + r")(?![^\W\d_])",
    re.IGNORECASE,
)
_OLD_TEXT = re.compile(
    r"(?<![^\W\d_])(?:" + "|".join(re.escape(word) for word in OLD_PRICE_WORDS) + r")(?![^\W\d_])",
    re.IGNORECASE,
)
_WITH_CURRENCY = re.compile(
    rf"(?<![^\W_])(?<![0-9]-)(?:(?:{_NUMBER.pattern})\s?(?:{TOKEN.pattern})"
    rf"|(?:{TOKEN.pattern})\s?(?:{_NUMBER.pattern}))(?![^\W_])",
    re.IGNORECASE,
)
_FROM_TEXT = re.compile(
    r"^(?:from|ab|desde|à partir de|dès|od|da|vanaf|från|fra|alkaen|a partire da)\s", re.I
)
# `T50R` is a part number, not 50 rand.
_CODE = re.compile(r"(?<![^\W\d_])[A-Za-z]{1,2}[0-9]{1,6}[A-Za-z]")
# Where prices have a currency, numbers without one are less probable.
_SURE_SCORE, _BARE_FACTOR = 0.5, 0.6
_SUBSCRIPTION = re.compile(
    r"subscri|auto-?ship|(?<![^\W_])abo(?![^\W_])|abonn|suscri|abbonament|assinatura|prenumer"
    r"|předplat|подписк",
    re.IGNORECASE,
)
_STRUCK = frozenset(("del", "s", "strike"))
_NEW_NAMES = frozenset(("sale", "special", "new", "current", "final", "now"))


@dataclass(frozen=True, slots=True)
class SeenPrice:
    amount: Amount
    element: Element
    score: float
    old: bool
    has_currency: bool = True


def visible_digits(page: Page) -> frozenset[str]:
    """The digits of all numbers of the text, without marks: 119,01 is 11901."""
    found: set[str] = set()
    before = ""
    for _, text in page.texts:
        if len(text) > 2_000:
            continue
        last = ""
        for number in _NUMBER.findall(text):
            last = _NOT_DIGITS.sub("", number)
            if len(last) <= 12:
                found.add(last)
        if last and before and len(last) == 2:
            # Cents in an element of their own.
            found.add(before + last)
        if last or text.strip(" \n\t.,"):
            before = last
    return frozenset(found)


def is_visible(amount: str, digits: frozenset[str]) -> bool:
    """Whether the text of the page has the amount in any way of writing."""
    head, _, decimals = amount.partition(".")
    whole = head.lstrip("0") or "0"
    if not decimals.strip("0"):
        return whole in digits or whole + "00" in digits
    cents = f"{decimals:<02}".replace(" ", "0")
    return not {whole + cents, whole + decimals, head + cents}.isdisjoint(digits)


def seen_prices(regions: Regions, locale: Locale) -> list[SeenPrice]:
    """Prices in the page, the most probable first."""
    found: list[SeenPrice] = []
    read_until = 0
    for place, (element, text) in enumerate(regions.page.texts):
        if place < read_until or len(text) > 400 or not _DIGIT.search(text):
            continue
        seen, whole = _price_around(regions, element, text, locale)
        if seen is not None:
            found.append(seen)
            if whole:
                read_until = seen.element.text_end
            if len(found) >= _MAX_CANDIDATES:
                break
    return sorted(_doubt_bare(found), key=lambda one: -one.score)


def _doubt_bare(found: list[SeenPrice]) -> list[SeenPrice]:
    """Numbers without a currency are quantities and codes, where prices have one."""
    if not any(one.has_currency and one.score >= _SURE_SCORE for one in found):
        return found
    return [
        one if one.has_currency else replace(one, score=one.score * _BARE_FACTOR) for one in found
    ]


def _price_around(
    regions: Regions, element: Element, text: str, locale: Locale
) -> tuple[SeenPrice | None, bool]:
    """The price of the smallest element around a number whose whole text is a price; else one
    inside of the text. The second value says which."""
    page = regions.page
    holder: Element | None = element
    best: tuple[Element, Amount, str] | None = None
    for _ in range(4):
        if holder is None or holder.text_end - holder.text_from > 10 or holder.tag == "title":
            break
        whole = page.spaced_text(holder) if holder is not element else page.text(holder)
        if len(whole) > MAX_PRICE_TEXT:
            break
        amount = _amount(page, holder, whole, locale)
        if amount is not None:
            has_currency = TOKEN.search(whole) is not None
            if has_currency or best is None:
                best = (holder, amount, whole)
            if has_currency:
                break
        if holder.tag in ("td", "th"):
            # The other cells of a row say something else, such as a quantity.
            break
        holder = holder.parent
    is_whole = best is not None
    if best is None:
        inside = _amount_inside(text, locale)
        best = None if inside is None else (element, inside, text)
    if best is None:
        return None, False
    holder, amount, whole = best
    score, old = _score(regions, holder, whole)
    has_currency = TOKEN.search(whole) is not None
    seen = SeenPrice(amount, holder, score, old, has_currency) if score > 0 else None
    return seen, is_whole


def _amount(page: Page, holder: Element, text: str, locale: Locale) -> Amount | None:
    text = _TAX_RATE.sub("", text)
    if _OTHER_TEXT.search(text) or _CODE.search(text):
        return None
    split = _split_cents(page, holder)
    return read_amount((split or _FROM_TEXT.sub("", text)).strip(" *:"), locale)


def _amount_inside(text: str, locale: Locale) -> Amount | None:
    """The only amount with a currency in a short sentence: `Now only 149.00 EUR`."""
    if len(text) > 2 * MAX_PRICE_TEXT or _OTHER_TEXT.search(text):
        return None
    found = [one[0] for one in _WITH_CURRENCY.finditer(text)]
    return read_amount(found[0], locale) if len(found) == 1 else None


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
    """How probable it is that this is the price of the product, and whether it is struck out or
    named as an old one."""
    own = _names_of_text(regions.page, holder)
    names = set(own)
    above = [one for one in list(holder.ancestors())[:3] if one.end - one.index <= 40]
    for one in above:
        names |= name_words(one.names)
    inner = [one for one in regions.page.inside(holder) if one.text_end > one.text_from]
    struck = any(map(_is_struck, (holder, *above))) or (bool(inner) and all(map(_is_struck, inner)))
    called_old = not own.isdisjoint(OLD_PRICE_NAMES) and own.isdisjoint(_NEW_NAMES)
    has_currency = TOKEN.search(text) is not None
    is_named = not own.isdisjoint(PRICE_NAMES) or "price" in holder.get("itemprop").lower()
    is_inside_named = not names.isdisjoint(PRICE_NAMES)
    if not has_currency and not is_inside_named and not is_named:
        return 0.0, struck
    score = 0.2 + 0.2 * has_currency
    score += 0.3 if is_named else 0.2 if is_inside_named else 0.0
    if not names.isdisjoint(OTHER_AMOUNT_NAMES):
        score -= 0.25
    around = _text_around(regions.page, holder, text)
    if sum(char.isalpha() for char in around.replace(text, "")) >= 14:
        score -= 0.15
    if _NET_TEXT.search(around):
        score -= 0.15
    label = _row_label(regions.page, holder)
    if _OTHER_TEXT.search(label):
        score -= 0.4
    elif label.isdecimal() and label != "1":
        # The price for a quantity.
        score -= 0.3
    if regions.is_elsewhere(holder):
        score -= 0.4
    if _SUBSCRIPTION.search(_choice_text(regions.page, holder)):
        score -= 0.35
    if any(one.tag == "a" for one in (holder, *list(holder.ancestors())[:6])):
        score -= 0.2
    score += 0.3 / (1.0 + regions.distance(holder) / 60.0)
    return max(score, 0.0), struck or called_old or _OLD_TEXT.search(around) is not None


def _row_label(page: Page, holder: Element) -> str:
    """The first cell of the row of a table that the amount stands in."""
    row = next((one for one in list(holder.ancestors())[:3] if one.tag == "tr"), None)
    if row is None or not row.children or row.children[0].index >= holder.index:
        return ""
    label = page.text(row.children[0])
    return label if len(label) <= MAX_PRICE_TEXT else ""


def _choice_text(page: Page, holder: Element) -> str:
    """The text of the choice that an amount belongs to, such as a radio button with its label."""
    for one in list(holder.ancestors())[:3]:
        if one.tag in ("label", "li", "fieldset"):
            text = page.text(one)
            return text if len(text) <= 2 * MAX_PRICE_TEXT else ""
    return ""


def _is_struck(element: Element) -> bool:
    """Struck out by its tag, its style or an attribute such as `data-strike`."""
    if element.tag in _STRUCK or "line-through" in element.get("style"):
        return True
    return any("strike" in name and value != "false" for name, value in element.attributes.items())


def _names_of_text(page: Page, holder: Element) -> frozenset[str]:
    """The names of the element and of those around it that have no other text."""
    own = name_words(holder.names)
    texts = _distinct_texts(page, holder)
    above = holder.parent
    while above is not None and _distinct_texts(page, above) == texts:
        own = own | name_words(above.names)
        above = above.parent
    return own


def _distinct_texts(page: Page, element: Element) -> set[str]:
    """An amount may stand twice, once for screen readers."""
    last = min(element.text_end, element.text_from + 6)
    texts = {text.strip() for _, text in page.texts[element.text_from : last]}
    return texts - {""} if last == element.text_end else texts | {"…"}


def _text_around(page: Page, holder: Element, text: str) -> str:
    """The text of the block that an amount stands in, if it has no other number."""
    block = holder.parent
    if block is None or block.text_end - block.text_from > 8:
        return text
    around = page.text(block)
    alone = len(around) <= 160 and not _DIGIT.search(around.replace(text, ""))
    return around if alone else text


def best_prices(regions: Regions, locale: Locale) -> tuple[SeenPrice | None, SeenPrice | None]:
    """The price, and the old price that stands beside it."""
    seen = seen_prices(regions, locale)
    price = next((one for one in seen if not one.old), None)
    old = next((one for one in seen if one.old), None)
    if old is None or price is None:
        return price or old, None
    is_beside = abs(old.element.index - price.element.index) <= 60
    is_lower = Decimal(price.amount.amount) < Decimal(old.amount.amount)
    if is_beside and is_lower and old.score < price.score + 0.2:
        return price, old
    # A class name that says "old" may be the only price of the product.
    return (old, None) if old.score > price.score + 0.1 else (price, None)
