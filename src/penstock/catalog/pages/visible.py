"""What a visitor sees of a product besides its price: name, stock, breadcrumb, pictures, text."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from penstock.catalog.pages.candidates import Candidates
from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.regions import Regions
from penstock.catalog.pages.things import Thing
from penstock.catalog.pages.values import (
    absolute,
    read_identifier_text,
    read_line_text,
    read_status,
)
from penstock.catalog.pages.words import (
    DESCRIPTION_NAMES,
    OUT_OF_STOCK,
    STOCK_NAMES,
    label_key,
    labels,
    name_words,
)
from penstock.catalog.values.availability_words import WORDS as AVAILABILITY
from penstock.catalog.word_lists import words

_SOURCE = "page"
MAX_IMAGES = 30
_MAX_STOCK_TEXT = 100
# A line that tells the stock, and how many elements below the heading it is looked for.
_MAX_STOCK_LINE = 40
_NEAR = 150
_NOT_STOCK = words("a button option label h1 h2 h3 title script style")
_BRAND_NAMES = words(
    "brand brand-name product-brand productbrand manufacturer product-manufacturer hersteller"
    " marke marca marque producent vyrobce merk"
)
_NOT_BRAND_NAMES = words(
    "logo list menu filter navbar-brand brand-logo header site label title description icon"
)
_MAX_BRAND = 40
_ID_ATTRIBUTES = (
    "data-product-sku", "data-sku", "data-item-sku", "data-product-code", "data-pid", "pid",
    "data-product-id", "data-productid", "data-item-id", "data-article-number", "data-product",
)  # fmt: skip
_ID_INPUTS = words(
    "product_id productid product id_product product-id item_id sku pid productcode product_code"
    " article articleid add-to-cart variantid"
)
_URL_ID = re.compile(
    r"(?:^|[-_/.])([a-z]{0,4}[0-9]{4,14}[a-z]{0,2})(?:\.html?|\.php|\.aspx)?/?$", re.I
)
_PICTURE_NAMES = words(
    "gallery product-image product-images productimage main-image zoom product-media media"
    " carousel slider slick swiper product-gallery fotorama primary-image woocommerce-product-"
    " gallery"
)
_NOT_PICTURES = re.compile(
    r"logo|icon|sprite|payment|flag|placeholder|loading|spinner|pixel|\.svg|\.gif", re.I
)


def add_visible(found: Candidates, regions: Regions, url: str) -> None:
    page = regions.page
    heading = regions.heading
    if heading is not None:
        found.add(
            "name",
            read_line_text(page.spaced_text(heading)),
            _SOURCE,
            0.85 if heading.tag == "h1" else 0.6,
        )
    found.add("brand", _brand(regions), _SOURCE, 0.5)
    _add_stock(found, regions)
    _add_page_ids(found, regions, url)
    found.add("images", _images(regions, url), _SOURCE, 0.55)
    found.add("description", _description(regions), _SOURCE, 0.6)


def _brand(regions: Regions) -> str | None:
    """A short text that its author calls the brand, near the heading."""
    page, heading = regions.page, regions.heading
    if heading is None:
        return None
    for element in page.elements[max(0, heading.index - 15) : heading.index + 40]:
        if not element.attributes or not 0 < element.text_end - element.text_from <= 2:
            continue
        called = name_words(element.called)
        if called.isdisjoint(_BRAND_NAMES) or not called.isdisjoint(_NOT_BRAND_NAMES):
            continue
        text = page.text(element)
        if not 2 <= len(text) <= _MAX_BRAND or label_key(text) in labels() or ":" in text:
            continue
        if not heading.contains(element) and not regions.is_elsewhere(element):
            return read_line_text(text)
    return None


# Stock


def _add_stock(found: Candidates, regions: Regions) -> None:
    page = regions.page
    for element in page.elements[max(regions.start - 60, 0) :]:
        if element.text_end == element.text_from or element.text_end - element.text_from > 6:
            continue
        if not element.attributes or name_words(element.names).isdisjoint(STOCK_NAMES):
            continue
        if regions.is_elsewhere(element) or _is_hidden(element):
            continue
        text = page.text(element)
        status = _stock_in(text) if 2 < len(text) <= _MAX_STOCK_TEXT else None
        if status is not None:
            sure = 0.8 if status == "OutOfStock" else 0.68
            sure = sure if regions.distance(element) < 400 else 0.4
            if any(one.tag == "tr" for one in element.ancestors()):
                # One of several sellers or stores.
                sure *= 0.5
            found.add("availability", status, "stock text", sure)
            break
    else:
        _add_stock_line(found, regions)
    if regions.buttons:
        usable = [button for button, can_buy in regions.buttons if can_buy]
        if usable:
            found.add("availability", "InStock", "buy button", 0.5)
        else:
            found.add("availability", "OutOfStock", "buy button", 0.55)


def _add_stock_line(found: Candidates, regions: Regions) -> None:
    """`Auf Lager` as the whole text of an element near the heading, whatever it is called."""
    page = regions.page
    for element in page.elements[regions.start : regions.start + _NEAR]:
        text = page.text(element) if element.text_end - element.text_from == 1 else ""
        if not 4 <= len(text) <= _MAX_STOCK_LINE or element.tag in _NOT_STOCK:
            continue
        if regions.is_elsewhere(element) or _is_hidden(element) or not _says_stock(text):
            continue
        if any(one.tag in ("tr", "li") for one in element.ancestors()):
            continue  # One of several sellers, or an option.
        status = _stock_in(text)
        if status is not None:
            found.add("availability", status, "stock text", 0.56)
            return


def _says_stock(text: str) -> bool:
    low = label_key(text)
    return low in AVAILABILITY or any(low == phrase for phrase in OUT_OF_STOCK)


def _stock_in(text: str) -> str | None:
    low = text.lower()
    if any(phrase in low for phrase in OUT_OF_STOCK):
        return "OutOfStock"
    return read_status(text)


def _is_hidden(element: Element) -> bool:
    for one in (element, *list(element.ancestors())[:4]):
        style = one.get("style").replace(" ", "").lower()
        if "display:none" in style or "hidden" in one.attributes:
            return True
    return False


# Identifiers without a label


def _add_page_ids(found: Candidates, regions: Regions, url: str) -> None:
    """Ids of the buy form and of the address."""
    in_url = _url_id(url)
    for element in regions.page.elements:
        value = ""
        for name in _ID_ATTRIBUTES:
            if name in element.attributes:
                value = element.get(name)
                break
        if not value and element.tag == "input" and element.get("name").lower() in _ID_INPUTS:
            value = element.get("value")
        if not value or regions.is_elsewhere(element) or len(value) < 3:
            continue
        kept = read_identifier_text(value)
        if kept is None or kept.startswith(("{", "[")):
            continue
        sure = 0.6 if in_url is not None and kept.lower() in unquote(url).lower() else 0.42
        found.add("sku", kept, "form", sure - min(0.1, regions.distance(element) / 5_000))
        break
    if in_url is not None:
        shown = _shown_segment(regions.page, url)
        found.add("sku", shown or in_url, "address", 0.5 if shown else 0.4)


def _url_id(url: str) -> str | None:
    try:
        path = urlsplit(url).path
    except ValueError:
        return None
    match = _URL_ID.search(unquote(path).rstrip("/"))
    return None if match is None else match[1]


def _shown_segment(page: Page, url: str) -> str | None:
    """The last part of the address, if the page shows it as it is: `/item/HX-4412`."""
    last = unquote(urlsplit(url).path).rstrip("/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
    kept = read_identifier_text(last) if len(last) <= 30 and any(map(str.isdecimal, last)) else None
    return kept if kept and any(text.strip() == kept for _, text in page.texts) else None


# Breadcrumb


def breadcrumb_of_things(things: list[Thing]) -> list[str]:
    for thing in things:
        for one in thing.within():
            if "BreadcrumbList" in one.types:
                names = [_crumb(item) for item in one.things("itemListElement")]
                kept = [name for name in names if name]
                if kept:
                    return kept
    return []


def _crumb(item: Thing) -> str | None:
    name = item.text("name")
    if not name or name.startswith("http"):
        inner = item.things("item")
        name = inner[0].text("name") if inner else name
    return None if not name or name.startswith("http") else read_line_text(name)


def breadcrumb_of_page(regions: Regions) -> list[str]:
    page = regions.page
    for element in page.elements:
        names = name_words(element.names) | name_words(element.get("aria-label"))
        if any(
            word.startswith(("breadcrumb", "bread-crumb")) or word == "crumbs" for word in names
        ):
            links = [one for one in page.inside(element) if one.tag in ("a", "li", "span")]
            kept = _leaves(page, links)
            if len(kept) > 1:
                return kept
    return []


def _leaves(page: Page, elements: list[Element]) -> list[str]:
    """The texts of the innermost elements, each once."""
    kept: list[str] = []
    last = -1
    for element in elements:
        if element.text_from < last:
            continue
        inner = [one for one in page.inside(element) if one.tag in ("a", "span")]
        if inner and element.tag == "li":
            continue
        text = page.text(element).strip(" >/›»|\\")
        last = element.text_end
        if text and len(text) <= 100 and text not in kept[-1:]:
            kept.append(text)
    return kept[:20]


# Pictures and text


def _images(regions: Regions, url: str) -> list[str]:
    page = regions.page
    kept: dict[str, None] = {}
    for element in page.elements:
        if element.tag != "img" or regions.is_elsewhere(element):
            continue
        near = any(
            not name_words(one.names).isdisjoint(_PICTURE_NAMES)
            for one in (element, *list(element.ancestors())[:5])
        )
        if not near or abs(element.index - regions.start) > 600:
            continue
        address = (
            element.get("data-zoom-image") or element.get("data-large_image")
            or element.get("data-src") or element.get("src")
        )  # fmt: skip
        joined = absolute(url, address)
        if joined and not _NOT_PICTURES.search(joined):
            kept[joined] = None
    return list(kept)[:MAX_IMAGES]


def _description(regions: Regions) -> str | None:
    page = regions.page
    best = ""
    for element in page.elements[regions.start :]:
        if element.tag not in ("div", "section", "article", "p", "td") or not element.attributes:
            continue
        if (
            name_words(element.names).isdisjoint(DESCRIPTION_NAMES)
            and element.get("itemprop") != "description"
        ):
            continue
        if regions.is_elsewhere(element) or element.end - element.index > 400:
            continue
        text = "\n".join(page.lines(element))
        if len(best) < len(text) <= 20_000:
            best = text
            if len(best) > 300:
                break
    return best if len(best) >= 40 else None
