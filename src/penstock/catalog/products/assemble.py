"""Combine values of several columns: price with currency and pack, stock with status, sides."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache, partial
from typing import Any

from penstock.catalog.fields import TIERS
from penstock.catalog.mapping.synonyms import header_key
from penstock.catalog.mapping.tier_columns import Step, steps_of, tiers_in
from penstock.catalog.products.plan import Plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.products.variants import add_variant, use_attributes
from penstock.catalog.values.availability import Availability
from penstock.catalog.values.currencies import format_amount, places, rounded
from penstock.catalog.values.images import MAX_IMAGES
from penstock.catalog.values.numbers import plain
from penstock.catalog.values.price_tiers import Discount, Tier, TierList, tier_amount
from penstock.catalog.values.prices import Price
from penstock.catalog.values.unit_names import FACTORS, KINDS
from penstock.catalog.values.units import Pack
from penstock.catalog.word_lists import load, words

# The lineage rule of a base price that is empty because no rates were imported.
NO_RATES = "rate_missing"
# A cell with a letter or a currency symbol names its own currency.
NAMES_CURRENCY = re.compile(r"[^\W\d_]|[€$£¥₹₽₩₺₴₪฿₫₱]")
_FURTHER_PRICES = frozenset(
    f"price.{name}" for name in ("list", "recommended", "compareAt", "cost", "sale")
)
_SIDES = ("length", "width", "height", "depth")


Finisher = Callable[[Plan, NormalisedRow, dict[str, Any]], None]


def assemble(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    """Add ``parts``, values by target, to the row's product."""
    for finish in _finishers(plan.targets):
        finish(plan, row, parts)


@lru_cache(maxsize=256)
def _finishers(targets: frozenset[str]) -> tuple[Finisher, ...]:
    """The functions that the mapped fields need."""
    wanted: tuple[tuple[str, Finisher], ...] = (
        ("category", _add_category),
        ("price.", partial(_add_price, steps_of(targets))),
        ("specifications.pack", _add_pack),
        ("availability.", _add_availability),
        ("specifications.weight", _add_weight),
        ("specifications.dimensions", _add_dimensions),
        ("images", partial(_add_images, _columns_of("images", targets))),
        ("metadata.tags", partial(_add_list, _columns_of("metadata.tags", targets))),
        (
            "supplier.certifications",
            partial(_add_list, _columns_of("supplier.certifications", targets)),
        ),
        ("published", partial(_add_published, _columns_of("published", targets))),
        ("unpublished", partial(_add_published, ())),
        ("variants.attributes", use_attributes),
        ("variants.", add_variant),
        *((("variants", _add_nested),) if "variants" in targets else ()),
    )
    found = [add for start, add in wanted if any(t.startswith(start) for t in targets)]
    return (*found, _add_identity)


def _section(product: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = product.setdefault(name, {})
    return found


def _add_category(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    paths: list[str] | None = parts.get("category") or parts.get("category.otherwise")
    if not paths:
        return
    row.product["category"] = paths[0]
    if len(paths) > 1:
        _section(row.product, "specifications")["customFields"] = {"categories": list(paths[1:])}


def _add_pack(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    pack: Pack | None = parts.get("specifications.pack")
    if pack is not None:
        _section(row.product, "specifications")["pack"] = pack.as_json()


def _tier_amounts(row: NormalisedRow, listed: TierList, read: Price) -> tuple[Tier, ...]:
    """Tiers as amounts, based on the price of one. A discount on a price that the row does not have
    is left out and reported."""
    steps, currency = listed
    amount = read.amount
    discounts = any(isinstance(step, Discount) for step in steps)
    if amount is None:
        least = next((step for step in steps if isinstance(step, Tier)), None)
        if discounts:
            row.add_problem(TIERS, "TIERS_WITHOUT_PRICE")
            steps = tuple(step for step in steps if isinstance(step, Tier))
        amount = least.amount if least else "0"
    elif steps[0].quantity > 1 and (discounts or TIERS not in row.lineage):
        steps = (Tier(1, amount), *steps)
    return tuple(tier_amount(step, amount, read.currency or currency) for step in steps)


def _add_price(
    steps: tuple[Step, ...], plan: Plan, row: NormalisedRow, parts: dict[str, Any]
) -> None:
    listed: TierList | None = parts.get(TIERS) or (tiers_in(steps, parts) if steps else None)
    if "price.amount" not in parts and listed is None and _FURTHER_PRICES.isdisjoint(parts):
        return
    read = _selling_price(plan, row, parts)
    tiers, tier_currency = read.tiers, None
    if listed is not None:
        tiers, tier_currency = _tier_amounts(row, listed, read), listed[1]
    currency = _currency(plan, row, parts, read.currency or tier_currency)
    price: dict[str, Any] = {}
    amount = read.amount
    if amount is None and tiers and not _is_unreadable(row, "price.amount"):
        amount = tiers[0].amount
    if amount is None and "price.amount" in parts:
        price["onRequest"] = True
    if amount is not None:
        if currency != read.currency:
            amount = format_amount(amount, places(currency))
        price["amount"] = amount
        _add_base(plan, row, price, currency)
        said = _with_content(row, parts, _unit(parts, read))
        price["unit"] = said or "piece"
        # Tier prices are for one piece each.
        per_unit = _per_unit(parts, amount, said or ("piece" if tiers else None), currency)
        if per_unit is not None:
            price["perUnit"] = per_unit
    if read.upper is not None:
        price["maxAmount"] = read.upper
    if tiers:
        price["tiers"] = [tier.as_json() for tier in tiers]
    _add_further_prices(row, price, parts, currency)
    tax = parts.get("price.taxIncluded", read.tax_included)
    if tax is not None:
        price["taxIncluded"] = tax
    if price:
        row.product["price"] = price


def _is_unreadable(row: NormalisedRow, target: str) -> bool:
    """Whether the cell has a text that could not be read, so that nothing may take its place."""
    return any(one.target == target and one.code.endswith("_UNREADABLE") for one in row.problems)


def _selling_price(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> Price:
    """The price, reduced where the row says so: by a sale price without a period, or by a discount
    on the list price where the net price is not given."""
    read: Price = parts.get("price.amount") or Price(None)
    if "price.sale" not in parts and "price.discount" not in plan.targets:
        return read
    sale: Price | None = parts.get("price.sale")
    if sale is not None and sale.amount is not None and "price.salePeriod" not in parts:
        if read.amount is None or Decimal(sale.amount) >= Decimal(read.amount):
            return sale if read.amount is None else read
        if "price.compareAt" not in parts:
            parts["price.compareAt"] = read
            row.lineage["price.compareAt"] = row.lineage["price.amount"]
        # The confidence stays that of the cell of the price.
        row.lineage["price.amount"] = (
            *row.lineage["price.sale"][:3],
            row.lineage["price.amount"][3],
        )
        return sale
    base: Price | None = parts.get("price.list")
    if "price.discount" not in plan.targets or "price.amount" in parts or base is None:
        return read
    if base.amount is None or any(one.target == "price.discount" for one in row.problems):
        return read
    off: Decimal = parts.get("price.discount", Decimal(0))
    minor = places(base.currency or plan.currency)
    exact = Decimal(base.amount) * (100 - off) / 100
    amount = exact.quantize(Decimal(1).scaleb(-minor), ROUND_HALF_UP) if off else base.amount
    header, raw, _, sure = row.lineage["price.list"]
    row.lineage["price.amount"] = (header, raw, "discounted", sure)
    return base._replace(amount=format_amount(str(amount), minor))


def _add_published(
    columns: tuple[str, ...], plan: Plan, row: NormalisedRow, parts: dict[str, Any]
) -> None:
    """A product is hidden if one of its columns says so."""
    said = [parts[column] for column in columns if column in parts]
    if "unpublished" in parts:
        said.append(not parts["unpublished"])
    if said:
        row.product["published"] = all(said) and row.product.get("published", True)


def _add_further_prices(
    row: NormalisedRow, price: dict[str, Any], parts: dict[str, Any], currency: str | None
) -> None:
    """List price, cost and so on, in the currency of the price; and what goes with a price."""
    for target in sorted(_FURTHER_PRICES.intersection(parts) - {"price.sale"}):
        read: Price = parts[target]
        if currency is not None and read.currency not in (None, currency):
            row.add_problem(target, "CURRENCY_DIFFERS", one=read.currency, other=currency)
            row.lineage.pop(target, None)
        elif read.amount is not None:
            amount = format_amount(read.amount, places(currency or read.currency))
            price[target.removeprefix("price.")] = amount
    if price and "price.discount" in parts:
        price["discount"] = plain(format(parts["price.discount"].normalize(), "f"))
    for name in ("taxRate", "discountGroup"):
        if price and f"price.{name}" in parts:
            price[name] = parts[f"price.{name}"]


def _unit(parts: dict[str, Any], read: Price) -> str | None:
    """The unit of the price: `100` in its own column, or a price per 100, beside `ST` means 100
    pieces."""
    unit: str | None = parts.get("price.unit")
    if unit is None or (read.unit is not None and read.unit[0].isdigit()):
        unit = _of_many(read.unit, unit)
    count: int = parts.get("price.unit.count") or 1
    if count == 1 or (unit is not None and unit[0].isdigit()):
        return unit
    return f"{count} {unit or 'piece'}"


def _of_many(unit: str | None, column: str | None) -> str | None:
    """`100 piece` of the price with the unit of the row's column: `m` makes it 100 m."""
    count, _, name = (unit or "").partition(" ")
    if column is None or column[0].isdigit() or KINDS.get(name) != "count":
        return unit
    return f"{count} {column}"


def _with_content(row: NormalisedRow, parts: dict[str, Any], unit: str | None) -> str | None:
    """`Inhalt` 500 beside `Einheit` g: the price is for 500 g, the content of the pack."""
    pack: Pack | None = parts.get("specifications.pack")
    if pack is None or pack.size is not None or pack.unit != "piece" or unit is None:
        return unit
    measured = KINDS.get(unit) in ("mass", "volume", "length", "area")
    if not measured or not _names_content(row.lineage["specifications.pack"][0]):
        return unit
    parts["specifications.pack"] = Pack(1, str(pack.count), unit)
    return unit if pack.count == 1 else f"{pack.count} {unit}"


_CONTENT = words(load("header_words")["content of a pack"])


@lru_cache(maxsize=1_024)
def _names_content(header: str) -> bool:
    return not _CONTENT.isdisjoint(header_key(header).split())


def _add_base(plan: Plan, row: NormalisedRow, price: dict[str, Any], currency: str | None) -> None:
    if currency is None:
        row.add_problem("price.amount", "CURRENCY_MISSING")
        return
    price["currency"] = currency
    if plan.said is not None:
        row.lineage.setdefault("price.currency", plan.said)
    base = plan.rates.convert(price["amount"], currency)
    if base is not None:
        price["base"] = base
    elif plan.rates.per:
        row.add_problem("price.amount", "RATE_MISSING", one=currency, other=plan.rates.base)
    elif "price.amount" in row.lineage:
        # Without any rates the job warns once; the row only records it in its lineage.
        header, raw, *_ = row.lineage["price.amount"]
        row.lineage["price.base"] = (header, raw, NO_RATES, 0.0)


def _currency(
    plan: Plan, row: NormalisedRow, parts: dict[str, Any], in_cell: str | None
) -> str | None:
    """The currency in the cell first, then the currency column, then the file's default."""
    column: str | None = parts.get("price.currency")
    if column is None:
        return in_cell or plan.currency
    source = row.lineage.get("price.amount")
    marked = in_cell is not None and source is not None and NAMES_CURRENCY.search(source[1])
    if not marked:
        return column
    if in_cell != column:
        row.add_problem("price.amount", "CURRENCY_CONFLICT", one=in_cell, other=column)
    return in_cell


def _per_unit(
    parts: dict[str, Any], amount: str, unit: str | None, currency: str | None
) -> dict[str, str] | None:
    """As the file gives it, or computed from the pack or the unit of the price. ``unit``
    is None if unknown; a price for one piece is not a price for the pack."""
    given: Price | None = parts.get("price.perUnit")
    if given is not None and given.amount is not None:
        return {"amount": given.amount, "unit": given.unit or "piece"}
    # A price per metre or per 100 pieces is for its unit, whatever the pack contains.
    pack = _pack_of(unit or "")
    if pack is None and unit != "pair":
        pack = parts.get("specifications.pack")
    if pack is None or (unit in ("piece", "set") and KINDS[pack.unit] in ("count", "package")):
        return None
    total, base = pack.total()
    if total <= 0 or (total == 1 and base == (unit or "piece")):
        return None
    minor = places(currency)
    return {"amount": format_amount(rounded(Decimal(amount) / total, minor), minor), "unit": base}


@lru_cache(maxsize=1_024)
def _pack_of(unit: str) -> Pack | None:
    """`100 g` as the unit of a price is a pack of one; `piece` and `box` are not comparable."""
    size, _, name = unit.rpartition(" ")
    if size and KINDS.get(name) == "count" and size.isdecimal() and int(size):
        return Pack(int(size), None, name)
    if unit == "dozen":
        return Pack(1, None, unit)
    if KINDS.get(name) in ("mass", "volume", "length", "area"):
        return Pack(1, size or "1", name)
    return None


def _status(row: NormalisedRow, parts: dict[str, Any], quantity: int | None) -> Availability | None:
    """By the column of the status, else by words in that of the quantity, else by words instead of
    a lead time, such as `on order`, unless there is a stock."""
    read: Availability | None = parts.get("availability.status")
    counted, lead = parts.get("availability.quantity"), parts.get("availability.leadTimeDays")
    if isinstance(counted, Availability):
        read = read or counted
    if isinstance(lead, Availability):
        lineage = row.lineage.pop("availability.leadTimeDays")
        if read is None and not quantity:
            row.lineage["availability.status"] = lineage
            return lead
    return read


def _add_availability(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    counted: int | Availability | None = parts.get("availability.quantity")
    quantity = counted if isinstance(counted, int) else None
    read = _status(row, parts, quantity)
    found: dict[str, Any] = {}
    if read is not None:
        status = read.status_with(quantity)
        if quantity is None:
            quantity = read.quantity
        elif status == ("out_of_stock" if quantity else "in_stock"):
            by_count = "in_stock" if quantity else "out_of_stock"
            row.add_problem(
                "availability.status", "AVAILABILITY_CONFLICT", one=status, other=by_count
            )
        found["status"] = status
        if read.lead_days is not None:
            found["leadTimeDays"] = read.lead_days
        if read.date is not None:
            found["deliveryDate"] = read.date
    elif quantity is not None:
        found["status"] = "in_stock" if quantity else "out_of_stock"
        column, raw, _, sure = row.lineage["availability.quantity"]
        row.lineage["availability.status"] = (column, raw, "from_quantity", sure)
    if quantity is not None:
        found["quantity"] = quantity
    for name in ("leadTimeDays", "minOrder", "deliveryDate"):
        value = parts.get(f"availability.{name}")
        if value is not None and not isinstance(value, Availability):
            found[name] = value
    if found:
        row.product["availability"] = found


def _add_weight(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    if "specifications.weight" not in parts:
        return
    weight = _section(row.product, "specifications")["weight"] = _weight(parts)
    if "unit" in weight and "specifications.weight.unit" in parts:
        _remove_problem(row, "specifications.weight", "UNIT_MISSING")


def _remove_problem(row: NormalisedRow, start: str, code: str) -> None:
    """Remove a problem of a cell that another column resolves."""
    row.problems[:] = [
        one for one in row.problems
        if one.code != code or not (one.target or "").startswith(start)
    ]  # fmt: skip


def _weight(parts: dict[str, Any]) -> dict[str, Any]:
    weight = dict(parts["specifications.weight"])
    unit = parts.get("specifications.weight.unit")
    if not isinstance(unit, str) or KINDS.get(unit) != "mass":
        return weight
    own = weight.get("unit")
    if own is None:
        weight["unit"] = unit
    elif own != unit:
        # Shopify exports grams and, beside them, the unit to display.
        exact = Decimal(str(weight["value"])) * FACTORS[own] / FACTORS[unit]
        return {"value": plain(format(exact.normalize(), "f")), "unit": unit}
    return weight


def _add_dimensions(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    sides = {
        side: parts[f"specifications.dimensions.{side}"]
        for side in _SIDES
        if f"specifications.dimensions.{side}" in parts
    }
    whole: dict[str, Any] | None = parts.get("specifications.dimensions")
    if whole is None and not sides:
        return
    found: dict[str, Any] = {}
    unit = parts.get("specifications.dimensions.unit")
    if KINDS.get(unit or "") != "length":
        unit = None
    unit = unit or next((side["unit"] for side in sides.values() if "unit" in side), None)
    for side, measure in sides.items():
        own = measure.get("unit")
        if own is None or unit is None or own == unit:
            found[side] = measure["value"]
        else:
            exact = Decimal(str(measure["value"])) * FACTORS[own] / FACTORS[unit]
            found[side] = plain(format(exact.normalize(), "f"))
    if unit is not None and found:
        found["unit"] = unit
        if "specifications.dimensions.unit" in parts:
            _remove_problem(row, "specifications.dimensions", "UNIT_MISSING")
    _section(row.product, "specifications")["dimensions"] = found or dict(whole or {})


def _columns_of(target: str, targets: frozenset[str]) -> tuple[str, ...]:
    """`images`, `images.2` … in the order of their numbers."""
    found = [t for t in targets if t == target or t.removeprefix(target + ".").isdecimal()]
    return tuple(sorted(found, key=lambda t: (len(t), t)))


def _joined(columns: tuple[str, ...], parts: dict[str, Any]) -> list[str]:
    """Each value once. Always a new list, since values are cached for other rows."""
    joined: dict[str, None] = {}
    for column in columns:
        joined.update(dict.fromkeys(parts.get(column, ())))
    return list(joined)


def _add_images(
    columns: tuple[str, ...], plan: Plan, row: NormalisedRow, parts: dict[str, Any]
) -> None:
    urls = _joined(columns, parts)[:MAX_IMAGES]
    if not urls:
        return
    images = [{"url": url, "type": "secondary"} for url in urls]
    images[0]["type"] = "primary"
    alt = parts.get("images.alt")
    if alt:
        images[0]["alt"] = alt
    row.product["images"] = images


def _add_list(
    columns: tuple[str, ...], plan: Plan, row: NormalisedRow, parts: dict[str, Any]
) -> None:
    values = _joined(columns, parts)
    if values:
        section, _, name = columns[0].partition(".")
        _section(row.product, section)[name.partition(".")[0]] = values


def _add_nested(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    """Variants inside the record; fields that the product lacks are taken from the first variant,
    as for variants in rows of their own."""
    variants: list[dict[str, Any]] | None = parts.get("variants")
    if not variants:
        return
    for variant in variants:
        if "price" in variant and plan.currency:
            variant["price"].setdefault("currency", plan.currency)
    product, first, source = row.product, variants[0], row.lineage["variants"]
    for name in ("identifiers", "price", "availability"):
        if name in first and name not in product:
            product[name] = dict(first[name])
            row.lineage.update({f"{name}.{part}": source for part in first[name]})
            if name == "price":
                _add_base(plan, row, product[name], product[name].get("currency"))
    if len(variants) > 1 or variants[0]["options"]:
        product["variants"] = variants


def _add_identity(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    product = row.product
    if "sourceId" not in product and row.group is not None and plan.is_grouped_by_handle:
        product["sourceId"] = row.group
        column, raw, _, sure = row.lineage["variants.group"]
        row.lineage["sourceId"] = (column, raw, "from_handle", sure)
    if "sourceId" not in product:
        identifiers = product.get("identifiers", {})
        for name in ("sku", "gtin", "mpn"):
            if name in identifiers:
                product["sourceId"] = identifiers[name]
                source = row.lineage.get(f"identifiers.{name}") or row.lineage["variants"]
                column, raw, _, sure = source
                row.lineage["sourceId"] = (column, raw, f"from_{name}", sure)
                break
    source_name = plan.profile.source
    if source_name:
        product["source"] = source_name
        if "sourceId" in product:
            product["id"] = f"{source_name}:{product['sourceId']}"
