"""Rows that are variants: by handle as Shopify writes them, by parent SKU as others do."""

from __future__ import annotations

from tests.catalog.test_normalise import plan_of

from penstock.catalog.mapping.proposal import propose
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.products.variants import GroupedProduct, VariantRow, group
from penstock.catalog.profiles.profile import from_proposal


def members(rows: list[list[str]]) -> list[VariantRow]:
    header, *body = rows
    plan = compile_plan(header, from_proposal("t", propose(header), currency="USD"))
    validator = compile_validator(plan)
    found = []
    for number, cells in enumerate(body, 1):
        row = normalise(plan, cells)
        assert validator.check(row, cells) == "valid", row.problems
        found.append(VariantRow(number, row.product, row.group, row.continues))
    return found


SHOPIFY = [
    [
        "Handle",
        "Title",
        "Option1 Name",
        "Option1 Value",
        "Variant SKU",
        "Variant Price",
        "Image Src",
    ],
    ["shirt", "Shirt", "Size", "S", "SH-S", "10.00", "https://x.example/1.jpg"],
    ["shirt", "", "Size", "M", "SH-M", "11.00", "https://x.example/2.jpg"],
    ["shirt", "", "", "", "", "", "https://x.example/3.jpg"],
    ["cap", "Cap", "Title", "Default Title", "CAP", "5.00", ""],
]


def test_rows_of_one_handle_are_one_product() -> None:
    shirt, cap = group(members(SHOPIFY))
    assert shirt.rows == (1, 2, 3)
    assert shirt.product["title"] == "Shirt"
    assert [v["options"] for v in shirt.product["variants"]] == [{"Size": "S"}, {"Size": "M"}]
    assert [v["identifiers"]["sku"] for v in shirt.product["variants"]] == ["SH-S", "SH-M"]
    assert [v["price"]["amount"] for v in shirt.product["variants"]] == ["10.00", "11.00"]
    assert [i["type"] for i in shirt.product["images"]] == ["primary", "secondary", "secondary"]
    assert cap.rows == (4,)
    assert "variants" not in cap.product


PARENTS = [
    ["sku", "parent_sku", "name", "price", "color"],
    ["TS-RED", "TS", "T-Shirt red", "10", "red"],
    ["TS", "", "T-Shirt", "10", ""],
    ["TS-BLUE", "TS", "T-Shirt blue", "12", "blue"],
    ["X", "", "Other", "1", "green"],
]


def test_rows_that_name_a_parent_become_its_variants_wherever_it_stands() -> None:
    shirt, other = group(members(PARENTS))
    assert shirt.rows == (2, 1, 3)
    assert shirt.product["title"] == "T-Shirt"
    assert [v["options"] for v in shirt.product["variants"]] == [
        {"color": "red"},
        {"color": "blue"},
    ]
    assert other.rows == (4,)
    assert other.product["specifications"]["customFields"] == {"color": "green"}


def test_a_group_without_a_title_is_told() -> None:
    lost = members([SHOPIFY[0], SHOPIFY[2], SHOPIFY[3]])
    (found,) = group(lost)
    assert [problem.code for problem in found.problems] == ["VARIANT_WITHOUT_PARENT"]


def test_rows_without_groups_stay_as_they_are() -> None:
    alone = [VariantRow(1, {"title": "a"}, None), VariantRow(2, {"title": "b"}, None)]
    assert group(alone) == [
        GroupedProduct((1,), {"title": "a"}),
        GroupedProduct((2,), {"title": "b"}),
    ]


def test_variants_inside_of_a_record() -> None:
    """As shops' interfaces give them: what the product itself does not say is the first one's."""
    inside = (
        '[{"id":7,"sku":"P-1","price":"199.00","option1":"Pink","inventory_quantity":10,'
        '"barcode":"4006381333931"},{"sku":"P-2","price":"189.00","option1":"Red"}]'
    )
    rows = [["id", "title", "variants"], ["1", "Player", inside], ["2", "Alone", ""]]
    plan = plan_of(rows, currency="EUR")
    row = normalise(plan, rows[1])
    assert row.product["price"] | {"base": None} == {
        "amount": "199.00", "currency": "EUR", "unit": "piece", "base": None,
    }  # fmt: skip
    assert row.product["identifiers"] == {"sku": "P-1", "gtin": "4006381333931"}
    assert row.product["availability"] == {"status": "in_stock", "quantity": 10}
    assert [one["options"] for one in row.product["variants"]] == [
        {"option 1": "Pink"}, {"option 1": "Red"},
    ]  # fmt: skip
    assert row.lineage["price.amount"][0] == "variants"
    assert "variants" not in normalise(plan, rows[2]).product
    sizes = [["id", "title", "variants"], ["1", "Shirt", "S, M, L"]]
    assert "variants" not in normalise(plan_of(sizes), sizes[1]).product
