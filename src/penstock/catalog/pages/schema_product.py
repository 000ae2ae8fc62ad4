"""Products in schema.org's vocabulary: which thing is the product of the page, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from penstock.catalog.pages.candidates import Candidates
from penstock.catalog.pages.locale import Locale
from penstock.catalog.pages.things import Thing, text_of
from penstock.catalog.pages.values import (
    Amount,
    absolute,
    read_amount,
    read_currency_code,
    read_gtin_text,
    read_identifier_text,
    read_line_text,
    read_long_text,
    read_status,
)
from penstock.catalog.word_lists import words

MAX_VARIANTS = 500
MAX_IMAGES = 60
MAX_ATTRIBUTES = 200

PRODUCT_TYPES = words(
    "Product ProductGroup IndividualProduct ProductModel SomeProducts Book Car Vehicle Game Movie"
    " MusicAlbum SoftwareApplication VideoGame MobileApplication WebApplication"
)
_SURE_TYPES = frozenset(
    ["Product", "ProductGroup", "IndividualProduct", "ProductModel", "SomeProducts"]
)
_GTIN_NAMES = (
    "gtin13",
    "gtin",
    "gtin14",
    "gtin12",
    "gtin8",
    "ean",
    "isbn",
    "upc",
    "globalTradeItemNumber",
)
_ELSEWHERE = words(
    "isRelatedTo isSimilarTo isAccessoryOrSparePartFor isConsumableFor itemListElement hasVariant"
    " review offeredBy itemReviewed about mentions isVariantOf"
)
_ATTRIBUTE_NAMES = (
    "color", "size", "material", "pattern", "weight", "width", "height", "depth", "model",
    "itemCondition", "audience", "countryOfOrigin", "award",
)  # fmt: skip
_WORDS = re.compile(r"[^\W_]+")
CONFIDENCE = {"json-ld": 0.92, "microdata": 0.88, "rdfa": 0.85}


def products_in(things: list[Thing]) -> list[Thing]:
    """Products of the page in order, without related ones and variants."""
    return [found for thing in things for found in _products(thing, 0)]


def _products(thing: Thing, depth: int) -> Iterator[Thing]:
    if any(kind in PRODUCT_TYPES for kind in thing.types) and _is_sold(thing):
        yield thing
    if depth >= 6:
        return
    for name, values in thing.values.items():
        if name not in _ELSEWHERE:
            for value in values:
                if isinstance(value, Thing):
                    yield from _products(value, depth + 1)


def _is_sold(thing: Thing) -> bool:
    """A film or an application is a product only if it has an offer."""
    return any(kind in _SURE_TYPES for kind in thing.types) or bool(thing.all("offers"))


def choose_product(products: list[Thing], titles: list[str], url: str) -> list[Thing]:
    """The things that describe the product of this page: the one that fits its headings and
    address best, and others with the same name or SKU."""
    scored = [(_score(one, titles, url) - place * 0.02, one) for place, one in enumerate(products)]
    if not scored:
        return []
    score, best = max(scored, key=lambda pair: pair[0])
    if len(products) > 2 and score < 1.0:
        return []
    name, sku = best.text("name"), best.text("sku")
    return [best] + [
        one
        for one in products
        if one is not best
        and ((name and one.text("name") == name) or (sku and one.text("sku") == sku))
    ]


def _score(thing: Thing, titles: list[str], url: str) -> float:
    score = 1.0 if thing.all("offers") or thing.all("hasVariant") else 0.0
    score += 0.3 * bool(thing.text("sku") or thing.text(*_GTIN_NAMES)) + 0.2 * bool(
        thing.all("image")
    )
    name = thing.text("name")
    if name:
        score += 2.0 * max((likeness(name, title) for title in titles), default=0.0)
    address = _path(thing.text("url") or thing.id)
    if address and address == _path(url):
        score += 1.0
    elif address and len(address) > 1 and thing.text("url"):
        score -= 0.5
    return score


def _path(url: str) -> str:
    return url.split("#")[0].split("?")[0].rstrip("/").rsplit("//", 1)[-1].removeprefix("www.")


def _address(url: str) -> str:
    return url.split("#")[0].rstrip("/").rsplit("//", 1)[-1].removeprefix("www.")


def likeness(one: str, other: str) -> float:
    """The share of common words: 1.0 for the same words, in any order."""
    first, second = set(_WORDS.findall(one.lower())), set(_WORDS.findall(other.lower()))
    if not first or not second:
        return 0.0
    common = len(first & second)
    return max(common / len(first | second), 0.9 * common / len(first))


def add_product(found: Candidates, thing: Thing, locale: Locale, url: str) -> None:
    """What the thing says of the product, as candidates."""
    sure = CONFIDENCE[thing.source]

    def add(field: str, value: Any, factor: float = 1.0) -> None:
        found.add(field, value, thing.source, sure * factor)

    for name in thing.all("name")[:1]:
        text = text_of(name) or ""
        if not text.startswith(("http:", "https:")):
            add("name", read_line_text(text))
    add("description", _first(thing, read_long_text, "description"), 0.9)
    add("brand", _brand(thing, "brand"))
    add("brand", _brand(thing, "manufacturer"), 0.7)
    _add_identifiers(found, thing, 1.0)
    images = [
        address for value in thing.all("image", "photo") for address in _addresses(value, url)
    ]
    add("images", list(dict.fromkeys(images))[:MAX_IMAGES])
    add("rating", _rating(thing), 0.95)
    add("attributes", _attributes(thing))
    category = thing.text("category")
    if category and ">" in category:
        add("breadcrumb", [part.strip() for part in category.split(">") if part.strip()], 0.5)
    offers = list(offers_of(thing))
    _add_offers(found, offers, thing, locale, url)
    own = _own_variant(thing, url)
    if own is not None:
        _add_identifiers(found, own, 0.95)
        _add_offers(found, list(offers_of(own)), own, locale, url)
    variants = _variants(thing, offers, locale)
    if len(variants) > 1:
        add("variants", variants)


def _first(thing: Thing, read: Any, *names: str) -> Any:
    for value in thing.all(*names):
        text = text_of(value)
        if text and (kept := read(text)):
            return kept
    return None


def _brand(thing: Thing, name: str) -> str | None:
    text = _first(thing, read_line_text, name)
    return text if text and not text.startswith("http") and len(text) <= 100 else None


def _add_identifiers(found: Candidates, thing: Thing, factor: float) -> None:
    sure = CONFIDENCE[thing.source] * factor
    found.add("sku", _first(thing, read_identifier_text, "sku"), thing.source, sure)
    found.add("gtin", _first(thing, read_gtin_text, *_GTIN_NAMES), thing.source, sure)
    found.add("mpn", _first(thing, read_identifier_text, "mpn"), thing.source, sure)
    for value in thing.all("productID", "productId", "identifier"):
        kind, text = _identifier(value)
        if gtin := read_gtin_text(text):
            found.add("gtin", gtin, thing.source, sure * 0.9)
        elif kind == "mpn":
            found.add("mpn", read_identifier_text(text), thing.source, sure * 0.9)
        elif kind in ("sku", ""):
            found.add("sku", read_identifier_text(text), thing.source, sure * 0.75)


def _identifier(value: Any) -> tuple[str, str]:
    """`sku:123`, or a PropertyValue that names its kind."""
    if isinstance(value, Thing):
        kind = (value.text("propertyID", "name") or "").lower()
        text = value.text("value") or ""
    else:
        kind, _, text = str(value).rpartition(":")
    kind = kind.lower()
    return ("mpn" if "mpn" in kind else "sku" if "sku" in kind else kind), text


def _addresses(value: Any, url: str) -> list[str]:
    texts = [value] if isinstance(value, str) else value.all("contentUrl", "url", "@id", "src")
    return [address for text in texts if isinstance(text, str) and (address := absolute(url, text))]


def _rating(thing: Thing) -> dict[str, str] | None:
    for rating in thing.things("aggregateRating"):
        value = rating.text("ratingValue")
        count = rating.text("reviewCount", "ratingCount")
        if value:
            kept = {
                "value": value.replace(",", "."),
                "count": count,
                "best": rating.text("bestRating"),
            }
            return {name: text for name, text in kept.items() if text}
    return None


def _attributes(thing: Thing) -> dict[str, str]:
    kept: dict[str, str] = {}
    for name in _ATTRIBUTE_NAMES:
        value = thing.all(name)
        text = _measure(value[0]) if value else None
        if text and not text.startswith("http"):
            kept[name] = text
    for extra in thing.things("additionalProperty")[:MAX_ATTRIBUTES]:
        label, text = extra.text("name"), _measure(extra)
        if label and text:
            kept[label] = text
    return kept


def _measure(value: Any) -> str | None:
    if not isinstance(value, Thing):
        return read_line_text(str(value))
    text = value.text("value", "name")
    unit = value.text("unitText", "unitCode")
    return None if text is None else read_line_text(f"{text} {unit}" if unit else text)


# Offers


def offers_of(thing: Thing, depth: int = 0) -> Iterator[Thing]:
    """All offers, those inside of aggregates too; an aggregate comes before its parts."""
    for offer in thing.things("offers"):
        yield offer
        if depth < 3:
            yield from offers_of(offer, depth + 1)


def _add_offers(
    found: Candidates, offers: list[Thing], thing: Thing, locale: Locale, url: str
) -> None:
    sure = CONFIDENCE[thing.source]
    chosen = _chosen_offer(offers, url)
    if chosen is None:
        # Some pages write the offer's properties on the product itself.
        chosen, sure = thing, sure * 0.85
    price = offer_price(chosen, locale)
    if price is not None:
        found.add("price", price.amount, thing.source, sure)
        found.add("currency", price.currency, thing.source, sure)
    else:
        found.add("currency", _currency(chosen, locale), thing.source, sure * 0.8)
    found.add("listPrice", _list_price(chosen, locale, price), thing.source, sure * 0.9)
    statuses = [status for offer in offers or [thing] if (status := _status(offer))]
    if statuses:
        own = _status(chosen)
        status = own or ("InStock" if "InStock" in statuses else statuses[0])
        found.add("availability", status, thing.source, sure * 0.95)
    if (
        len({offer.text("sku") for offer in offers if offer.text("sku")}) == 1
        or chosen in offers[:1]
    ):
        _add_identifiers(found, chosen, 0.85)


def _chosen_offer(offers: list[Thing], url: str) -> Thing | None:
    """The offer whose address is the page's, else the first with a price."""
    query = url.partition("?")[2].partition("#")[0]
    if query and len(offers) > 1:
        for offer in offers:
            address = offer.text("url") or ""
            if query and query in address and offer.all("price"):
                return offer
    priced = [
        one for one in offers if one.all("price", "lowPrice", "lowprice", "priceSpecification")
    ]
    return next(iter(priced or offers), None)


def offer_price(offer: Thing, locale: Locale) -> Amount | None:
    currency = _currency(offer, locale)
    for text in _amount_texts(offer, "price", "lowPrice", "lowprice", "highPrice"):
        read = read_amount(text, locale, currency)
        if read is not None:
            return read
    for spec in _price_specifications(offer):
        if not _is_list_price(spec):
            own = _currency(spec, locale) or currency
            for text in _amount_texts(spec, "price", "minPrice"):
                read = read_amount(text, locale, own)
                if read is not None:
                    return read
    return None


def _amount_texts(thing: Thing, *names: str) -> Iterator[str]:
    for value in thing.all(*names):
        text = text_of(value)
        if text:
            yield text


def _price_specifications(offer: Thing) -> list[Thing]:
    return offer.things("priceSpecification")


def _is_list_price(spec: Thing) -> bool:
    kind = (spec.text("priceType") or "").lower()
    return any(word in kind for word in ("list", "msrp", "srp", "regular", "strikethrough"))


def _list_price(offer: Thing, locale: Locale, price: Amount | None) -> str | None:
    for spec in _price_specifications(offer):
        if _is_list_price(spec):
            for text in _amount_texts(spec, "price"):
                read = read_amount(text, locale)
                if read is not None and (price is None or read.amount != price.amount):
                    return read.amount
    return None


def _currency(offer: Thing, locale: Locale) -> str | None:
    for holder in (offer, *_price_specifications(offer)):
        for value in holder.all("priceCurrency", "pricecurrency", "currency"):
            text = text_of(value)
            if text and (code := read_currency_code(text, locale)):
                return code
    return None


def _status(offer: Thing) -> str | None:
    for value in offer.all("availability"):
        text = text_of(value)
        if text and (status := read_status(text)):
            return status
    return None


# Variants


def _variants(thing: Thing, offers: list[Thing], locale: Locale) -> list[dict[str, Any]]:
    parts = thing.things("hasVariant")
    if not parts:
        parts = [offer for offer in offers if offer.text("sku") or offer.text("name")]
    kept = [_variant(part, locale) for part in parts[:MAX_VARIANTS]]
    named = [one for one in kept if "sku" in one or "gtin" in one or "name" in one]
    return list(
        {repr(sorted(one.items(), key=lambda pair: pair[0])): one for one in named}.values()
    )


def _own_variant(thing: Thing, url: str) -> Thing | None:
    """The variant whose address is that of the page, if there is one."""
    variants = thing.things("hasVariant")
    for normal in (_address, _path):
        found = [one for one in variants if normal(one.text("url") or one.id) == normal(url)]
        if len(found) == 1 and len(variants) > 1:
            return found[0]
    return None


def _variant(part: Thing, locale: Locale) -> dict[str, Any]:
    offers = list(offers_of(part)) or [part]
    offer = offers[0]
    price = offer_price(offer, locale)
    attributes = _attributes(part)
    kept: dict[str, Any] = {
        "sku": _first(part, read_identifier_text, "sku")
        or _first(offer, read_identifier_text, "sku"),
        "gtin": _first(part, read_gtin_text, *_GTIN_NAMES),
        "mpn": _first(part, read_identifier_text, "mpn"),
        "name": _first(part, read_line_text, "name"),
        "price": None if price is None else price.amount,
        "currency": None if price is None else price.currency,
        "availability": _status(offer),
        "attributes": attributes,
    }
    return {name: value for name, value in kept.items() if value}
