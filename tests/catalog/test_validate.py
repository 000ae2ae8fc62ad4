"""Required fields, rules and contracts."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.catalog.fields import json_schema
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.profiles.profile import ColumnRule, Profile
from penstock.model.errors import BadInput

HEADER = ["sku", "title", "price", "ean", "extra"]
COLUMNS = {
    "sku": ColumnRule("identifiers.sku"),
    "title": ColumnRule("title"),
    "price": ColumnRule("price.amount", currency="USD"),
    "ean": ColumnRule("identifiers.gtin"),
}
GOOD = ["A-1", "Bolt", "9.99", "4006381333931", ""]


def check(cells: list[str], **options: Any) -> tuple[str, NormalisedRow]:
    plan = compile_plan(HEADER, Profile("t", columns=COLUMNS, **options))
    row = normalise(plan, cells)
    return compile_validator(plan).check(row, cells), row


def codes(row: NormalisedRow) -> list[str]:
    return [problem.code for problem in row.problems]


def test_a_good_row_is_valid() -> None:
    verdict, row = check(GOOD)
    assert (verdict, codes(row)) == ("valid", [])


def test_required_fields_are_named_with_their_column() -> None:
    verdict, row = check(["A-1", "", "9.99", "", ""])
    assert verdict == "invalid"
    (problem,) = row.problems
    assert (problem.code, problem.column, problem.target) == ("REQUIRED_MISSING", "title", "title")


def test_what_a_product_is_known_by_is_missed_where_it_would_stand() -> None:
    verdict, row = check(["", "Bolt", "9.99", "", ""])
    assert verdict == "invalid"
    (problem,) = row.problems
    assert (problem.column, problem.target) == ("sku", "sourceId")
    assert "SKU, GTIN or MPN" in problem.message


def test_the_profile_chooses_what_is_required() -> None:
    assert check(["A-1", "", "", "", ""], required=())[0] == "valid"
    assert codes(check(GOOD[:2], required=("price", "gtin"))[1]) == ["REQUIRED_MISSING"] * 2
    on_request = ["A-1", "Bolt", "on request", "", ""]
    assert check(on_request, required=("price",))[0] == "valid"


def test_an_unreadable_required_field_is_named_once() -> None:
    verdict, row = check(["A-1", "Bolt", "red", "", ""], required=("price",))
    assert (verdict, codes(row)) == ("invalid", ["PRICE_UNREADABLE"])


RULES: dict[str, Any] = {
    "properties": {
        "price": {"properties": {"amount": {"minimum": 5, "maximum": 100}}},
        "title": {"maxLength": 10, "pattern": "^[A-Z]"},
        "identifiers": {"properties": {"sku": {"pattern": "^A-"}}},
    }
}


@pytest.mark.parametrize(
    ("cells", "column", "said"),
    [
        (["A-1", "Bolt", "4.99", "", ""], "price", "4.99 is less than the minimum of 5"),
        (["A-1", "Bolt", "100.01", "", ""], "price", "maximum of 100"),
        (["A-1", "bolt", "9.99", "", ""], "title", "does not match"),
        (["B-1", "Bolt", "9.99", "", ""], "sku", "does not match"),
    ],
)
def test_rules_are_json_schema_and_amounts_are_numbers_to_them(
    cells: list[str], column: str, said: str
) -> None:
    verdict, row = check(cells, rules=RULES)
    assert verdict == "invalid"
    (problem,) = row.problems
    assert (problem.code, problem.column) == ("RULE_VIOLATED", column)
    assert said in problem.message
    assert check(GOOD, rules=RULES)[0] == "valid"


def test_patterns_take_linear_time_whoever_wrote_them() -> None:
    rules = {"properties": {"title": {"pattern": "^(a+)+$"}}}
    assert check(["A-1", "a" * 900 + "!", "1", "", ""], rules=rules)[0] == "invalid"


@pytest.mark.parametrize(
    "rules",
    [
        {"type": "nonsense"},
        {"$ref": "http://127.0.0.1/schema.json"},
        {"properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"properties": {"a": {"pattern": "("}}},
    ],
)
def test_rules_that_cannot_be_used_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refused:
        check(GOOD, rules=rules)
    assert refused.value.code == "INVALID_CONFIG"


def test_deeply_nested_rules_are_refused() -> None:
    rules: dict[str, Any] = {}
    for _ in range(100):
        rules = {"not": rules}
    with pytest.raises(BadInput, match="nested"):
        check(GOOD, rules=rules)


BAD = ["A-1", "Bolt", "9.99", "4006381333932", ""]
NEGATIVE = ["A-1", "Bolt", "-9.99", "", ""]


@pytest.mark.parametrize(
    ("contract", "verdict"),
    [
        ("evolve", "invalid"),
        ("discard_row", "discarded"),
        ("discard_value", "valid"),
    ],
)
def test_a_value_that_does_not_fit(contract: str, verdict: str) -> None:
    assert check(BAD, contract=contract, strict=("*",))[0] == verdict


def test_unreadable_values_of_optional_fields_stay_empty_with_a_warning() -> None:
    verdict, row = check(BAD, strict=())
    assert (verdict, codes(row)) == ("valid", ["GTIN_CHECK_DIGIT"])
    assert row.problems[0].severity == "warning"
    assert "gtin" not in row.product["identifiers"]
    verdict, row = check(NEGATIVE, strict=())
    assert (verdict, codes(row)) == ("valid", ["PRICE_NEGATIVE"])
    assert "price" not in row.product


def test_by_default_an_unreadable_price_is_an_error_and_other_fields_stay_empty() -> None:
    verdict, row = check(BAD)
    assert (verdict, codes(row)) == ("valid", ["GTIN_CHECK_DIGIT"])
    assert "gtin" not in row.product["identifiers"]
    verdict, row = check(["A-1", "Bolt", "12,9O", "", ""])
    assert verdict == "invalid"


LOCAL_FILES = [
    (["Artikelnummer", "Bezeichnung", "Preis EUR", "EAN", "Bestand"],
     ["H-1", "Schraube M8", "0,12", "n.v.", "Auslauf"]),
    (["Indeks", "Nazwa", "Cena netto PLN", "EAN", "Stan"],
     ["K-1", "Śruba M8", "0,12", "brak", "końcówka serii"]),
    (["Référence", "Désignation", "Prix EUR", "EAN", "Stock"],
     ["V-1", "Vis M8", "0,12", "4006381333932", "environ trois"]),
    (["SKU", "Title", "Price USD", "GTIN", "Stock"],
     ["B-1", "Bolt M8", "0.12", "TBC", "several boxes"]),
]  # fmt: skip


@pytest.mark.parametrize(("header", "cells"), LOCAL_FILES)
def test_a_bad_cell_of_an_optional_field_keeps_the_product(
    header: list[str], cells: list[str]
) -> None:
    targets = (
        "identifiers.sku",
        "title",
        "price.amount",
        "identifiers.gtin",
        "availability.quantity",
    )
    columns = {name: ColumnRule(target) for name, target in zip(header, targets, strict=True)}
    plan = compile_plan(header, Profile("t", columns=columns))
    row = normalise(plan, cells)
    assert compile_validator(plan).check(row, cells) == "valid"
    assert row.product["title"] == cells[1]
    assert row.product["price"]["amount"] == "0.12"
    assert "gtin" not in row.product["identifiers"]
    assert {one.severity for one in row.problems} <= {"warning"}


@pytest.mark.parametrize(
    "options",
    [
        {"strict": ("*",)},
        {"strict": ("gtin",)},
        {"strict": (), "required": ("gtin",)},
        {"strict": (), "key": "gtin"},
    ],
)
def test_identity_required_and_strict_fields_must_be_readable(options: dict[str, Any]) -> None:
    verdict, row = check(BAD, **options)
    assert verdict == "invalid"
    assert {one.severity for one in row.problems} == {"error"}


def test_discarded_values_leave_the_product_and_a_warning() -> None:
    verdict, row = check(NEGATIVE, contract="discard_value")
    assert (verdict, codes(row)) == ("valid", ["VALUE_DISCARDED"])
    assert "price" not in row.product
    assert "PRICE_NEGATIVE" in row.problems[0].message
    still, missing = check(NEGATIVE, contract="discard_value", required=("price",))
    assert (still, codes(missing)) == ("invalid", ["VALUE_DISCARDED", "REQUIRED_MISSING"])


UNKNOWN = ["A-1", "Bolt", "9.99", "", "surprise"]


def test_a_column_the_profile_does_not_know() -> None:
    verdict, row = check(UNKNOWN)
    assert verdict == "valid"
    assert row.product["specifications"]["customFields"] == {"extra": "surprise"}
    verdict, row = check(UNKNOWN, contract="discard_value")
    assert verdict == "valid"
    assert "specifications" not in row.product
    verdict, row = check(UNKNOWN, contract="discard_row")
    assert (verdict, codes(row)) == ("discarded", ["COLUMN_UNKNOWN"])
    assert check(GOOD, contract="discard_row")[0] == "valid"
    with pytest.raises(BadInput, match="'extra'") as refused:
        check(UNKNOWN, contract="freeze")
    assert refused.value.code == "COLUMN_UNKNOWN"


def test_products_keep_the_published_schema() -> None:
    plan = compile_plan(
        ["sku", "title", "price", "pack", "stock", "image", "weight"],
        Profile(
            "t",
            source="acme",
            columns={
                "sku": ColumnRule("identifiers.sku"),
                "title": ColumnRule("title"),
                "price": ColumnRule("price.amount"),
                "pack": ColumnRule("specifications.pack"),
                "stock": ColumnRule("availability.quantity"),
                "image": ColumnRule("images"),
                "weight": ColumnRule("specifications.weight"),
            },
            rules=json_schema() | {"properties": _with_numbers()},
        ),
    )
    cells = [
        "A",
        "Bolt",
        "1+ 9.90 €; 10+ 8 €",
        "6 x 330 ml",
        "3",
        "https://x.example/a.png",
        "2 kg",
    ]
    row = normalise(plan, cells)
    assert compile_validator(plan).check(row) == "valid", row.problems


def _with_numbers() -> dict[str, Any]:
    """The published schema says text for amounts, which rules see as numbers."""
    properties: dict[str, Any] = json_schema()["properties"]
    del properties["price"]
    return properties | {"price": {"type": "object"}}
