"""Things that a page describes by the vocabulary of schema.org: JSON-LD, microdata and RDFa, read
into one shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urljoin

from penstock.catalog.pages.html_tree import Element, Page
from penstock.catalog.pages.relaxed_json import parse_all

MAX_THINGS = 2_000
MAX_PROPERTIES = 400
_MAX_DEPTH = 12

_ADDRESS_IN = {
    "a": "href", "area": "href", "link": "href", "img": "src", "audio": "src", "embed": "src",
    "iframe": "src", "source": "src", "video": "src", "object": "data", "track": "src",
}  # fmt: skip
_DATA_VALUE = {"data": "value", "meter": "value", "time": "datetime"}


class Thing(NamedTuple):
    """``values`` by property, each a list of texts and Things."""

    types: tuple[str, ...]
    values: dict[str, list[Any]]
    source: str
    # Where microdata and RDFa begin; None for JSON-LD.
    element: Element | None = None
    id: str = ""

    def all(self, *names: str) -> list[Any]:
        return [value for name in names for value in self.values.get(name, ())]

    def text(self, *names: str) -> str | None:
        """The first value that is a text; of a thing its name or value."""
        for value in self.all(*names):
            text = text_of(value)
            if text:
                return text
        return None

    def things(self, *names: str) -> list[Thing]:
        return [value for value in self.all(*names) if isinstance(value, Thing)]

    def within(self, depth: int = 0) -> Iterator[Thing]:
        """This thing and all in it."""
        yield self
        if depth < _MAX_DEPTH:
            for values in self.values.values():
                for value in values:
                    if isinstance(value, Thing):
                        yield from value.within(depth + 1)


def text_of(value: Any) -> str | None:
    if isinstance(value, Thing):
        return value.text("name", "value", "@value", "url", "contentUrl", "@id")
    return value if isinstance(value, str) else None


def read_things(page: Page, url: str) -> list[Thing]:
    """All things of the page that stand in no other thing."""
    return [*_json_ld(page), *_microdata(page, url), *_rdfa(page, url)]


def _local_name(name: str) -> str:
    """`https://schema.org/Product`, `schema:Product` and `gr:Product` are `Product`."""
    return name.strip().rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1].rsplit(":", 1)[-1]


def _property_name(name: str) -> str:
    """Some shops write `Offers` and `SKU`."""
    local = _local_name(name)
    return local.lower() if local.isupper() else local[:1].lower() + local[1:]


# JSON-LD


def _json_ld(page: Page) -> list[Thing]:
    roots: list[Any] = []
    for element in page.elements:
        if element.tag == "script" and "ld+json" in element.get("type").lower():
            roots += parse_all(page.scripts.get(element.index, ""))
    by_id: dict[str, dict[str, Any]] = {}
    for node in _nodes(roots):
        name = node.get("@id")
        if isinstance(name, str) and len(node) > 1 and len(node) > len(by_id.get(name, ())):
            by_id[name] = node
    reader = _JsonLd(by_id)
    return [thing for root in roots for thing in reader.top(root)]


def _nodes(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        yield value
        for member in value.values():
            if isinstance(member, (dict, list)):
                yield from _nodes(member, depth + 1)
    elif isinstance(value, list):
        for member in value:
            yield from _nodes(member, depth + 1)


class _JsonLd:
    def __init__(self, by_id: dict[str, dict[str, Any]]) -> None:
        self._by_id = by_id
        self._left = MAX_THINGS

    def top(self, root: Any) -> Iterator[Thing]:
        if isinstance(root, list):
            for one in root:
                yield from self.top(one)
        elif isinstance(root, dict):
            if "@graph" in root:
                yield from self.top(root["@graph"])
            if "@type" in root or "@graph" not in root:
                thing = self._thing(root, 0, frozenset())
                if thing is not None:
                    yield thing

    def _thing(self, node: dict[str, Any], depth: int, seen: frozenset[str]) -> Thing | None:
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            return None
        name = node.get("@id")
        name = name if isinstance(name, str) else ""
        if name and name not in seen and len(node) <= 2:
            # A reference to a node that stands elsewhere.
            node = self._by_id.get(name, node)
        seen = seen | {name} if name else seen
        kinds = node.get("@type", node.get("type", ()))
        kinds = kinds if isinstance(kinds, list) else [kinds]
        types = tuple(_local_name(kind) for kind in kinds if isinstance(kind, str))
        values: dict[str, list[Any]] = {}
        for key, member in list(node.items())[:MAX_PROPERTIES]:
            if key not in ("@type", "@context", "@graph"):
                read = self._values(member, depth, seen)
                if read:
                    values.setdefault(_property_name(key), []).extend(read)
        return Thing(types, values, "json-ld", None, name)

    def _values(self, member: Any, depth: int, seen: frozenset[str]) -> list[Any]:
        if isinstance(member, list):
            return [one for value in member for one in self._values(value, depth + 1, seen)]
        if isinstance(member, dict):
            if isinstance(member.get("@id"), str) and member["@id"] in seen:
                return []
            thing = self._thing(member, depth + 1, seen)
            return [] if thing is None else [thing]
        if isinstance(member, bool):
            return ["true" if member else "false"]
        if member is None or depth > _MAX_DEPTH:
            return []
        text = str(member).strip()
        return [text] if text else []


# Microdata and RDFa


def _microdata(page: Page, url: str) -> list[Thing]:
    return _in_attributes(page, url, "microdata", "itemscope", "itemtype", "itemprop")


def _rdfa(page: Page, url: str) -> list[Thing]:
    return _in_attributes(page, url, "rdfa", "typeof", "typeof", "property")


def _in_attributes(
    page: Page, url: str, source: str, scope: str, kind: str, prop: str
) -> list[Thing]:
    tops: list[Thing] = []
    open_things: list[tuple[Element, Thing]] = []
    references: list[tuple[Thing, str]] = []
    count = 0
    for element in page.elements:
        attributes = element.attributes
        if not attributes or (scope not in attributes and prop not in attributes):
            continue
        while open_things and element.index >= open_things[-1][0].end:
            open_things.pop()
        inner: Thing | None = None
        if scope in attributes and count < MAX_THINGS:
            count += 1
            types = tuple(_local_name(name) for name in element.get(kind).split())
            inner = Thing(
                types, {}, source, element, element.get("itemid") or element.get("resource")
            )
            if reference := element.get("itemref"):
                references += [(inner, name) for name in reference.split()]
        names = [_local_name(name) for name in element.get(prop).split()]
        if names and open_things:
            value = inner if inner is not None else _value(page, element, url)
            _add(open_things[-1][1], names, value)
        elif inner is not None:
            tops.append(inner)
        if inner is not None:
            open_things.append((element, inner))
    _resolve(page, url, references, prop)
    return tops


def _add(thing: Thing, names: list[str], value: Any) -> None:
    if value in (None, ""):
        return
    for name in names:
        kept = thing.values.setdefault(name, [])
        if len(kept) < MAX_PROPERTIES:
            kept.append(value)


def _resolve(page: Page, url: str, references: list[tuple[Thing, str]], prop: str) -> None:
    """`itemref`: properties that stand elsewhere in the page."""
    if not references:
        return
    by_id = {element.get("id"): element for element in page.elements if "id" in element.attributes}
    for thing, name in references[:MAX_PROPERTIES]:
        found = by_id.get(name)
        if found is None:
            continue
        for element in (found, *page.inside(found)):
            if prop in element.attributes and "itemscope" not in element.attributes:
                names = [_local_name(one) for one in element.get(prop).split()]
                _add(thing, names, _value(page, element, url))


def _value(page: Page, element: Element, url: str) -> str:
    if "content" in element.attributes:
        return element.get("content").strip()
    name = _ADDRESS_IN.get(element.tag)
    if name is not None and element.get(name):
        try:
            return urljoin(url, element.get(name).strip())
        except ValueError:
            return ""
    name = _DATA_VALUE.get(element.tag)
    if name is not None and element.get(name):
        return element.get(name).strip()
    return page.text(element)
