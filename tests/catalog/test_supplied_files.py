"""Real files: what they must become was written down by reading them."""

from __future__ import annotations

import json
from decimal import Decimal

from tests.catalog.shared import shared_file, table

from penstock.catalog.mapping.column_decisions import decide
from penstock.catalog.mapping.column_stats import add_rows, new_stats
from penstock.catalog.mapping.proposal import Proposal, propose
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import Plan, compile_plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.products.variants import VariantRow, group
from penstock.catalog.profiles.profile import from_proposal
from penstock.catalog.values.prices import read_price


def planned(header: list[str], rows: list[list[str]]) -> tuple[Proposal, Plan]:
    stats = new_stats(len(header))
    add_rows(stats, rows)
    proposal = propose(header, [column.samples for column in stats])
    profile = from_proposal("file", proposal, source="file")
    return proposal, compile_plan(header, profile, decide(stats))


def run(name: str, delimiter: str = ",") -> tuple[dict[str, str], list[NormalisedRow], list[str]]:
    header, rows = table(name, delimiter)
    proposal, plan = planned(header, rows)
    validator = compile_validator(plan)
    found = [normalise(plan, row) for row in rows]
    verdicts = [validator.check(row, cells) for row, cells in zip(found, rows, strict=True)]
    return proposal.targets(), found, list(verdicts)


def test_prices_as_shops_show_them() -> None:
    """Two of the examples are no prices to us: `$.75,333` and `$.750.30`."""
    wrong = []
    for name in ("price_parsing_examples.json", "price_parsing_examples_new.json"):
        for case in json.loads(shared_file(f"prices/{name}").read_text("utf-8")):
            value = read_price(case["price_text"]).value
            amount = None if value is None or value.amount is None else Decimal(value.amount)
            wanted = None if case["amount"] is None else Decimal(case["amount"])
            if amount != wanted:
                wrong.append(case["price_text"])
    assert sorted(wrong) == ["$.75,333", "$.750.30"]


def test_a_magento_like_export() -> None:
    targets, rows, verdicts = run("supplier-files/bagisto/products.csv")
    assert targets["sku"] == "identifiers.sku"
    assert targets["parent_sku"] == "variants.group"
    assert targets["name"] == "title"
    assert targets["categories"] == "category"
    assert targets["price"] == "price.amount"
    assert targets["weight"] == "specifications.weight"
    assert targets["status"] == "published"
    assert targets["cost"] == "price.cost"
    beanie = rows[0].product
    assert beanie["title"] == "Arctic Cozy Knit Unisex Beanie"
    assert beanie["category"] == "Men > Winter Wear"
    assert beanie["price"]["amount"] == "14.00"
    assert beanie["specifications"]["weight"] == {"value": 1.23}
    assert beanie["metadata"]["tags"] == ["meta1", "meta2", "meta3"]
    codes = {problem.code for row in rows for problem in row.problems}
    assert {"IMAGE_NOT_URL", "UNIT_MISSING", "CURRENCY_MISSING"} <= codes
    assert len(verdicts) == len(rows)


def test_pictures_by_address() -> None:
    _, rows, _ = run("supplier-files/bagisto/products-image-urls.csv")
    assert rows[0].product["images"] == [
        {"url": "https://images.invalid/1.webp", "type": "primary"}
    ]


def test_an_export_with_variants_in_rows() -> None:
    targets, rows, verdicts = run("supplier-files/medusa/exported-products-comma.csv")
    assert targets["Product Handle"] == "variants.group"
    assert targets["Variant Id"] == "sourceId"
    assert targets["Product Image 2"] == "images.2"
    assert targets["Variant Price DKK"] == "price.amount"
    assert rows[0].product["price"]["currency"] == "DKK"
    assert rows[0].product["metadata"]["lastUpdated"] == "2024-07-31T16:07:55.102Z"
    assert rows[0].product["description"] == "test-product-description\ntest line 2"
    assert set(verdicts) == {"valid"}
    members = [
        VariantRow(n, row.product, row.group, row.continues) for n, row in enumerate(rows, 1)
    ]
    base, proposed = group(members)
    assert base.rows == (1, 2)
    assert [v["options"] for v in base.product["variants"]] == [
        {"size": "large", "color": "green"},
        {"size": "small", "color": "green"},
    ]
    assert proposed.product["title"] == "Proposed product"


def test_the_same_export_with_semicolons_is_the_same() -> None:
    comma = run("supplier-files/medusa/exported-products-comma.csv")
    semicolon = run("supplier-files/medusa/exported-products-semicolon.csv", ";")
    assert comma[0] == semicolon[0]
    assert comma[1][0].product == semicolon[1][0].product


def test_barcodes_that_are_none_are_told_one_by_one() -> None:
    _, rows, _ = run("supplier-files/medusa/v1-template.csv")
    assert rows[0].product["identifiers"]["sku"] == "test-sku-1"
    assert rows[0].product["price"]["amount"] == "1.10"
    assert rows[0].product["price"]["currency"] == "USD"
    assert rows[0].product["availability"]["quantity"] == 10
