"""What the address and the language of a page say about its numbers and its currency."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from penstock.catalog.pages.html_tree import Page
from penstock.catalog.values.numbers import DecimalStyle
from penstock.catalog.word_lists import by_word, load, words

_LISTS = load("page_locales")
_BY_DOMAIN = by_word(_LISTS["currency of a domain"])
_BY_LANGUAGE = by_word(_LISTS["currency of a language"])
_COMMA_LANGUAGES = words(_LISTS["languages with a decimal comma"])
_POINT_DOMAINS = words(_LISTS["domains with a decimal point"])


class Locale(NamedTuple):
    language: str | None
    # The currency that a shared sign such as `$` or `kr` means, and prices without any sign.
    currency: str | None
    decimal: DecimalStyle | None


def locale_of(page: Page, url: str) -> Locale:
    language, region = _language(page)
    country = region or _country(url)
    currency = _BY_DOMAIN.get(country or "") or _BY_LANGUAGE.get(language or "")
    decimal: DecimalStyle | None = None
    if country in _POINT_DOMAINS or language == "en":
        decimal = "point"
    elif language in _COMMA_LANGUAGES or country in _BY_DOMAIN:
        decimal = "comma"
    return Locale(language, currency, decimal)


def _language(page: Page) -> tuple[str | None, str | None]:
    """`de-AT` is German of Austria."""
    written = ""
    for element in page.elements[:200]:
        if element.tag == "html":
            written = element.get("lang") or element.get("xml:lang")
        elif element.tag == "meta" and not written:
            kind = element.get("property") or element.get("http-equiv")
            if kind.lower() in ("og:locale", "content-language"):
                written = element.get("content")
    parts = written.replace("_", "-").lower().split("-")
    language = parts[0] if 2 <= len(parts[0]) <= 3 and parts[0].isalpha() else None
    region = parts[-1] if len(parts) > 1 and len(parts[-1]) == 2 and parts[-1].isalpha() else None
    return language, "uk" if region == "gb" else region


def _country(url: str) -> str | None:
    try:
        split = urlsplit(url)
        host = split.hostname or ""
    except ValueError:
        return None
    last = host.rsplit(".", 1)[-1]
    if last in _BY_DOMAIN and last not in ("me", "co", "su"):
        return last
    # `example.com/de-at/…` and `/at/…`
    for part in split.path.lower().strip("/").split("/")[:2]:
        region = part.replace("_", "-").rsplit("-", 1)[-1]
        if len(part) == 5 and len(region) == 2:
            region = "uk" if region == "gb" else region
            if region in _BY_DOMAIN:
                return region
    return None
