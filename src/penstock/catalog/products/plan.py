"""Compile mapping, profile and column decisions into a plan of steps, once per job."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from penstock.catalog.fields import TIERS, kind_of
from penstock.catalog.mapping.column_decisions import UNDECIDED, ColumnDecision
from penstock.catalog.mapping.synonyms import (
    MAX_HEADER_LENGTH,
    candidates,
    names_finnish_unit,
    names_handle,
    names_several_categories,
)
from penstock.catalog.mapping.tier_columns import mentions_discounts
from penstock.catalog.products.row import Source
from penstock.catalog.profiles.profile import IGNORED, ColumnRule, Profile
from penstock.catalog.values.currencies import CODES, Rates
from penstock.catalog.values.dimensions import sides_named
from penstock.catalog.values.meanings import with_meanings
from penstock.catalog.values.readers import REPEATING, Reader, Style, reader
from penstock.catalog.values.result import NormalisedValue
from penstock.catalog.values.text import tidy_line
from penstock.catalog.values.units import read_unit, unit_of
from penstock.catalog.word_lists import words
from penstock.model.errors import BadInput

# `*Action(SiteID=UK|Currency=GBP)`: a setting of the whole file in the name of a column.
_CURRENCY_SETTING = re.compile(r"(?<![A-Za-z])[Cc]urrency=(?P<code>[A-Z]{3})(?![A-Za-z])")

# Cached values per column.
MAX_CACHED_CELLS = 4_096

# Fields whose value goes into the product unchanged; `assemble` handles all others.
_DIRECT = words(
    """
    title description brand sourceId supplier.id supplier.name supplier.rating supplier.location
    specifications.material identifiers.sku identifiers.gtin identifiers.mpn metadata.url
    metadata.lastUpdated"""
)


class CellCache(dict[str, NormalisedValue]):
    """A bounded cache of cells that were read; when full, new cells are read each time."""

    def __init__(self, read: Reader) -> None:
        self._read = read

    def __missing__(self, raw: str) -> NormalisedValue:
        found = self._read(raw)
        if len(self) < MAX_CACHED_CELLS:
            self[raw] = found
        return found


class Step(NamedTuple):
    """One column: cell, field and reader. ``section`` is None at the top level of the
    product and empty for a value that `assemble` combines with others."""

    column: int
    header: str
    target: str
    section: str | None
    name: str
    read: Reader


class CustomColumn(NamedTuple):
    column: int
    name: str


@dataclass(frozen=True, slots=True)
class Plan:
    header: tuple[str, ...]
    steps: tuple[Step, ...]
    custom: tuple[CustomColumn, ...]
    unknown: tuple[CustomColumn, ...]
    profile: Profile
    rates: Rates
    currency: str | None
    targets: frozenset[str]
    notes: tuple[str, ...]
    # The quoted text that names the currency, if it is outside the table.
    said: Source | None = None
    # Rows name their product by its handle, as Shopify writes it: the handle is the id of the
    # product, a SKU that of a variant.
    is_grouped_by_handle: bool = False

    @property
    def width(self) -> int:
        return len(self.header)


def compile_plan(
    header: Sequence[str],
    profile: Profile,
    decisions: Sequence[ColumnDecision] = (),
    rates: Rates | None = None,
) -> Plan:
    """Raises BadInput for a file that the profile's contract does not allow."""
    steps: list[Step] = []
    custom: list[CustomColumn] = []
    unknown: list[CustomColumn] = []
    names = _custom_names(header)
    notes: list[str] = []
    used: set[str] = set()
    for index, column in enumerate(header):
        rule = profile.columns.get(column) if column not in used else ColumnRule()
        used.add(column)
        if rule is None:
            (custom if profile.contract == "evolve" else unknown).append(
                CustomColumn(index, names[index])
            )
        elif rule.target is None:
            custom.append(CustomColumn(index, names[index]))
        elif rule.target != IGNORED:
            decision = decisions[index] if index < len(decisions) else UNDECIDED
            style = _style(profile, rule, decision, column)
            meanings = profile.values.get(rule.target, {})
            steps.append(_step(index, column, rule.target, style, meanings))
            notes += [f"{column}: {note}" for note in decision.notes if _note_applies(note, rule)]
    if unknown and profile.contract == "freeze":
        raise BadInput(
            "COLUMN_UNKNOWN",
            f"The profile {profile.name!r} is frozen and does not know these columns: "
            + ", ".join(repr(one.name) for one in unknown[:20])
            + ". Add them to the profile, or set its contract to `evolve`",
            columns=[one.name for one in unknown],
        )
    targets = frozenset(step.target for step in steps)
    return Plan(
        tuple(header),
        tuple(steps),
        tuple(custom),
        tuple(unknown),
        profile,
        rates or Rates(),
        profile.currency or _only_currency(header, profile, decisions),
        targets,
        tuple(notes),
        _quoted_currency(steps, profile, decisions),
        "sourceId" not in targets and _are_rows_of_products(steps),
    )


def _are_rows_of_products(steps: Sequence[Step]) -> bool:
    """Whether each row names its product by a handle, or is a combination of PrestaShop."""
    return any(one.target == "variants.names" for one in steps) or any(
        one.target == "variants.group" and names_handle(one.header) for one in steps
    )


def _quoted_currency(
    steps: Sequence[Step], profile: Profile, decisions: Sequence[ColumnDecision]
) -> Source | None:
    for step in steps:
        said = decisions[step.column].said if step.column < len(decisions) else None
        if said and kind_of(step.target) in ("price", "tiers"):
            own = profile.columns[step.header].currency
            return None if own else ("", said, "said_beside_the_table", 0.9)
    return None


def _step(index: int, header: str, target: str, style: Style, meanings: Mapping[str, str]) -> Step:
    kind = kind_of(target)
    section: str | None = ""
    name = target
    if target in _DIRECT:
        section, _, name = target.rpartition(".")
        section = section or None
    read = reader(kind, style)
    if meanings:
        read = with_meanings(read, meanings)
    if kind in REPEATING:
        read = CellCache(read).__getitem__
    return Step(index, header, target, section, name, read)


def _style(profile: Profile, rule: ColumnRule, decision: ColumnDecision, header: str) -> Style:
    """Explicit settings win over detected ones, and the column over the whole file."""
    target = rule.target or ""
    unit = rule.unit or decision.unit
    if unit is None and target.startswith("specifications.weight"):
        unit = profile.weight_unit
    elif unit is None and target.startswith("specifications.dimensions"):
        unit = profile.length_unit
    return Style(
        rule.decimal or profile.decimal or decision.decimal,
        rule.dates or profile.dates or decision.dates,
        rule.currency or _cell_currency(profile, decision),
        _unit(unit, target),
        decision.tax_included if rule.tax_included is None else rule.tax_included,
        sides_named(header) if target == "specifications.dimensions" else (),
        target == TIERS and mentions_discounts(header),
        target == "category" and names_several_categories(header),
        target == "price.unit" and names_finnish_unit(header),
    )


def _unit(unit: str | None, target: str) -> str | None:
    """Prices may be for `100 g`; other fields use the plain unit."""
    if not unit:
        return None
    return str(read_unit(unit).value) if target.startswith("price.") else unit_of(unit)


def _cell_currency(profile: Profile, decision: ColumnDecision) -> str | None:
    """The default for cells without a currency: that of the column, else the profile's."""
    return decision.currency or profile.currency


def _only_currency(
    header: Sequence[str], profile: Profile, decisions: Sequence[ColumnDecision]
) -> str | None:
    """The currency of a currency column with a single value, else the one named in the headers of
    other price columns."""
    for index, column in enumerate(header):
        rule = profile.columns.get(column)
        if rule is not None and rule.target == "price.currency" and index < len(decisions):
            return decisions[index].currency
    named = set()
    for column in header:
        if told := _CURRENCY_SETTING.search(column[:MAX_HEADER_LENGTH]):
            return told["code"] if told["code"] in CODES else None
        found, hints = candidates(column)
        if hints.currency and any(one.target.startswith("price.") for one in found):
            named.add(hints.currency)
    return named.pop() if len(named) == 1 else None


def _note_applies(note: str, rule: ColumnRule) -> bool:
    kind = kind_of(rule.target or "title")
    if note.startswith("Dates"):
        return kind in ("date", "datetime")
    if "urrenc" in note or "is read as" in note:
        return kind in ("price", "per_unit", "tiers", "currency") and rule.currency is None
    return kind in (
        "price",
        "per_unit",
        "tiers",
        "count",
        "quantity",
        "weight",
        "length",
        "dimensions",
        "pack",
    )


def _custom_names(header: Sequence[str]) -> list[str]:
    """Names of custom fields: the cleaned headers, numbered where they are equal."""
    names: list[str] = []
    taken: set[str] = set()
    for index, column in enumerate(header):
        base = tidy_line(column)[:100] or f"column {index + 1}"
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base} {number}"
        taken.add(name)
        names.append(name)
    return names
