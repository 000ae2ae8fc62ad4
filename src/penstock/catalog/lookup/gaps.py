"""Gaps of a product, and what another product of the same thing can fill them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.catalog.fields import FIELDS, full_target

DEFAULT_FIELDS = ("identifiers.gtin", "images", "description")
# Facts about the thing itself. Prices, stock and suppliers belong to one offer.
_FILLABLE = tuple(
    field.target
    for field in FIELDS
    if field.output
    and field.target not in ("id", "source", "sourceId", "title", "identifiers.sku", "variants")
    and field.target.partition(".")[0] not in ("price", "availability", "supplier", "metadata")
    and field.target != "specifications.customFields"
)


class Proposal(NamedTuple):
    """A value for a field that a product lacks. ``origin`` is where the value comes from: the
    provider, and the product there."""

    field: str
    value: Any
    origin: str
    provider: str
    confidence: float

    def as_json(self) -> dict[str, Any]:
        return {
            "field": self.field, "before": None, "after": self.value, "origin": self.origin,
            "provider": self.provider, "confidence": self.confidence,
        }  # fmt: skip


def field_to_fill(name: str) -> str:
    """The whole name of a field that enrichment may fill. Raises ValueError for others."""
    target = full_target(name)
    if target not in _FILLABLE:
        raise ValueError(f"{name[:60]!r} cannot be filled. Known: {', '.join(_FILLABLE)}")
    return target


def value_of(product: Mapping[str, Any], field: str) -> Any:
    """The value of a field; None if the product lacks it."""
    place: Any = product
    for part in field.split("."):
        place = place.get(part) if isinstance(place, Mapping) else None
    return None if place in ("", [], {}) else place


def gaps_of(product: Mapping[str, Any], fields: Sequence[str]) -> list[str]:
    return [field for field in fields if value_of(product, field) is None]


def filled(product: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The product with values in fields that it still lacks."""
    changed = dict(product)
    for field, value in values.items():
        if value_of(changed, field) is not None:
            continue
        *parents, name = field.split(".")
        level = changed
        for part in parents:
            level[part] = dict(level.get(part) or {})
            level = level[part]
        level[name] = value
    return changed
