"""Find the catalog product of a row, and products of other sources that may be the same.

A row matches within its own source only: by source id, then by SKU, then by GTIN. A
product of another source matches only by the org's shared catalog key; otherwise it is proposed
as a link. Products with different GTINs are never the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Literal, NamedTuple, TypeVar
from uuid import UUID

from penstock.catalog.values.gtin import is_in_store, match_key
from penstock.model.products import KnownProduct, LinkCandidate, ProductName
from penstock.model.transfer import transferable

MatchedBy = Literal["sourceId", "sku", "gtin"]
LinkedBy = Literal["gtin", "mpn"]
MAX_LINKS = 5
# Longer keys do not fit into the index; `store/sql/catalog/products.sql` cuts at the same length.
_MAX_MAKER_LENGTH = 200
_SEPARATOR = "\x1f"
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


@transferable
class Identifiers(NamedTuple):
    """The identifiers of a product, normalised for comparison."""

    id: str | None = None
    sku: str | None = None
    gtin: str | None = None
    # Brand and manufacturer part number, joined.
    maker: str | None = None

    def brief(self) -> dict[str, str]:
        return {name: one for name, one in zip(self._fields, self, strict=True) if one is not None}

    def by(self, key: str) -> str | None:
        found: str | None = getattr(self, "id" if key == "sourceId" else key)
        return found


def identifiers_of(product: Mapping[str, Any]) -> Identifiers:
    names = product.get("identifiers", {})
    gtin = names.get("gtin")
    return Identifiers(
        product.get("sourceId"),
        names.get("sku"),
        None if gtin is None else match_key(gtin),
        maker_key(product.get("brand"), names.get("mpn")),
    )


def maker_key(brand: str | None, mpn: str | None) -> str | None:
    """As in the database index: the case of ASCII letters is ignored."""
    if not brand or not mpn:
        return None
    return f"{brand}{_SEPARATOR}{mpn}".translate(_LOWER)[:_MAX_MAKER_LENGTH]


def gtins_differ(gtin: str | None, other: str | None) -> bool:
    """Both GTINs are known and differ, so the products differ."""
    return gtin is not None and other is not None and gtin != other


class Match(NamedTuple):
    """``contradicts``: the source id matches, but the GTIN is another than before."""

    product: KnownProduct | None = None
    by: MatchedBy | None = None
    contradicts: bool = False


class Link(NamedTuple):
    """A product of another source that may be the same. It is proposed; a person decides."""

    product: LinkCandidate
    by: LinkedBy

    def as_json(self) -> dict[str, Any]:
        one = self.product
        return {
            "productId": str(one.id), "source": one.source, "sourceId": one.source_id,
            "sku": one.sku, "title": one.title, "by": self.by,
        }  # fmt: skip


class Candidates:
    """Known products that rows of one source can match."""

    def __init__(
        self, source: str, products: Sequence[KnownProduct], catalog_key: str | None = None,
        links: Sequence[LinkCandidate] = (), other_ids_of: UUID | None = None,
    ) -> None:  # fmt: skip
        """``other_ids_of``: a job whose products with other ids are other products, even with the
        same SKU."""
        self._source = source
        self._other_ids_of = other_ids_of
        self._catalog_key = catalog_key
        # Products of the same source first, then the oldest: ids are in the order of creation.
        ordered = sorted(products, key=lambda one: (one.source != source, one.id))
        self._by_id = {one.source_id: one for one in ordered if one.source == source}
        self._by_sku = _grouped(ordered, lambda one: one.sku)
        self._by_gtin = _grouped(ordered, lambda one: one.gtin)
        others = sorted((one for one in links if one.source != source), key=lambda one: one.id)
        self._links_by_gtin = _grouped(others, lambda one: one.gtin)
        self._links_by_maker = _grouped(others, lambda one: one.maker)
        self.is_empty = not products and not others

    def match(self, names: Identifiers) -> Match:
        own = None if names.id is None else self._by_id.get(names.id)
        if own is not None:
            return Match(own, "sourceId", gtins_differ(names.gtin, own.gtin))
        found = self._first(self._by_sku, names.sku, names, shared=self._catalog_key == "sku")
        if found is not None:
            return Match(found, "sku")
        found = self._first(self._by_gtin, names.gtin, names, shared=self._catalog_key == "gtin")
        return Match() if found is None else Match(found, "gtin")

    def _first(
        self, known: Mapping[str, Sequence[KnownProduct]], name: str | None, names: Identifiers, *,
        shared: bool,
    ) -> KnownProduct | None:  # fmt: skip
        for one in known.get(name, ()) if name is not None else ():
            if one.source != self._source and not shared:
                continue
            if self._other_ids_of is not None and one.job_id == self._other_ids_of:
                continue
            if not gtins_differ(names.gtin, one.gtin):
                return one
        return None

    def links(self, names: Identifiers, match: Match) -> list[Link]:
        """At most `MAX_LINKS`, those with the same GTIN first. A pair that was accepted or refused
        is not proposed again."""
        written = None if match.product is None else match.product.id
        own = self._name(names, match)
        found: dict[Any, Link] = {}
        by_gtin: Sequence[LinkCandidate] = ()
        if names.gtin is not None and not is_in_store(names.gtin):
            by_gtin = self._links_by_gtin.get(names.gtin, ())
        by_maker = self._links_by_maker.get(names.maker, ()) if names.maker is not None else ()
        for one in by_gtin:
            found.setdefault(one.id, Link(one, "gtin"))
        for one in by_maker:
            if not gtins_differ(names.gtin, one.gtin):
                found.setdefault(one.id, Link(one, "mpn"))
        proposed = (
            link
            for place, link in found.items()
            if place != written and (own is None or own not in link.product.decided)
        )
        return list(islice(proposed, MAX_LINKS))

    def _name(self, names: Identifiers, match: Match) -> ProductName | None:
        """The name that the row's product has, or will have, in the catalog."""
        if match.product is not None:
            return ProductName(match.product.source, match.product.source_id)
        return None if names.id is None else ProductName(self._source, names.id)


_Known = TypeVar("_Known")


def _grouped(
    known: Iterable[_Known], name_of: Callable[[_Known], str | None]
) -> dict[str, list[_Known]]:
    found: dict[str, list[_Known]] = {}
    for one in known:
        name = name_of(one)
        if name is not None:
            found.setdefault(name, []).append(one)
    return found
