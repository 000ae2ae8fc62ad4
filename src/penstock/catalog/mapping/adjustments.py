"""Changes to the fields of the columns that depend on which other fields the file has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from penstock.catalog.fields import BY_TARGET, TIERS
from penstock.catalog.mapping import column_content
from penstock.catalog.mapping.column_options import MIN_CONFIDENCE, ColumnOptions
from penstock.catalog.mapping.header_meaning import meaning
from penstock.catalog.mapping.header_words import without_locale
from penstock.catalog.mapping.substitutes import (
    find_description,
    find_price,
    find_stock,
    find_title,
)
from penstock.catalog.mapping.synonyms import header_key, platform_fields
from penstock.catalog.word_lists import load, words

_PATH = re.compile(r"[:./]")
SUBSTITUTE = 0.6
GUESSED = 0.5
MAX_TITLE_LENGTH = 120
_IDENTIFIERS = frozenset({"sourceId", "identifiers.sku", "identifiers.gtin", "identifiers.mpn"})
_NET = words(load("header_words")["net"])


def adjust(
    header: Sequence[str],
    chosen: list[str | None],
    thoughts: list[ColumnOptions],
    samples: Sequence[Sequence[str]],
    platform: str | None,
) -> None:
    """Change ``chosen``, the field of each column, in place."""
    has_prices = platform is None or "price.amount" in platform_fields(platform)
    _split_gross_and_net(header, chosen, thoughts)
    _prefer_selling_price(header, chosen, thoughts)
    _prefer_available(chosen, thoughts, samples)
    if has_prices and not _with_a_discount(chosen, thoughts):
        _with_a_price(header, chosen, thoughts, samples)
    _with_a_stock(header, chosen, thoughts, samples)
    _with_a_title(header, chosen, thoughts, samples)
    _with_named_articles(chosen, thoughts, samples)
    if platform is None:
        _with_a_description(header, chosen, thoughts, samples)
    _with_a_part_number(chosen, thoughts)
    _split_unit_and_count(chosen, thoughts, samples)
    _with_further_columns(chosen, thoughts)
    _without_other_meanings(header, chosen, thoughts, samples, platform)


_SELLING_PRICES = (frozenset({"sales", "price"}), frozenset({"vk", "price"}))
# Prices of another kind that become the price of a file without one, the best first.
_INSTEAD_OF_PRICE = ("price.list", "price.cost", "price.recommended")
# Beside these a sale price is the lower one of two prices.
_PRICED_BY_SALE = {"price.list", "price.compareAt", "price.salePeriod"}
# A least amount that has one of these words is one of orders.
_OF_CARTS = frozenset({"order", "orders", "purchase", "sales", "cart"})
_OF_ORDERS = frozenset({"order", "orders", "quantity", "purchase", "unit", "sales"})


def _split_gross_and_net(
    header: Sequence[str], chosen: list[str | None], thoughts: list[ColumnOptions]
) -> None:
    """`Bruttopreis`, `Rabatt`, `Nettopreis`: beside a discount or its group the net price is what
    is paid, and a price that does not say so the list price."""
    has_discount = not {"price.discount", "price.discountGroup"}.isdisjoint(chosen)
    if not has_discount or "price.amount" not in chosen or "price.list" in chosen:
        return
    index = chosen.index("price.amount")
    is_net = [not _NET.isdisjoint(header_key(name).split()) for name in header]
    others = [
        other
        for other in _free(chosen)
        if "price.amount" in thoughts[other].options and is_net[other] != is_net[index]
    ]
    if not others:
        return
    net, gross = (index, others[0]) if is_net[index] else (others[0], index)
    thoughts[gross].options["price.list"] = thoughts[gross].options["price.amount"]
    chosen[gross], chosen[net] = "price.list", "price.amount"


def _prefer_selling_price(
    header: Sequence[str], chosen: list[str | None], thoughts: list[ColumnOptions]
) -> None:
    """Beside `Preis` a column `VK-Preis` is what customers pay."""
    if "price.amount" not in chosen:
        return
    index = chosen.index("price.amount")
    if meaning(header_key(header[index])) != {"price"}:
        return
    for other in _free(chosen):
        said = meaning(header_key(header[other]))
        if "price.amount" in thoughts[other].options and said in _SELLING_PRICES:
            chosen[index], chosen[other] = None, "price.amount"
            return


def _with_names(
    header: Sequence[str],
    chosen: list[str | None],
    thoughts: list[ColumnOptions],
    samples: Sequence[Sequence[str]],
) -> None:
    """Without a title and a description, a column of models or of other names is the title of
    products that have an identifier. Without one the file is stopped with a question."""
    if _IDENTIFIERS.isdisjoint(chosen):
        return
    weak = [
        index
        for index, target in enumerate(chosen)
        if target == "identifiers.sku" and thoughts[index].options[target][0] < 0.8
    ]
    index = find_title(header, [*weak, *_unnamed(chosen, thoughts)], samples)
    if index is not None:
        thoughts[index].options["title"] = (GUESSED, "content")
        chosen[index] = "title"


def _prefer_available(
    chosen: list[str | None], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> None:
    """`On hand`, `Available`: beside the pieces in the warehouse, those that can be sold are the
    stock."""
    if not {"availability.quantity", "availability.status"} <= set(chosen):
        return
    index, status = (chosen.index(f"availability.{one}") for one in ("quantity", "status"))
    yields = thoughts[index].options["availability.quantity"][0] < 1
    if yields and status < len(samples) and column_content.are_amounts(samples[status]):
        chosen[index], chosen[status] = None, "availability.quantity"


def _with_a_discount(chosen: list[str | None], thoughts: list[ColumnOptions]) -> bool:
    """Whether the price is the list price less the discount: there is no other price, and the
    column of the price is named as the list price."""
    if "price.discount" not in chosen or any((one or "").startswith(TIERS) for one in chosen):
        return False
    if "price.amount" in chosen:
        index = chosen.index("price.amount")
        if "price.list" in chosen or "price.list" not in thoughts[index].options:
            return False
        chosen[index] = "price.list"
    return "price.list" in chosen


def _with_a_price(
    header: Sequence[str],
    chosen: list[str | None],
    thoughts: list[ColumnOptions],
    samples: Sequence[Sequence[str]],
) -> None:
    """Without another price, a column with a word for price, or else a list price, cost or
    recommended price is the price. Beside the cost a retail price is what customers pay:
    `Закупочная цена`, `Розничная цена`."""
    if any(one == "price.amount" or (one or "").startswith(TIERS) for one in chosen):
        return
    order = list(_INSTEAD_OF_PRICE)
    if {"price.sale", "price.recommended"} <= set(chosen) and not _PRICED_BY_SALE & set(chosen):
        order.insert(0, "price.sale")  # `MRP` and `Offer price`.
    if not {"price.list", "price.cost", "price.recommended"} & set(chosen):
        order.append("price.sale")
    if "price.recommended" in chosen and ("price.cost" in chosen or "price.list" not in chosen):
        said = meaning(header_key(header[chosen.index("price.recommended")]))
        if "retail" in said and "recommended" not in said:
            order.insert(0, "price.recommended")
    if (
        order[0] == _INSTEAD_OF_PRICE[0]
        and (named := find_price(header, _unnamed(chosen, thoughts), samples)) is not None
    ):
        thoughts[named].options["price.amount"] = (SUBSTITUTE, "fuzzy")
        chosen[named] = "price.amount"
        return
    for target in order:
        if target in chosen:
            index = chosen.index(target)
            thoughts[index].options["price.amount"] = thoughts[index].options[target]
            chosen[index] = "price.amount"
            return


def _with_a_stock(
    header: Sequence[str],
    chosen: list[str | None],
    thoughts: list[ColumnOptions],
    samples: Sequence[Sequence[str]],
) -> None:
    """Without another stock, the column with a word for stock: `Current Quantity Main Street`."""
    if "availability.quantity" in chosen:
        return
    index = find_stock(header, _unnamed(chosen, thoughts), samples)
    if index is not None:
        thoughts[index].options["availability.quantity"] = (SUBSTITUTE, "fuzzy")
        chosen[index] = "availability.quantity"


def _with_a_title(
    header: Sequence[str],
    chosen: list[str | None],
    thoughts: list[ColumnOptions],
    samples: Sequence[Sequence[str]],
) -> None:
    """Without a title column, use a column of short descriptions: many price lists call the
    product name description."""
    if "title" not in chosen and "description" not in chosen:
        _with_names(header, chosen, thoughts, samples)
    if "description" not in chosen or not _are_short(samples, chosen.index("description")):
        return
    index = chosen.index("description")
    if "title" in chosen and not _give_up_codes(chosen, thoughts, samples):
        return
    confidence, how = thoughts[index].options["description"]
    thoughts[index].options["title"] = (round(confidence * 0.8, 3), how)
    chosen[index] = "title"
    # The same text in another language is not the description.
    stem = without_locale(header[index])
    same = [stem is not None and without_locale(name) == stem for name in header]
    _with_another(chosen, thoughts, "description", same)


def _are_short(samples: Sequence[Sequence[str]], index: int) -> bool:
    cells = column_content.filled(samples[index]) if index < len(samples) else []
    return sorted(map(len, cells))[len(cells) // 2 :][:1] <= [MAX_TITLE_LENGTH]


def _give_up_codes(
    chosen: list[str | None], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> bool:
    """Whether the title contained codes and the description contains names. The codes become the
    SKU, if there is no other."""
    title, description = chosen.index("title"), chosen.index("description")
    if max(title, description) >= len(samples):
        return False
    if not column_content.are_codes(samples[title]):
        return False
    if not column_content.are_phrases(samples[description]):
        return False
    chosen[title] = None
    if "identifiers.sku" not in chosen:
        thoughts[title].options["identifiers.sku"] = (SUBSTITUTE, "content")
        chosen[title] = "identifiers.sku"
    return True


def _with_named_articles(
    chosen: list[str | None], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> None:
    """Without a title, a column of article numbers that contains names is the title: Bulgarian
    `Артикул` beside `Код`."""
    if "title" in chosen or not {"identifiers.sku", "sourceId"} <= set(chosen):
        return
    index, code = chosen.index("identifiers.sku"), chosen.index("sourceId")
    if index < len(samples) and column_content.are_names(samples[index]):
        thoughts[index].options["title"] = (SUBSTITUTE, "content")
        thoughts[code].options["identifiers.sku"] = thoughts[code].options["sourceId"]
        chosen[index], chosen[code] = "title", "identifiers.sku"


def _with_a_part_number(chosen: list[str | None], thoughts: list[ColumnOptions]) -> None:
    """`Part no` of products without a maker and without another SKU is the SKU."""
    if "identifiers.mpn" not in chosen or not {"identifiers.sku", "brand"}.isdisjoint(chosen):
        return
    index = chosen.index("identifiers.mpn")
    if "identifiers.sku" in thoughts[index].options:
        chosen[index] = "identifiers.sku"


def _split_unit_and_count(
    chosen: list[str | None], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> None:
    """`Prisenhed` with 1 and 100 beside `Enhed`: for how many of which unit a price is."""
    if "price.unit" not in chosen or "price.unit.count" in chosen:
        return
    index = chosen.index("price.unit")
    others = [other for other in _free(chosen) if "price.unit" in thoughts[other].options]
    if not others or index >= len(samples) or not column_content.are_numbers(samples[index]):
        return
    thoughts[index].options["price.unit.count"] = thoughts[index].options["price.unit"]
    chosen[index], chosen[others[0]] = "price.unit.count", "price.unit"


def _has_highest(header: Sequence[str], of: frozenset[str]) -> bool:
    """`Maximum Quantity` or `Quantità Target` for what a least amount is of, except orders."""
    highest = (of | {"maximum"}, of | {"target"})
    return _OF_CARTS.isdisjoint(of) and any(meaning(header_key(name)) in highest for name in header)


def _is_least_stock(
    header: Sequence[str], chosen: Sequence[str | None], thoughts: Sequence[ColumnOptions]
) -> bool:
    """`minimo` beside `estoque` or `maximo`, `qtd_min` beside `qtd`, `Minimum Quantity` beside
    `Current Quantity` or `Maximum Quantity`, and `Store Minimum`, which does not say of what."""
    if "availability.minOrder" not in chosen:
        return False
    index = chosen.index("availability.minOrder")
    least = header_key(header[index])
    stock = ""
    if "availability.quantity" in chosen:
        stock = header_key(header[chosen.index("availability.quantity")])
    means, named = meaning(least), meaning(stock)
    if means == {"minimum"} and (
        stock or any(meaning(header_key(name)) == {"maximum"} for name in header)
    ):
        return True
    if stock and "minimum" in means and _has_highest(header, means - {"minimum"}):
        return True
    if stock and (least == f"{stock} min" or (means - {"minimum"} == named - {"current"} != named)):
        return True
    how = thoughts[index].options["availability.minOrder"][1]
    return how == "fuzzy" and "minimum" in means and means.isdisjoint(_OF_ORDERS)


# So many products with different suppliers are unlikely.
MIN_SUPPLIERS = 5


def _differs_per_product(chosen: Sequence[str | None], samples: Sequence[Sequence[str]]) -> bool:
    """Whether the column of the supplier's number has as many different cells as that of the
    product's."""
    named = [target for target in ("identifiers.sku", "sourceId") if target in chosen]
    if not named or "supplier.id" not in chosen:
        return False
    of_products, of_suppliers = (
        set(column_content.filled(samples[index])) if index < len(samples) else set()
        for index in (chosen.index(named[0]), chosen.index("supplier.id"))
    )
    return len(of_suppliers) >= max(MIN_SUPPLIERS, len(of_products))


def _without_other_meanings(
    header: Sequence[str],
    chosen: list[str | None],
    thoughts: Sequence[ColumnOptions],
    samples: Sequence[Sequence[str]],
    platform: str | None,
) -> None:
    """Names that mean something else beside the other columns of the file: without suppliers the
    stars are those of the product, beside the stock `Minimum` is the least stock, and a `Supplier
    code` that differs in every product is the supplier's code of the product."""
    said = {
        target: header_key(name)
        for name, target in zip(header, chosen, strict=True)
        if target is not None
    }
    without = set()
    if not {"supplier.name", "supplier.id"} & said.keys() and "supplier" not in meaning(
        said.get("supplier.rating", "")
    ):
        without.add("supplier.rating")
    if _differs_per_product(chosen, samples):
        without.add("supplier.id")
    if platform is None and _is_least_stock(header, chosen, thoughts):
        without.add("availability.minOrder")
    if "price.sale" not in said and platform is None:
        without.add("price.salePeriod")
    if "price.amount" not in said and "price.currency" in said:
        index = chosen.index("price.currency")
        is_guess = thoughts[index].options["price.currency"][1] == "content"
        if is_guess and _PATH.search(header[index]):
            # `surcharge:currency` is that of another price.
            without.add("price.currency")
    chosen[:] = [None if target in without else target for target in chosen]


def _free(chosen: Sequence[str | None]) -> list[int]:
    return [index for index, target in enumerate(chosen) if target is None]


def _unnamed(chosen: Sequence[str | None], thoughts: Sequence[ColumnOptions]) -> list[int]:
    """Columns without a field whose name is no known one."""
    return [
        index
        for index in _free(chosen)
        if all(how == "content" for _, how in thoughts[index].options.values())
    ]


def _with_a_description(
    header: Sequence[str],
    chosen: list[str | None],
    thoughts: list[ColumnOptions],
    samples: Sequence[Sequence[str]],
) -> None:
    """Without another description, the short description is it."""
    if "title" not in chosen or "description" in chosen:
        return
    index = find_description(header, _free(chosen), samples)
    if index is not None:
        thoughts[index].options["description"] = (SUBSTITUTE, "fuzzy")
        chosen[index] = "description"


def _with_another(
    chosen: list[str | None],
    thoughts: list[ColumnOptions],
    target: str,
    excluded: Sequence[bool],
) -> None:
    """The best other column of a field that has become free."""
    free = [
        (thought.options[target][0], -index)
        for index, thought in enumerate(thoughts)
        if chosen[index] is None
        and not excluded[index]
        and thought.options.get(target, (0.0,))[0] >= MIN_CONFIDENCE
    ]
    if free:
        chosen[-max(free)[1]] = target


def _with_further_columns(chosen: list[str | None], thoughts: list[ColumnOptions]) -> None:
    """Further columns of a field that takes several: `additional_image_link`."""
    taken = {target for target in chosen if target is not None}
    for index, thought in enumerate(thoughts):
        if chosen[index] is not None:
            continue
        for target, (confidence, how) in thought.options.items():
            is_named = how == "exact" or (
                target == "images" and (how == "fuzzy" or thought.looks_like == "image_url")
            )
            if not is_named or target not in taken or confidence < MIN_CONFIDENCE:
                continue
            if target in BY_TARGET and BY_TARGET[target].many:
                number = next(n for n in count(2) if f"{target}.{n}" not in taken)
                further = f"{target}.{number}"
                thought.options[further] = (round(confidence * 0.95, 3), how)
                chosen[index] = further
                taken.add(further)
                break
