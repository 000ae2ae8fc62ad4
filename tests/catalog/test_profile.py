"""Profiles: values, checked when they are made, the same after a trip through TOML or JSON."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.catalog.mapping.proposal import propose
from penstock.catalog.profiles.profile import (
    ColumnRule,
    Profile,
    from_json,
    from_proposal,
    from_toml,
    to_json,
)
from penstock.model.errors import BadInput

FULL = Profile(
    "Müller GmbH",
    3,
    "mueller",
    "ab" * 16,
    {
        "Art.-Nr.": ColumnRule("identifiers.sku"),
        'Preis "netto"': ColumnRule("price.amount", "comma", None, "EUR", None, False),
        "Gewicht": ColumnRule("specifications.weight", unit="g"),
        "Intern": ColumnRule("ignore"),
        "Rest": ColumnRule(),
    },
    "comma",
    "dmy",
    "EUR",
    "kg",
    "mm",
    ("title", "price"),
    {"properties": {"price": {"properties": {"amount": {"minimum": 1}}}, "x": {"const": None}}},
    "discard_value",
    "most_complete",
    "gtin",
)


def test_a_profile_survives_toml_and_json() -> None:
    assert from_toml(FULL.to_toml()) == FULL
    assert from_json(to_json(FULL)) == FULL
    assert from_toml(Profile("small").to_toml()) == Profile("small")


def test_toml_that_a_person_would_write() -> None:
    profile = from_toml('''
name = "acme"
decimal = "comma"
required = ["sku", "price"]
rules = """{"required": ["price"]}"""

[columns]
"Art-Nr" = "sku"
Preis = {target = "price", currency = "EUR"}
''')
    assert profile.columns["Art-Nr"].target == "identifiers.sku"
    assert profile.columns["Preis"] == ColumnRule("price.amount", currency="EUR")
    assert profile.rules == {"required": ["price"]}


def test_a_proposal_becomes_a_profile_with_what_the_headers_said() -> None:
    profile = from_proposal("acme", propose(["Preis netto (EUR)", "Gewicht [g]", "Foo"]))
    assert profile.columns["Preis netto (EUR)"] == ColumnRule(
        "price.amount", currency="EUR", tax_included=False
    )
    assert profile.columns["Gewicht [g]"].unit == "g"
    assert profile.columns["Foo"] == ColumnRule()
    assert profile.fingerprint is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = 1", "needs a name"),
        ('name = "a', "not valid TOML"),
        ('name = "a"\ncolour = "red"', "unknown setting 'colour'"),
        ('name = "a"\ncontract = "thaw"', "contract: must be 'evolve'"),
        ('name = "a"\nwinner = "best"', "winner: must be 'first'"),
        ('name = "a"\nkey = "name"', "key: must be 'sku'"),
        ('name = "a"\ndecimal = "dot"', "decimal: must be 'comma' or 'point'"),
        ('name = "a"\ndates = "ymd"', "dates: must be 'dmy' or 'mdy'"),
        ('name = "a"\ncurrency = "EURO"', "is not a currency"),
        ('name = "a"\nweight_unit = "stone"', "is not a unit"),
        ('name = "a"\nrequired = ["smell"]', "'smell', which is not a field"),
        ('name = "a"\nrules = "{"', "`rules` is not valid JSON"),
        ('name = "a"\n[columns]\nA = "smell"', "there is no field 'smell'"),
        ('name = "a"\n[columns]\nA = "sku"\nB = "sku"', "is filled by 'A' and by 'B'"),
        ('name = "a"\n[columns]\nA = {smell = 1}', "unknown setting 'columns.A.smell'"),
        ('name = "a"\ncolumns = 3', "columns: must be an object"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(BadInput, match="profile") as refused:
        from_toml(text)
    assert refused.value.code == "INVALID_CONFIG"
    assert said in refused.value.message


def test_json_is_checked_like_toml() -> None:
    kept: dict[str, Any] = {"name": "a", "columns": {"A": {"target": "nothing"}}}
    with pytest.raises(BadInput):
        from_json(kept)
