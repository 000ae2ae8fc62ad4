"""What a job says of its file as a whole."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from tests.extraction.support import item_problems, run_file
from tests.fixtures import Bench

from penstock.cli.jobs.summary_view import counts_of, show_summary
from penstock.store.catalog import profiles
from penstock.store.database import from_json

FILE = (
    b"sku,title,price,color\nA1,Pen,1.50 EUR,red\nA2,Ink,abc,red\nA3,Rule,much,\nA4,Glue,2 EUR,\n"
)


async def test_columns_tell_how_full_they_are_and_what_is_wrong(bench: Bench) -> None:
    job = await run_file(bench, FILE)
    summary = job["summary"]
    by_name = {one["column"]: one for one in summary["columns"]}
    assert (by_name["color"]["fill"], by_name["color"]["distinct"]) == (0.5, 1)
    assert (by_name["sku"]["fill"], by_name["sku"]["distinct"]) == (1.0, 4)
    [wrong] = by_name["price"]["problems"]
    assert (wrong["code"], wrong["severity"], wrong["count"]) == ("PRICE_UNREADABLE", "error", 2)
    assert wrong["example"] == {"rowNo": 2, "value": "abc"}
    [of_all] = [one for one in summary["problems"] if one["code"] == "PRICE_UNREADABLE"]
    assert of_all["example"] == {"rowNo": 2, "value": "abc", "column": "price"}


async def test_rows_with_unreadable_optional_values_can_be_kept(bench: Bench) -> None:
    job = await run_file(bench, FILE, intent="merge", strict=[])
    assert (job["summary"]["valid"], job["summary"]["invalid"]) == (4, 0)
    [wrong] = {one["column"]: one for one in job["summary"]["columns"]}["price"]["problems"]
    assert (wrong["code"], wrong["severity"], wrong["count"]) == ("PRICE_UNREADABLE", "warning", 2)
    async with bench.runtime.db.acquire() as conn:
        kept = await conn.fetch("SELECT sku, data->'price' AS price FROM products ORDER BY sku")
    assert [(row["sku"], row["price"] is None) for row in kept] == [
        ("A1", False), ("A2", True), ("A3", True), ("A4", False)
    ]  # fmt: skip


async def test_what_is_left_alone_is_valid_all_the_same(bench: Bench) -> None:
    goods = b"sku,title\nA1,Pen\nA2,Ink\nA2,Ink again\nA3,\n"
    first = await run_file(bench, goods, intent="create")
    told = first["summary"]
    assert (told["valid"], told["invalid"], told["new"], told["duplicates"]) == (3, 1, 2, 1)
    again = (await run_file(bench, goods, intent="create"))["summary"]
    assert (again["valid"], again["invalid"], again["existing"]) == (3, 1, 2)
    nameless = (await run_file(bench, b"title,color\nPen,red\n", intent="create"))["summary"]
    assert (nameless["valid"], nameless["invalid"], nameless["new"]) == (0, 1, 0)


async def test_without_any_rates_the_job_says_so_once(bench: Bench) -> None:
    job = await run_file(bench, FILE)
    assert [one["code"] for one in job["summary"]["warnings"]] == ["RATE_MISSING"]
    said = {
        one["code"] for found in (await item_problems(bench, job["id"])).values() for one in found
    }
    assert "RATE_MISSING" not in said
    first = (await bench.items(job["id"]))[0]
    lineage = from_json(first["normalized"])["lineage"]
    assert lineage["price.base"][:3] == ["price", "1.50 EUR", "rate_missing"]


async def test_with_rates_a_row_without_its_own_says_so(bench: Bench) -> None:
    day = datetime.now(UTC).date()
    async with bench.runtime.db.transaction() as conn:
        await profiles.set_rates(conn, "USD", [(day, "CHF", Decimal("1.1"))])
    job = await run_file(bench, FILE)
    assert job["summary"]["warnings"] == []
    problems = await item_problems(bench, job["id"])
    assert "RATE_MISSING" in {one["code"] for one in problems[1]}


async def test_it_is_shown_to_people(bench: Bench, capsys: object) -> None:
    job = await run_file(bench, FILE)
    assert set(counts_of(job["summary"])) >= {"total", "valid", "invalid", "new"}
    show_summary(job["summary"])
    said = capsys.readouterr()  # type: ignore[attr-defined]
    assert "PRICE_UNREADABLE" in said.out
    assert "50%" in said.out
    assert "RATE_MISSING" in said.err
