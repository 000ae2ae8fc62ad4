"""Edit a product by hand. Imports do not change an edited field until the edit is undone.

Values are given as text, in the form that the product has them, and are read by the same readers as
the cells of a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from typing import Any

from penstock.catalog.fields import AVAILABILITY_STATES, BY_TARGET
from penstock.catalog.values.currencies import read_currency
from penstock.catalog.values.readers import Style, reader
from penstock.model.errors import BadInput
from penstock.model.products import PUBLISHED, FieldChange, value_at, with_value

# Fields that a person may edit. Identifiers by which files name the product are the supplier's.
EDITABLE = (
    "title", "description", "brand", "category", "price.amount", "price.currency", "price.unit",
    "availability.status", "availability.quantity", "availability.leadTimeDays",
    "identifiers.gtin", "identifiers.mpn", "specifications.material", "metadata.url", "published",
)  # fmt: skip
# Values that are derived from another: a new price makes them wrong.
_DERIVED = {
    "price.amount": ("price.base", "price.perUnit", "price.maxAmount", "price.onRequest"),
    "price.currency": ("price.base", "price.perUnit"),
    "price.unit": ("price.perUnit",),
}
_AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,6})?")


def kept_parts(kept: Collection[str]) -> tuple[str, ...]:
    """Kept fields with those that are derived from them."""
    found = dict.fromkeys(kept)
    for field in kept:
        found |= dict.fromkeys(_DERIVED.get(field, ()))
    return tuple(found)


def with_kept(
    product: Mapping[str, Any], existing: Mapping[str, Any], kept: Collection[str]
) -> Mapping[str, Any]:
    """The product of a file, with the values of kept fields as the catalog has them."""
    if not kept:
        return product
    result = deepcopy(dict(product))
    for field in kept_parts(kept):
        with_value(result, field, deepcopy(value_at(existing, field)))
    return result


def kept_values(
    product: Mapping[str, Any], existing: Mapping[str, Any], kept: Collection[str]
) -> list[FieldChange]:
    """Kept fields for which the file has another value: what was kept, and what the file has."""
    found = [
        FieldChange(field, value_at(existing, field), value_at(product, field))
        for field in sorted(kept)
    ]
    return [one for one in found if one.after is not None and one.after != one.before]


def edited(
    product: Mapping[str, Any], given: Mapping[str, str | None]
) -> tuple[dict[str, Any], list[FieldChange]]:
    """The product with the given values, and what changed; None empties a field. Raises BadInput
    for a value that cannot be read."""
    result = deepcopy(dict(product))
    changes = []
    for field, text in given.items():
        value = read_value(field, text)
        before = value_at(product, field)
        if value == before:
            continue
        for part in _DERIVED.get(field, ()):
            with_value(result, part, None)
        with_value(result, field, value)
        changes.append(FieldChange(field, before, value))
    if value_at(result, "title") is None:
        raise _unreadable("title", "A product needs a title.")
    amount, currency = value_at(result, "price.amount"), value_at(result, "price.currency")
    if amount is not None and currency is None:
        raise _unreadable("price.currency", "A price needs a currency.")
    return result, changes


def read_value(field: str, text: str | None) -> Any:
    """The value that a text stands for; None for an empty one."""
    if field not in EDITABLE:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"The field {field!r} cannot be edited. Use one of: {', '.join(EDITABLE)}.",
            field=field,
        )
    given = "" if text is None else text.strip()
    if not given:
        return None
    special = _SPECIAL.get(field)
    if special is not None:
        return special(given)
    read = reader(BY_TARGET[field].kind, Style(decimal="point"))(given)
    if read.value is None or any(one.severity == "error" for one in read.problems):
        raise _unreadable(field, f"{given[:100]!r} is not a value for {field}.")
    return read.value


def _amount(given: str) -> str:
    if _AMOUNT.fullmatch(given) is None:
        raise _unreadable("price.amount", f"{given[:100]!r} is not an amount such as 12.90.")
    return given


def _currency(given: str) -> str:
    found = read_currency(given.upper(), None).value
    if found != given.upper():
        raise _unreadable("price.currency", f"{given[:100]!r} is not a currency such as EUR.")
    return given.upper()


def _state(given: str) -> str:
    if given not in AVAILABILITY_STATES:
        raise _unreadable("availability.status", f"Use one of: {', '.join(AVAILABILITY_STATES)}.")
    return given


def _number(field: str) -> Callable[[str], int]:
    def read(given: str) -> int:
        if not (given.isascii() and given.isdigit() and len(given) <= 9):
            raise _unreadable(field, f"{given[:100]!r} is not a whole number.")
        return int(given)

    return read


def _published(given: str) -> bool:
    if given not in ("true", "false"):
        raise _unreadable(PUBLISHED, "Use true or false.")
    return given == "true"


_SPECIAL: dict[str, Callable[[str], Any]] = {
    "price.amount": _amount,
    "price.currency": _currency,
    "availability.status": _state,
    "availability.quantity": _number("availability.quantity"),
    "availability.leadTimeDays": _number("availability.leadTimeDays"),
    PUBLISHED: _published,
}


def _unreadable(field: str, why: str) -> BadInput:
    return BadInput("INVALID_PARAMETERS", why, field=field)
