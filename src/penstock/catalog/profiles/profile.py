"""A profile: how the files of a supplier are read, with a name and a version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import orjson
import tomli_w

from penstock.catalog.fields import full_target, kind_of
from penstock.catalog.mapping.proposal import Proposal
from penstock.catalog.mapping.synonyms import Hints, names_handle
from penstock.catalog.profiles.checks import (
    MAX_COLUMNS,
    Contract,
    Key,
    Winner,
    check_bounds,
    check_types,
    parse_toml,
    unusable,
)
from penstock.catalog.values.currencies import CODES
from penstock.catalog.values.dates import DateOrder
from penstock.catalog.values.meanings import word_key
from penstock.catalog.values.numbers import DecimalStyle
from penstock.catalog.values.units import unit_of

IGNORED = "ignore"
# In `strict`.
ALL_FIELDS = "*"
# A price that cannot be read is worth a look; a stock or a GTIN is worth a warning.
DEFAULT_STRICT = ("price.amount",)
# In percent, up or down.
DEFAULT_PRICE_GUARD = 50.0


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """The rule of one column. ``target`` None keeps it as a custom field, `ignore` drops it. The
    rest are defaults for cells that do not say it themselves."""

    target: str | None = None
    decimal: DecimalStyle | None = None
    dates: DateOrder | None = None
    currency: str | None = None
    unit: str | None = None
    tax_included: bool | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    version: int = 1
    source: str = ""
    fingerprint: str | None = None
    columns: Mapping[str, ColumnRule] = field(default_factory=dict)
    decimal: DecimalStyle | None = None
    dates: DateOrder | None = None
    currency: str | None = None
    weight_unit: str | None = None
    length_unit: str | None = None
    required: tuple[str, ...] | None = None
    rules: Mapping[str, Any] | None = None
    contract: Contract = "evolve"
    winner: Winner = "first"
    key: Key = "sku"
    # Price changes of a known product above this percentage are held back; 0: none are.
    price_guard: float = DEFAULT_PRICE_GUARD
    # Fields whose unreadable values make a row invalid; `*` means all. Identity and required fields
    # always do; other fields are left empty with a warning.
    strict: tuple[str, ...] = DEFAULT_STRICT
    # What words mean, by field: the cell is read as if it had this text. Empty: as an empty cell.
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check(self)

    def to_toml(self) -> str:
        """The TOML that `from_toml` reads. Rules are a JSON string, since TOML has no null."""
        shown: dict[str, Any] = {"name": self.name, "version": self.version}
        for name in _PLAIN:
            value = getattr(self, name)
            if value not in (None, ""):
                shown[name] = list(value) if isinstance(value, tuple) else value
        if self.rules is not None:
            shown["rules"] = orjson.dumps(dict(self.rules), option=orjson.OPT_INDENT_2).decode()
        if self.values:
            shown["values"] = {target: dict(words) for target, words in self.values.items()}
        shown["columns"] = {
            header: {name: value for name, value in _rule_json(rule).items() if value is not None}
            for header, rule in self.columns.items()
        }
        return tomli_w.dumps(shown, multiline_strings=True)


_PLAIN = (
    "source", "fingerprint", "decimal", "dates", "currency", "weight_unit", "length_unit",
    "required", "strict", "contract", "winner", "key", "price_guard",
)  # fmt: skip
_RULE_FIELDS = tuple(ColumnRule.__dataclass_fields__)


def _rule_json(rule: ColumnRule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in _RULE_FIELDS}


def from_toml(text: str) -> Profile:
    """A profile from TOML. Raises BadInput for unknown settings, wrong types and large input."""
    return from_input(parse_toml(text))


def from_input(given: Mapping[str, Any]) -> Profile:
    """A profile from a caller's mapping, checked for types and sizes."""
    values = _with_parsed_rules(given)
    check_bounds(values)
    if not isinstance(values.get("name"), str) or not values["name"]:
        raise unusable("it needs a name", "name")
    return from_json(values)


def from_json(read: Mapping[str, Any]) -> Profile:
    """A profile from a stored mapping. Files may have longer headers than callers may send,
    so only types are checked."""
    values = _with_parsed_rules(read)
    check_types(values)
    columns = values.get("columns", {})
    values["columns"] = {header: _rule(header, rule) for header, rule in columns.items()}
    if values.get("price_guard", DEFAULT_PRICE_GUARD) is None:
        values["price_guard"] = 0.0
    for name in ("required", "strict"):
        if values.get(name) is not None:
            values[name] = tuple(values[name])
    if "values" in values:
        values["values"] = _value_words(values["values"] or {})
    if values.get("strict", ()) is None:
        del values["strict"]
    return Profile(**values)


def _with_parsed_rules(read: Mapping[str, Any]) -> dict[str, Any]:
    """Rules may be a JSON string, as `to_toml` writes them."""
    values = dict(read)
    if isinstance(values.get("rules"), str):
        try:
            values["rules"] = orjson.loads(values["rules"])
        except orjson.JSONDecodeError as error:
            raise unusable(f"`rules` is not valid JSON: {error}", "rules") from error
    return values


def to_json(profile: Profile) -> dict[str, Any]:
    shown = {name: getattr(profile, name) for name in ("name", "version", *_PLAIN)}
    shown["required"] = None if profile.required is None else list(profile.required)
    shown["strict"] = list(profile.strict)
    shown["rules"] = None if profile.rules is None else dict(profile.rules)
    shown["columns"] = {header: _rule_json(rule) for header, rule in profile.columns.items()}
    if profile.values:
        shown["values"] = {target: dict(words) for target, words in profile.values.items()}
    if profile.price_guard == DEFAULT_PRICE_GUARD:
        # A worker of the previous version does not know the field.
        del shown["price_guard"]
    return shown


def from_proposal(name: str, proposal: Proposal, **options: Any) -> Profile:
    """The proposal as a profile that can be changed and saved."""
    columns: dict[str, ColumnRule] = {}
    for column in proposal.columns:
        columns.setdefault(column.header, rule_for(column.target, column.hints))
    options = {"key": likely_key(columns), **options}
    return Profile(name, fingerprint=proposal.fingerprint, columns=columns, **options)


def likely_key(columns: Mapping[str, ColumnRule]) -> Key:
    """The identifier by which rows of these columns are distinguished."""
    filled = {rule.target for rule in columns.values()}
    handles = [name for name, rule in columns.items() if rule.target == "variants.group"]
    if any(names_handle(name) for name in handles) or "variants.names" in filled:
        return "sourceId"
    if "identifiers.sku" not in filled:
        if "sourceId" in filled:
            return "sourceId"
        if "identifiers.gtin" in filled:
            return "gtin"
    return "sku"


def rule_for(target: str | None, hints: Hints) -> ColumnRule:
    """A column's rule with the hints of its header that apply to the field."""
    if target is None or target == IGNORED:
        return ColumnRule(target)
    own = hints.for_kind(kind_of(target))
    return ColumnRule(target, currency=own.currency, unit=own.unit, tax_included=own.tax_included)


def _value_words(given: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Words by the full names of their fields, in the form in which cells are compared."""
    found: dict[str, dict[str, str]] = {}
    for field_name, meanings in given.items():
        target = full_target(field_name)
        if target is None:
            raise unusable(f"`values`: there is no field {field_name!r}", "values", field_name)
        known = found.setdefault(target, {})
        known.update({word_key(word): value for word, value in meanings.items()})
    return found


def with_values(profile: Profile, values: Mapping[str, Mapping[str, str]]) -> Profile:
    """The profile with more words; they win over its own."""
    if not values:
        return profile
    both = {target: dict(words) for target, words in profile.values.items()}
    for target, words in _value_words(values).items():
        both[target] = both.get(target, {}) | words
    return replace(profile, values=both)


def _rule(header: str, read: str | Mapping[str, Any]) -> ColumnRule:
    values: dict[str, Any] = {"target": read} if isinstance(read, str) else dict(read)
    target = values.get("target")
    if target is not None and target != IGNORED:
        full = full_target(target)
        if full is None:
            what = f"column {header!r}: there is no field {target!r}"
            raise unusable(what, "columns", header, "target")
        values["target"] = full
    return ColumnRule(**values)


def _check(profile: Profile) -> None:
    seen: dict[str, str] = {}
    if len(profile.columns) > MAX_COLUMNS:
        raise unusable(f"more than {MAX_COLUMNS} columns", "columns")
    for header, rule in profile.columns.items():
        if rule.target is None or rule.target == IGNORED:
            continue
        if rule.target in seen:
            what = f"{rule.target} is filled by {seen[rule.target]!r} and by {header!r}"
            raise unusable(what, "columns", header, "target")
        seen[rule.target] = header
    for value, known, name in (
        (profile.contract, get_args(Contract), "contract"),
        (profile.winner, get_args(Winner), "winner"),
        (profile.key, get_args(Key), "key"),
    ):
        if value not in known:
            raise unusable(f"`{name}` is one of {', '.join(known)}, not {value!r}", name)
    _check_style(profile)
    for header, rule in profile.columns.items():
        _check_style(rule, "columns", header)
    for name in ("weight_unit", "length_unit"):
        unit = getattr(profile, name)
        if unit is not None and unit_of(unit) is None:
            raise unusable(f"{unit!r} is not a unit", name)
    _check_fields("required", profile.required or ())
    _check_fields("strict", [name for name in profile.strict if name != ALL_FIELDS])


def _check_fields(name: str, targets: Iterable[str]) -> None:
    for target in targets:
        if full_target(target) is None:
            raise unusable(f"`{name}` names {target!r}, which is not a field", name)


def _check_style(rule: Profile | ColumnRule, *place: str) -> None:
    if rule.decimal not in (None, "comma", "point"):
        what = f"`decimal` is comma or point, not {rule.decimal!r}"
        raise unusable(what, *place, "decimal")
    if rule.dates not in (None, "dmy", "mdy"):
        raise unusable(f"`dates` is dmy or mdy, not {rule.dates!r}", *place, "dates")
    if rule.currency is not None and rule.currency not in CODES:
        raise unusable(f"{rule.currency!r} is not a currency", *place, "currency")
