"""Merge offers into products: deduplicate, combine the values, filter and rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from penstock.catalog.research.dedup import Cluster, deduplicate
from penstock.catalog.research.filters import OfferFilter, amount_in, has_no_rate
from penstock.catalog.research.ranking import score_of
from penstock.catalog.values.currencies import Rates

# Sections whose values belong to one offer as a whole: they come from the best one.
_OFFERED = ("price", "availability", "supplier")


@dataclass(frozen=True, slots=True)
class SourceOffer:
    """An offer with its lineage, and where its source delivers to."""

    product: Mapping[str, Any]
    lineage: Mapping[str, Any] = field(default_factory=dict)
    delivers: Sequence[str] = ()

    @property
    def source(self) -> str:
        return str(self.product["source"])


@dataclass(frozen=True, slots=True)
class MergedProduct:
    product: dict[str, Any]
    lineage: dict[str, Any]
    sources: list[dict[str, Any]]
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Merged:
    """Products by rank, and for each source how many offers were kept and left out, by reason, and
    how many of the kept ones are in a currency without a rate."""

    products: list[MergedProduct]
    kept: Mapping[str, int]
    left_out: Mapping[str, Mapping[str, int]]
    no_rate: Mapping[str, int]


def merge_offers(
    offers: Sequence[SourceOffer], query: str, wanted: OfferFilter, rates: Rates
) -> Merged:
    """Pure: the same offers always give the same list."""
    fitting: list[SourceOffer] = []
    left_out: dict[str, Counter[str]] = {}
    # By source and id, so that the order in which sources answered does not matter.
    for one in sorted(offers, key=lambda one: (one.source, str(one.product.get("sourceId")))):
        reason = wanted.reason_against(one.product, rates, one.delivers)
        if reason is None:
            fitting.append(one)
        else:
            left_out.setdefault(one.source, Counter())[reason] += 1
    clusters = deduplicate([one.product for one in fitting])
    groups = [(cluster, [fitting[n] for n in cluster.members]) for cluster in clusters]
    currency = wanted.currency or rates.base
    prices = [_best_price(members, currency, rates) for _, members in groups]
    lowest = min((price for price in prices if price), default=None)
    merged = [
        _merged(cluster, members, query, price, lowest, currency, rates)
        for (cluster, members), price in zip(groups, prices, strict=True)
    ]
    merged.sort(key=lambda one: (-one.score, str(one.product.get("title")), one.product["id"]))
    kept = Counter(one.source for one in fitting)
    no_rate = Counter(one.source for one in fitting if has_no_rate(one.product, currency, rates))
    return Merged(merged, kept, left_out, no_rate)


def _best_price(members: Sequence[SourceOffer], currency: str, rates: Rates) -> Decimal | None:
    found = [amount_in(one.product, currency, rates) for one in members]
    return min((price for price in found if price), default=None)


def _merged(
    cluster: Cluster, members: Sequence[SourceOffer], query: str, price: Decimal | None,
    lowest: Decimal | None, currency: str, rates: Rates,
) -> MergedProduct:  # fmt: skip
    ordered = sorted(members, key=lambda one: _worse(one, currency, rates))
    fullest = sorted(members, key=lambda one: (-len(one.lineage), one.source))
    product: dict[str, Any] = {}
    lineage: dict[str, Any] = {}
    for name in _OFFERED:
        for one in ordered:
            if one.product.get(name):
                product[name] = one.product[name]
                lineage |= _lineage(one, name)
                break
    for one in fullest:
        _fill(product, lineage, one)
    best = ordered[0]
    product |= {"source": "research", "sourceId": best.product["sourceId"],
                "id": best.product["id"]}  # fmt: skip
    sure = float(product.get("metadata", {}).get("confidence", 1.0))
    confidence = round(min(cluster.confidence, sure), 3)
    product["metadata"] = {**product.get("metadata", {}), "confidence": confidence}
    sources = [_source_entry(one, cluster, currency, rates) for one in ordered]
    count = len({one.source for one in members})
    score, parts = score_of(
        product, query, price=price, lowest=lowest, sources=count, confidence=confidence
    )
    return MergedProduct(product, lineage, sources, score, parts)


def _worse(one: SourceOffer, currency: str, rates: Rates) -> tuple[Any, ...]:
    """Available and cheap first; without a comparable price last."""
    gone = one.product.get("availability", {}).get("status") == "out_of_stock"
    price = amount_in(one.product, currency, rates)
    return (gone, price is None, price or Decimal(0), one.source)


def _fill(product: dict[str, Any], lineage: dict[str, Any], one: SourceOffer) -> None:
    """Values that no offer before had. Identifiers and specifications are combined one by one."""
    for name, value in one.product.items():
        if name in ("id", "source", "sourceId") or name in _OFFERED:
            continue
        if name not in product:
            product[name] = value
            lineage |= _lineage(one, name)
        elif isinstance(value, Mapping) and isinstance(product[name], Mapping):
            added = {key: told for key, told in value.items() if key not in product[name]}
            if added:
                product[name] = {**product[name], **added}
                for key in added:
                    lineage |= _lineage(one, f"{name}.{key}")


def _lineage(one: SourceOffer, name: str) -> dict[str, Any]:
    """Lineage of a field and its parts, with the source in front of the expression."""
    return {
        target: [f"{one.source}: {told[0]}", *told[1:]]
        for target, told in one.lineage.items()
        if target == name or target.startswith(f"{name}.")
    }


def _source_entry(
    one: SourceOffer, cluster: Cluster, currency: str, rates: Rates
) -> dict[str, Any]:
    product = one.product
    entry: dict[str, Any] = {
        "source": one.source,
        "sourceId": product.get("sourceId"),
        "title": product.get("title"),
        "price": product.get("price"),
        "availability": product.get("availability"),
        "supplier": product.get("supplier"),
        "url": product.get("metadata", {}).get("url"),
        "matchedBy": list(cluster.by),
        "confidence": cluster.confidence,
    }
    amount = amount_in(product, currency, rates)
    if amount is not None:
        shown = amount.quantize(Decimal("0.0001")).normalize()
        entry["comparablePrice"] = {"amount": format(shown, "f"), "currency": currency}
    elif has_no_rate(product, currency, rates):
        entry["noRate"] = True
    return {name: value for name, value in entry.items() if value is not None}
