"""A product from all that its page says: markup, `meta`, embedded data and what a visitor sees."""

from __future__ import annotations

import re
from collections.abc import Callable

from penstock.catalog.pages.candidates import Candidate, Candidates, Chosen
from penstock.catalog.pages.embedded_data import add_embedded
from penstock.catalog.pages.html_tree import Page
from penstock.catalog.pages.labelled import add_labelled
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.meta_tags import MetaTags, add_meta
from penstock.catalog.pages.regions import Regions
from penstock.catalog.pages.schema_product import add_product, choose_product, products_in
from penstock.catalog.pages.things import Thing
from penstock.catalog.pages.visible import add_visible, breadcrumb_of_page, breadcrumb_of_things
from penstock.catalog.pages.visible_price import SeenPrice, best_prices, is_visible, visible_digits

PRODUCT_FIELDS = (
    "name", "brand", "price", "currency", "listPrice", "availability", "sku", "gtin", "mpn",
    "images", "description", "breadcrumb", "variants", "rating", "attributes",
)  # fmt: skip

_NOT_LETTERS = re.compile(r"[\W_]+")


def read_product(
    page: Page, things: list[Thing], meta: MetaTags, locale: Locale, url: str, *, asked: bool
) -> Chosen | None:
    """The product of the page; None if the page describes none. ``asked`` says that the caller
    knows it to be a product page."""
    titles = _titles(page, meta)
    regions = Regions(page, titles)
    heading = regions.heading
    if heading is not None:
        titles = (page.text(heading), *titles)
    described = choose_product(products_in(things), list(titles), url)
    found = Candidates()
    for place, thing in enumerate(described):
        add_product(found, thing, locale, url) if place == 0 else _add_second(
            found, thing, locale, url
        )
    add_meta(found, meta, locale, url)
    in_scripts = add_embedded(found, page, list(titles), locale, url)
    add_visible(found, regions, url)
    add_labelled(found, regions)
    price, before = best_prices(regions, locale)
    _add_seen(found, price, before, locale)
    _doubt_hidden_prices(found, page, price)
    _add_breadcrumb(found, things, regions)
    is_product = bool(described) or meta.says_product or in_scripts
    if not (asked or is_product or _looks_like_product(regions, price)):
        return None
    read = _choose(found, locale, titles)
    if "availability" in read and read["availability"].source == "default" and regions.is_blocked:
        del read["availability"]
    _spell_sku(read, page)
    return read


def _titles(page: Page, meta: MetaTags) -> tuple[str, ...]:
    title = page.first("title")
    written = [meta.first("og:title"), None if title is None else page.text(title)]
    return tuple(one for one in written if one)


def _add_second(found: Candidates, thing: Thing, locale: Locale, url: str) -> None:
    """The same product described a second time: what the first description lacks."""
    more = Candidates()
    add_product(more, thing, locale, url)
    for field in more.fields():
        if not any(one.source == thing.source for one in found.all(field)):
            for one in more.all(field):
                found.add(field, one.value, one.source, one.confidence)


def _add_seen(
    found: Candidates, price: SeenPrice | None, before: SeenPrice | None, locale: Locale
) -> None:
    if price is None:
        return
    sure = min(0.85, max(0.3, price.score))
    found.add("price", price.amount.amount, "page", sure)
    found.add("currency", price.amount.currency or locale.currency, "page", sure * 0.8)
    if before is not None:
        found.add("listPrice", before.amount.amount, "page", 0.7)
    elif price.amount.upper is not None:
        found.add("listPrice", None, "page", 0.0)


def _doubt_hidden_prices(found: Candidates, page: Page, price: SeenPrice | None) -> None:
    """A price in markup that no visitor sees is often net of tax or of another variant; while
    another price stands in its place, it counts half."""
    if price is None or price.score < 0.6:
        return
    digits = visible_digits(page)
    candidates = found.all("price")
    for place, one in enumerate(candidates):
        if one.source != "page" and not is_visible(one.value, digits):
            candidates[place] = one._replace(confidence=one.confidence * 0.5)


def _add_breadcrumb(found: Candidates, things: list[Thing], regions: Regions) -> None:
    crumbs = breadcrumb_of_things(things)
    if crumbs:
        found.add("breadcrumb", crumbs, "json-ld", 0.9)
    else:
        found.add("breadcrumb", breadcrumb_of_page(regions), "page", 0.7)


def _looks_like_product(regions: Regions, price: SeenPrice | None) -> bool:
    """A heading, a price near it and a button to buy."""
    return (
        regions.heading is not None
        and not regions.is_list
        and price is not None
        and price.score >= (0.5 if regions.buttons else 0.75)
    )


def _choose(found: Candidates, locale: Locale, titles: tuple[str, ...]) -> Chosen:
    read: Chosen = {}
    for field in PRODUCT_FIELDS:
        best = found.best(field, _SAME.get(field))
        if field == "name":
            best = _name(found, titles)
        elif field == "images":
            best = _longest(found, field)
        if best is not None and best.value not in (None, "", [], {}):
            read[field] = best
    _agree(read, locale)
    _spell_brand(read)
    return read


_SAME: dict[str, Callable[[str], str]] = {
    "price": str, "currency": str, "availability": str, "gtin": lambda gtin: gtin.lstrip("0"),
    "sku": str.lower, "mpn": str.lower, "brand": str.lower,
}  # fmt: skip


def _name(found: Candidates, titles: tuple[str, ...]) -> Candidate | None:
    return found.best("name", lambda name: " ".join(name.lower().split()))


def _longest(found: Candidates, field: str) -> Candidate | None:
    """Pictures of the best source; a gallery with more of them wins over one `og:image`."""
    return max(
        found.all(field),
        key=lambda one: one.confidence + min(len(one.value), 10) * 0.03,
        default=None,
    )


def _agree(read: Chosen, locale: Locale) -> None:
    """Fields that must fit each other: a list price above the price, a currency for a price."""
    price, before = read.get("price"), read.get("listPrice")
    if before is not None and (price is None or float(before.value) <= float(price.value)):
        del read["listPrice"]
    if price is not None and "currency" not in read and locale.currency is not None:
        read["currency"] = Candidate(locale.currency, "language", 0.3)
    if price is not None and "availability" not in read:
        # Pages say when a product is not available, and mostly do not say that it is.
        read["availability"] = Candidate("InStock", "default", 0.3)
    sku, mpn, gtin = (read.get(name) for name in ("sku", "mpn", "gtin"))
    if sku is not None and gtin is not None and sku.source == "address" and sku.value == gtin.value:
        del read["sku"]
    elif sku is None and mpn is not None:
        read["sku"] = mpn._replace(confidence=mpn.confidence * 0.4)


def _spell_brand(read: Chosen) -> None:
    """The brand as the name of the product spells it: `TP Link` in a script is `TP-Link`."""
    brand, name = read.get("brand"), read.get("name")
    if brand is None or name is None:
        return
    letters = _NOT_LETTERS.split(brand.value)
    pattern = r"[\W_]{0,3}".join(re.escape(part) for part in letters if part)
    found = re.search(rf"(?<!\w){pattern}(?!\w)", name.value, re.IGNORECASE) if pattern else None
    if found is not None and found[0].lower() != brand.value.lower():
        read["brand"] = brand._replace(value=found[0])


def _spell_sku(read: Chosen, page: Page) -> None:
    """The SKU as visitors see it: markup has `4667999` where the page shows `466/7999`."""
    sku = read.get("sku")
    if sku is None or not 6 <= len(sku.value) <= 20 or not sku.value.isalnum():
        return
    pattern = re.compile(r"[ ./-]?".join(map(re.escape, sku.value)), re.IGNORECASE)
    shown = [text.strip() for _, text in page.texts if len(text) <= 60]
    spellings = {text for text in shown if pattern.fullmatch(text)}
    if len(spellings) == 1 and sku.value not in spellings:
        read["sku"] = sku._replace(value=spellings.pop())
