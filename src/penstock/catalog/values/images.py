"""URLs of products and images."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from penstock.catalog.values.numbers import is_empty_cell
from penstock.catalog.values.result import (
    EMPTY,
    NormalisedValue,
    Problem,
    build,
    problem,
    unreadable,
)

MAX_LENGTH = 2_000
MAX_IMAGES = 50

_PLAIN = re.compile(
    r"https?://[a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?(?::[0-9]{1,5})?(?:[/?#][!-~]{0,1900})?"
)
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{1,20}):")
_HOST = re.compile(
    r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,10}[^\W\d_]{2,24}"
    r"|[0-9.]{7,15}|\[[0-9a-fA-F:.]{2,45}\]|localhost"
)
_BARE_DOMAIN = re.compile(r"(?:www\.)[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}(?:[/?#].{0,1900})?")
# Lists: a separator followed by the start of a URL; commas inside a URL do not separate.
_LIST = re.compile(
    r"[\s,;|]{1,8}(?=https?://|//|www\.)|::(?=https?://)|[,;]\s{1,5}|\s{0,3}\|\s{0,3}",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://[^\s\"'<>]{1,1900}")
_NAMES = re.compile(r"[,;|\n]+")
_FILE = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|bmp|tiff?|svg|heic)(?:$|[?#])", re.IGNORECASE)


def read_url(text: str) -> NormalisedValue:
    """An http or https URL, with invalid characters escaped."""
    if _PLAIN.fullmatch(text):
        return build(NormalisedValue, (text, "url", 1.0, ()))
    if is_empty_cell(text):
        return EMPTY
    address = "".join(c for c in text.strip() if c.isprintable()).strip("<>\"' ")
    if len(address) > MAX_LENGTH:
        return unreadable("URL_UNREADABLE", text)
    rule, confidence = "url", 1.0
    if address.startswith("//"):
        address, rule, confidence = "https:" + address, "url_scheme_added", 0.9
    elif _BARE_DOMAIN.fullmatch(address):
        address, rule, confidence = "https://" + address, "url_scheme_added", 0.9
    scheme = _SCHEME.match(address)
    if scheme is None:
        return unreadable("URL_UNREADABLE", text)
    if scheme.group(1).lower() not in ("http", "https"):
        return unreadable("URL_UNSAFE", scheme.group(1).lower())
    return _checked(address, text, rule, confidence)


def _checked(address: str, text: str, rule: str, confidence: float) -> NormalisedValue:
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return unreadable("URL_UNREADABLE", text)
    if not _HOST.fullmatch(host) or "\\" in parts.netloc:
        return unreadable("URL_UNREADABLE", text)
    if parts.username is not None or parts.password is not None:
        return unreadable("URL_UNREADABLE", text)
    escaped = quote(address[len(parts.scheme) :], safe="%/:?#[]@!$&'()*+,;=~-._")
    return NormalisedValue(parts.scheme.lower() + escaped, rule, confidence)


def looks_like_image(text: str) -> bool:
    return _FILE.search(text[-200:]) is not None


def read_images(text: str) -> NormalisedValue:
    """The URLs in one cell, in order, without duplicates."""
    if (
        _PLAIN.fullmatch(text)
        and "," not in text
        and "|" not in text
        and ";" not in text
        and "::" not in text
    ):
        return build(NormalisedValue, ([text], "images", 1.0, ()))
    if is_empty_cell(text):
        return EMPTY
    urls: list[str] = []
    problems: list[Problem] = []
    for part in _parts(text[: MAX_LENGTH * MAX_IMAGES].strip()):
        found = read_url(part)
        if found.value is None and not _SCHEME.match(part) and found.problems:
            problems.append(problem("IMAGE_NOT_URL", value=part))
        else:
            problems += found.problems
        if found.value is not None and found.value not in urls:
            urls.append(found.value)
    if len(urls) > MAX_IMAGES:
        problems.append(problem("IMAGES_TOO_MANY", limit=MAX_IMAGES))
    confidence = 1.0 if not problems else 0.8
    return NormalisedValue(urls[:MAX_IMAGES] or None, "images", confidence, tuple(problems[:5]))


def _parts(text: str) -> list[str]:
    if "<" in text or text.startswith(("[", "{")):
        # Markup or JSON: URLs end at quotes.
        return _ADDRESS.findall(text)[: MAX_IMAGES * 2]
    text = " ".join(text.split(" ")) if "\n" in text else " ".join(text.split())
    parts = [part.strip(" ,;|") for part in _LIST.split(text)]
    if len(parts) == 1 and "://" not in text:
        parts = [part.strip() for part in _NAMES.split(text)]
    return [part for part in parts if part][: MAX_IMAGES * 2]
