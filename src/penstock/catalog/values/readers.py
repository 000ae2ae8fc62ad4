"""The reader of each kind of field, configured with the column's style."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.catalog.values import (
    availability,
    booleans,
    categories,
    currencies,
    dates,
    dimensions,
    gtin,
    images,
    nested_variants,
    numbers,
    option_cells,
    price_tiers,
    prices,
    publication,
    text,
    units,
)
from penstock.catalog.values.dates import DateOrder
from penstock.catalog.values.numbers import DecimalStyle
from penstock.catalog.values.result import EMPTY, NormalisedValue
from penstock.catalog.word_lists import words

Reader = Callable[[str], NormalisedValue]


@dataclass(frozen=True, slots=True)
class Style:
    """The settings of a column for reading its cells."""

    decimal: DecimalStyle | None = None
    dates: DateOrder | None = None
    currency: str | None = None
    unit: str | None = None
    tax_included: bool | None = None
    sides: tuple[str, ...] = ()
    off: bool = False  # the header mentions discounts
    listed: bool = False  # a cell may contain several values, separated by commas
    finnish: bool = False  # the header is Finnish


# Kinds whose cells repeat, so that their values are cached.
REPEATING = words(
    """
    category price per_unit currency unit pack tiers step percent tax_rate boolean availability
    count quantity lead_time date rating weight length dimensions tags published attributes
    option_names option_values"""
)


def reader(kind: str, style: Style) -> Reader:
    decimal, unit = style.decimal, style.unit
    price_style = prices.PriceStyle(decimal, style.currency, style.tax_included, unit)
    made: dict[str, Reader] = {
        "line": text.read_line,
        "text": text.read_text,
        "identifier": gtin.read_identifier,
        "gtin": gtin.read_gtin,
        "category": categories.read_categories if style.listed else categories.read_category,
        "price": lambda raw: prices.read_price(raw, price_style),
        "per_unit": lambda raw: prices.read_price(raw, price_style),
        "currency": lambda raw: currencies.read_currency(raw, style.currency),
        "unit": units.read_finnish_unit if style.finnish else units.read_unit,
        "pack": lambda raw: units.read_pack(raw, decimal, unit),
        "tiers": lambda raw: price_tiers.read_tier_cell(
            raw, decimal, style.currency, off=style.off
        ),
        "step": price_tiers.read_step,
        "percent": lambda raw: price_tiers.read_percent(raw, decimal),
        "tax_rate": lambda raw: numbers.read_tax_rate(raw, decimal),
        "boolean": booleans.read_tax_included,
        "availability": lambda raw: availability.read_availability(raw, decimal),
        "count": lambda raw: numbers.read_count(raw, decimal),
        "quantity": lambda raw: availability.read_quantity(raw, decimal),
        "lead_time": lambda raw: availability.read_lead_time(raw, unit),
        "date": lambda raw: dates.read_date(raw, style.dates),
        "datetime": lambda raw: dates.read_datetime(raw, style.dates),
        "rating": lambda raw: numbers.read_rating(raw, decimal),
        "weight": lambda raw: units.read_measure(raw, "mass", unit, decimal),
        "length": lambda raw: units.read_measure(raw, "length", unit, decimal),
        "dimensions": lambda raw: dimensions.read_dimensions(raw, unit, decimal, style.sides),
        "url": images.read_url,
        "images": images.read_images,
        "tags": categories.read_tags,
        "variants": nested_variants.read_variants,
        "custom": read_custom,
        "published": publication.read_published,
        "attributes": option_cells.read_attributes,
        "listed_variants": option_cells.read_listed,
        "option_names": option_cells.read_names,
        "option_values": option_cells.read_values,
    }
    return made[kind]


def read_custom(raw: str) -> NormalisedValue:
    """A cell of a custom field: its cleaned text."""
    if raw.isascii() and raw.isprintable() and raw[0] != " " and raw[-1] != " ":
        return NormalisedValue(raw[: text.MAX_TEXT_LENGTH], "custom")
    tidied = text.tidy_lines(raw[: text.MAX_TEXT_LENGTH])
    return NormalisedValue(tidied, "custom") if tidied else EMPTY
