"""What the reader noticed of a row is said by its item, in the summary and in the export."""

from __future__ import annotations

from uuid import UUID

from tests.extraction.support import item_problems, run_file
from tests.fixtures import Bench

from penstock.app.exports import ExportFilter, export_columns, export_rows, result_pages
from penstock.app.job_control import get_job
from penstock.app.rows import fix

BROKEN = b'sku,title,price\nA1,Pen,1.50\nA2,Ruler\nA3,"Rubber,2.00\nA4,Glue,3.00,x\nA5,\0ink,4.00\n'


async def codes(bench: Bench, job_id: UUID) -> dict[int, set[str]]:
    found = await item_problems(bench, job_id)
    return {row: {one["code"] for one in problems} for row, problems in found.items()}


async def test_items_carry_what_was_wrong_with_their_lines(bench: Bench) -> None:
    job = await run_file(bench, BROKEN, currency="EUR", required=["sku"])
    found = await codes(bench, job["id"])
    assert 1 not in found or not found[1] & {"RAGGED_ROW", "UNBALANCED_QUOTE"}
    assert "RAGGED_ROW" in found[2]
    assert "UNBALANCED_QUOTE" in found[3]
    # A row that is too long is an error of its own; that it is ragged need not be said as well.
    assert "ROW_TOO_LONG" in found[4]
    assert "RAGGED_ROW" not in found[4]
    assert "TEXT_UNREADABLE" in found[5]
    ragged = next(
        one for one in (await item_problems(bench, job["id"]))[2] if one["code"] == "RAGGED_ROW"
    )
    assert (ragged["severity"], ragged["line"]) == ("warning", 3)


async def test_they_are_counted_and_exported(bench: Bench) -> None:
    job = await run_file(bench, BROKEN, currency="EUR", required=["sku"])
    counted = {one["code"]: one["count"] for one in job["summary"]["problems"]}
    assert counted["RAGGED_ROW"] == 1
    assert counted["UNBALANCED_QUOTE"] == 1
    wanted = ExportFilter("errors", ("DONE", "ERROR"))
    async with bench.runtime.db.acquire() as conn:
        row = await get_job(conn, job["id"])
    lines = []
    async for page in result_pages(bench.runtime.db.acquire, job["id"], 5, wanted):
        columns = export_columns(bench.runtime, row, wanted, page)
        lines += [one.cells for one in export_rows(wanted, columns, page, [(1, 2)])]
    assert (2, 3, "DONE", "warning", "RAGGED_ROW") in [tuple(line[:5]) for line in lines]


async def test_they_stay_when_the_row_runs_again(bench: Bench) -> None:
    job = await run_file(bench, BROKEN, currency="EUR", required=["sku"])
    async with bench.runtime.db.transaction() as conn:
        await fix.fix_item(bench.runtime, conn, bench.who, job["id"], 2, {"price": "9.90"}, None)
    await bench.work(job["id"])
    assert "RAGGED_ROW" in (await codes(bench, job["id"]))[2]


async def test_headings_between_the_rows_are_no_products(bench: Bench) -> None:
    content = b"sku;title;price;unit\nTools;;;\nA1;Hammer;12;pc\nB-2;;;\n;Hand tools;;\n"
    job = await run_file(bench, content, currency="EUR")
    told = {item["row_no"]: item["status"] for item in await bench.items(job["id"])}
    # A code alone is a row that lacks the rest; a title alone is a product that nobody can find.
    assert told == {1: "SKIPPED", 2: "DONE", 3: "ERROR", 4: "SKIPPED"}
    assert 1 not in await item_problems(bench, job["id"])
