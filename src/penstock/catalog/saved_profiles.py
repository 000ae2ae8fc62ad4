"""Prepare profiles for saving, and apply saved ones to the columns of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.catalog.mapping.proposal import fingerprint
from penstock.catalog.mapping.synonyms import header_key, read_hints
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.profiles.profile import ColumnRule, Profile, likely_key, rule_for


def prepare_to_save(profile: Profile) -> Profile:
    """Add the units and currencies that column names contain. Raises BadInput for rules that
    cannot be compiled, so that no file fails because of them later."""
    columns = {header: _with_hints(header, rule) for header, rule in profile.columns.items()}
    kept = replace(
        profile,
        columns=columns,
        fingerprint=fingerprint(list(columns)) if columns else None,
        key=likely_key(columns) if profile.key == "sku" else profile.key,
    )
    compile_validator(compile_plan(list(columns), kept))
    return kept


def _with_hints(header: str, rule: ColumnRule) -> ColumnRule:
    said = rule_for(rule.target, read_hints(header)[0])
    return replace(
        rule,
        currency=rule.currency or said.currency,
        unit=rule.unit or said.unit,
        tax_included=said.tax_included if rule.tax_included is None else rule.tax_included,
    )


def with_file_headers(profile: Profile, header: Sequence[str]) -> Profile:
    """The profile with its columns renamed as in this file: case and
    spaces do not matter."""
    if set(profile.columns) <= set(header):
        return profile
    ours = {header_key(name): name for name in reversed(header)}
    columns: dict[str, ColumnRule] = {}
    for name, rule in profile.columns.items():
        known = name in header
        columns.setdefault(name if known else ours.get(header_key(name), name), rule)
    return replace(profile, columns=columns)
