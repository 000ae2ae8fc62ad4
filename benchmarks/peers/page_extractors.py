"""What one would use instead to read pages: extruct with all its syntaxes, JSON-LD alone,
and trafilatura. Reads the names of pages from stdin and prints their fields and processor time."""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import extruct
import trafilatura

_SIMPLE = ("name", "sku", "mpn", "brand")
_GTIN = ("gtin13", "gtin", "gtin12", "gtin8", "gtin14", "isbn")


def by_extruct(html: str, url: str) -> dict[str, Any]:
    found = extruct.extract(html, base_url=url, uniform=True, errors="ignore")
    for syntax in ("json-ld", "microdata", "rdfa"):
        fields = _first_thing(found.get(syntax, []))
        if fields:
            return fields
    for tags in found.get("opengraph", []):
        return _without_none({
            "name": tags.get("og:title"), "price": tags.get("product:price:amount"),
            "currency": tags.get("product:price:currency"),
            "availability": _last(tags.get("product:availability")),
        })  # fmt: skip
    return {}


def by_json_ld(html: str, url: str) -> dict[str, Any]:
    found = extruct.extract(html, base_url=url, syntaxes=["json-ld"], errors="ignore")
    return _first_thing(found.get("json-ld", []))


def by_trafilatura(html: str, url: str) -> dict[str, Any]:
    found = trafilatura.bare_extraction(html, url=url, with_metadata=True)
    title = getattr(found, "title", None)
    return _without_none({"name": title, "title": title})


def _first_thing(things: Any) -> dict[str, Any]:
    """The first product or job posting."""
    for thing in _nodes(things):
        kinds = thing.get("@type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if "Product" in kinds:
            return _fields(thing)
        if "JobPosting" in kinds:
            return _job_fields(thing)
    return {}


def _job_fields(thing: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "title": _text(thing.get("title")) or _text(thing.get("name")),
        "company": _text(thing.get("hiringOrganization")),
        "employmentType": _employment(_text(thing.get("employmentType"))),
        "locations": _places(thing.get("jobLocation")),
        "salary": _salary(thing.get("baseSalary")),
        "remote": thing.get("jobLocationType") == "TELECOMMUTE" or None,
        "requirements": _text(thing.get("qualifications")),
        "responsibilities": _text(thing.get("responsibilities")),
    }
    for name in ("datePosted", "validThrough"):
        fields[name] = (_text(thing.get(name)) or "")[:10]
    return _without_none(fields)


def _employment(text: str | None) -> str | None:
    """`Full-time` is `FULL_TIME`."""
    return text and "_".join(text.upper().replace("-", " ").split())


def _places(places: Any) -> list[str]:
    """The parts of each address, as a reader would write them."""
    found = []
    for place in places if isinstance(places, list) else [places]:
        address = place.get("address") if isinstance(place, dict) else None
        if isinstance(address, dict):
            names = ("addressLocality", "addressRegion", "addressCountry")
            parts = [text for name in names if (text := _text(address.get(name)))]
            found.append(", ".join(parts))
    return [one for one in found if one]


def _salary(base: Any) -> dict[str, Any] | None:
    value = base.get("value") if isinstance(base, dict) else None
    if not isinstance(base, dict) or value is None:
        return None
    amounts = value if isinstance(value, dict) else {"value": value}
    least = _text(amounts.get("minValue")) or _text(amounts.get("value"))
    return _without_none({
        "currency": _text(base.get("currency")), "min": least,
        "max": _text(amounts.get("maxValue")) or least, "unit": _text(amounts.get("unitText")),
    })  # fmt: skip


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _nodes(member)
    elif isinstance(value, list):
        for member in value:
            yield from _nodes(member)


def _fields(thing: dict[str, Any]) -> dict[str, Any]:
    fields = {name: _text(thing.get(name)) for name in _SIMPLE}
    fields["gtin"] = next((text for one in _GTIN if (text := _text(thing.get(one)))), None)
    offers = thing.get("offers")
    offer = offers[0] if isinstance(offers, list) and offers else offers
    if isinstance(offer, dict):
        fields["price"] = _text(offer.get("price") or offer.get("lowPrice"))
        fields["currency"] = _text(offer.get("priceCurrency"))
        fields["availability"] = _last(_text(offer.get("availability")))
    return _without_none(fields)


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("name")
    return None if value is None else str(value).strip()


def _last(value: Any) -> str | None:
    return None if not value else str(value).rstrip("/").rsplit("/", 1)[-1]


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}


def _read(pages: list[Any], read: Callable[[str, str], dict[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    began = time.process_time()
    for name, url, html in pages:
        try:
            fields[name] = read(html, url)
        except Exception as error:
            fields[name] = {"error": repr(error)[:100]}
    return {"seconds": time.process_time() - began, "fields": fields}


def _stored(path: Path) -> str:
    content = path.read_bytes()
    html = gzip.decompress(content) if path.suffix == ".gz" else content
    return html.decode("utf-8", "replace")


def main() -> None:
    pages = []
    for one in json.load(sys.stdin):
        pages.append((one["name"], one["url"], one.get("html") or _stored(Path(one["path"]))))
    readers = {"extruct": by_extruct, "JSON-LD": by_json_ld, "trafilatura": by_trafilatura}
    print(json.dumps({name: _read(pages, read) for name, read in readers.items()}))


if __name__ == "__main__":
    main()
