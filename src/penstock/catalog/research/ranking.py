"""The score of a merged product, from 0 to 100.

40  relevance     share of the query's words in title, brand, category and identifiers
25  price         the lowest comparable price of the list, divided by this one
15  availability  in stock 1, limited 0.7, preorder or backorder 0.3, unknown 0.4, none 0
10  delivery      1 at once, 0.5 after a week, less later; unknown 0.3
 5  sources       one source 1/3, three or more 1
 5  confidence    how sure the values and the merge are
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from penstock.catalog.research.offers import code, folded

WEIGHTS = {
    "relevance": 40, "price": 25, "availability": 15, "delivery": 10, "sources": 5,
    "confidence": 5,
}  # fmt: skip
_STOCK = {"in_stock": 1.0, "limited": 0.7, "preorder": 0.3, "backorder": 0.3, "out_of_stock": 0.0}
_UNKNOWN_STOCK, _UNKNOWN_DELIVERY = 0.4, 0.3
_ENOUGH_SOURCES = 3


def score_of(
    product: Mapping[str, Any], query: str, *, price: Decimal | None, lowest: Decimal | None,
    sources: int, confidence: float,
) -> tuple[float, dict[str, float]]:  # fmt: skip
    """The score, and its parts from 0 to 1."""
    stock = product.get("availability", {})
    days = stock.get("leadTimeDays")
    parts = {
        "relevance": relevance(product, query),
        "price": 0.0 if not price or lowest is None else float(min(Decimal(1), lowest / price)),
        "availability": _STOCK.get(str(stock.get("status")), _UNKNOWN_STOCK),
        "delivery": _UNKNOWN_DELIVERY if days is None else 1 / (1 + days / 7),
        "sources": min(1.0, sources / _ENOUGH_SOURCES),
        "confidence": confidence,
    }
    total = sum(WEIGHTS[name] * value for name, value in parts.items())
    return round(total, 2), {name: round(value, 3) for name, value in parts.items()}


def relevance(product: Mapping[str, Any], query: str) -> float:
    words = folded(query).split()
    if not words:
        return 1.0
    names = product.get("identifiers", {})
    identifiers = {code(str(one)) for one in names.values() if one}
    if code(query) in identifiers:
        return 1.0
    text = folded(" ".join(str(product.get(name) or "") for name in ("title", "brand", "category")))
    known: Sequence[str] = text.replace("-", " ").split()
    joined = code(text)
    found = 0.0
    for word in words:
        if word in known or code(word) in identifiers:
            found += 1
        elif any(one.startswith(word) or word.startswith(one) for one in known if len(one) > 2):
            found += 0.8
        elif len(word) > 2 and code(word) in joined:
            found += 0.6
    return found / len(words)
