"""A profile: what was learnt about a supplier's files, kept under a name and a version."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import orjson
import tomli_w

from penstock.catalog.currencies import CODES
from penstock.catalog.dates import DateOrder
from penstock.catalog.fields import full_target, kind_of
from penstock.catalog.mapping import Proposal
from penstock.catalog.numbers import DecimalStyle
from penstock.catalog.synonyms import Hints
from penstock.catalog.units import unit_of
from penstock.model.errors import BadInput

Contract = Literal["evolve", "freeze", "discard_row", "discard_value"]
Winner = Literal["first", "last", "most_complete"]
Key = Literal["sku", "gtin", "sourceId"]

MOST_COLUMNS = 2_000
IGNORED = "ignore"


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One column. ``target`` None keeps it as a custom field, `ignore` leaves it out. The rest is
    for files whose cells do not say it themselves."""

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

    def __post_init__(self) -> None:
        _check(self)

    def next_version(self, **changes: Any) -> Profile:
        return replace(self, version=self.version + 1, **changes)

    def to_toml(self) -> str:
        """As `from_toml` reads it. Rules are JSON, which TOML has no null for."""
        shown: dict[str, Any] = {"name": self.name, "version": self.version}
        for name in _PLAIN:
            value = getattr(self, name)
            if value not in (None, ""):
                shown[name] = list(value) if isinstance(value, tuple) else value
        if self.rules is not None:
            shown["rules"] = orjson.dumps(dict(self.rules), option=orjson.OPT_INDENT_2).decode()
        shown["columns"] = {
            header: {name: value for name, value in _rule_json(rule).items() if value is not None}
            for header, rule in self.columns.items()
        }
        return tomli_w.dumps(shown, multiline_strings=True)


_PLAIN = (
    "source", "fingerprint", "decimal", "dates", "currency", "weight_unit", "length_unit",
    "required", "contract", "winner", "key",
)  # fmt: skip
_RULE_FIELDS = tuple(ColumnRule.__dataclass_fields__)


def _rule_json(rule: ColumnRule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in _RULE_FIELDS}


def from_toml(text: str) -> Profile:
    """A profile from its TOML; what it does not know, it refuses."""
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadInput("INVALID_CONFIG", f"The profile is not valid TOML: {error}") from error
    return from_json(read)


def from_json(read: Mapping[str, Any]) -> Profile:
    """The same from a mapping, as a database or an API keeps it."""
    values = dict(read)
    unknown = set(values) - {"name", "version", "columns", "rules", *_PLAIN}
    if unknown:
        raise _bad(f"unknown settings: {', '.join(sorted(unknown))}")
    if not isinstance(values.get("name"), str):
        raise _bad("it needs a name")
    columns = values.get("columns", {})
    if not isinstance(columns, Mapping):
        raise _bad("`columns` must be a table of headers")
    values["columns"] = {header: _rule(header, rule) for header, rule in columns.items()}
    rules = values.get("rules")
    if isinstance(rules, str):
        try:
            values["rules"] = orjson.loads(rules)
        except orjson.JSONDecodeError as error:
            raise _bad(f"`rules` is not valid JSON: {error}") from error
    if values.get("required") is not None:
        values["required"] = tuple(values["required"])
    return Profile(**values)


def to_json(profile: Profile) -> dict[str, Any]:
    shown = {name: getattr(profile, name) for name in ("name", "version", *_PLAIN)}
    shown["required"] = None if profile.required is None else list(profile.required)
    shown["rules"] = None if profile.rules is None else dict(profile.rules)
    shown["columns"] = {header: _rule_json(rule) for header, rule in profile.columns.items()}
    return shown


def from_proposal(name: str, proposal: Proposal, **options: Any) -> Profile:
    """What was proposed, as a profile that can be changed and saved."""
    columns: dict[str, ColumnRule] = {}
    for column in proposal.columns:
        columns.setdefault(column.header, rule_for(column.target, column.hints))
    options = {"key": likely_key(columns), **options}
    return Profile(name, fingerprint=proposal.fingerprint, columns=columns, **options)


def likely_key(columns: Mapping[str, ColumnRule]) -> Key:
    """Rows are told apart by what they have."""
    filled = {rule.target for rule in columns.values()}
    if "identifiers.sku" not in filled:
        if "sourceId" in filled:
            return "sourceId"
        if "identifiers.gtin" in filled:
            return "gtin"
    return "sku"


def rule_for(target: str | None, hints: Hints) -> ColumnRule:
    """A column's rule with what its header says, as far as the field has use for it."""
    if target is None or target == IGNORED:
        return ColumnRule(target)
    own = hints.for_kind(kind_of(target))
    return ColumnRule(target, currency=own.currency, unit=own.unit, tax_included=own.tax_included)


def _rule(header: str, read: Any) -> ColumnRule:
    if isinstance(read, str):
        read = {"target": read}
    if not isinstance(read, Mapping) or set(read) - set(_RULE_FIELDS):
        raise _bad(f"column {header!r} takes only {', '.join(_RULE_FIELDS)}")
    values = dict(read)
    target = values.get("target")
    if target is not None and target != IGNORED:
        full = full_target(str(target))
        if full is None:
            raise _bad(f"column {header!r}: there is no field {target!r}")
        values["target"] = full
    return ColumnRule(**values)


def _check(profile: Profile) -> None:
    seen: dict[str, str] = {}
    if len(profile.columns) > MOST_COLUMNS:
        raise _bad(f"more than {MOST_COLUMNS} columns")
    for header, rule in profile.columns.items():
        if rule.target is None or rule.target == IGNORED:
            continue
        if rule.target in seen:
            raise _bad(f"{rule.target} is filled by {seen[rule.target]!r} and by {header!r}")
        seen[rule.target] = header
    for value, known, name in (
        (profile.contract, get_args(Contract), "contract"),
        (profile.winner, get_args(Winner), "winner"),
        (profile.key, get_args(Key), "key"),
    ):
        if value not in known:
            raise _bad(f"`{name}` is one of {', '.join(known)}, not {value!r}")
    _check_style(profile)
    for rule in profile.columns.values():
        _check_style(rule)
    for unit in (profile.weight_unit, profile.length_unit):
        if unit is not None and unit_of(unit) is None:
            raise _bad(f"{unit!r} is no unit")
    for target in profile.required or ():
        if full_target(target) is None:
            raise _bad(f"`required` names {target!r}, which is no field")


def _check_style(place: Profile | ColumnRule) -> None:
    if place.decimal not in (None, "comma", "point"):
        raise _bad(f"`decimal` is comma or point, not {place.decimal!r}")
    if place.dates not in (None, "dmy", "mdy"):
        raise _bad(f"`dates` is dmy or mdy, not {place.dates!r}")
    if place.currency is not None and place.currency not in CODES:
        raise _bad(f"{place.currency!r} is no currency")


def _bad(what: str) -> BadInput:
    return BadInput("INVALID_CONFIG", f"The profile cannot be used: {what}")
