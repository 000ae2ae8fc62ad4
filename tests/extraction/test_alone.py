"""Rows of a file whose key is nobody else's are done without the others; which rows are the same
product comes out as if all had waited."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.extraction.support import ended, run_file, send_file
from tests.fixtures import Bench

from penstock.app.job_control import get_job
from penstock.app.rows import fix
from penstock.catalog.products.comparison import same_key
from penstock.catalog.values.gtin import read_identifier
from penstock.pipelines.extraction import unique_rows
from penstock.pipelines.extraction.pipeline import Extraction
from penstock.pipelines.extraction.unique_rows import letters_and_digits
from penstock.store.database import from_json

HEAD = "sku,title,price\n"
PLAIN = "".join(f"P-{n:03},Thing {n},1.50\n" for n in range(40))
CONFIG: dict[str, Any] = {"source": "acme", "currency": "USD", "required": ["title", "price"]}


def similar(job: Any) -> list[int] | None:
    """The rows that reading found to share a key, perhaps; None: all rows waited."""
    found: list[int] | None = from_json(job["ingest_cursor"])["keys"]["rows"]
    return found


async def statuses(bench: Bench, job_id: Any) -> dict[int, tuple[str, str | None]]:
    return {
        one["row_no"]: (one["status"], (from_json(one["error"]) or {}).get("code"))
        for one in await bench.items(job_id)
    }


async def test_most_rows_end_before_the_barrier_opens(bench: Bench) -> None:
    twice = "P-007,Again,2.00\n"
    job_id = await send_file(bench, (HEAD + PLAIN + twice).encode(), intent="merge", **CONFIG)
    async with bench.worker() as worker:
        while not (await bench.job(job_id))["done"]:
            assert await worker.run_once()
        waiting = [one["row_no"] for one in await bench.items(job_id, "status = 'PENDING'")]
        assert set(waiting) >= {8, 41}
        while await worker.run_once():
            pass
    job = await ended(bench, job_id)
    assert similar(job) == [8, 41]
    assert (job["done"], job["skipped"]) == (40, 1)
    assert (await statuses(bench, job_id))[41] == ("SKIPPED", "DUPLICATE_IN_FILE")
    assert job["summary"]["new"] == 40


@pytest.mark.parametrize("winner", ["first", "last", "most_complete"])
async def test_the_same_as_if_all_had_waited(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, winner: str
) -> None:
    """Keys that differ in case, in spaces, in signs, in letters the database leaves out; empty and
    short rows; rows that are no products."""
    rows = [
        "A-1,One,1.00", "a-1,One again,2.00", " A-1 ,Once more,", "A1,Other,3.00", "A 1,Third,4",
        "Ä-2,Five,5.00", "ä-2,Five too,6.00", "-2,Minus,7.00", '"=""X-9""",Formula,8.00',
        "x-9,Plain,9.00", "'Y-8,Quoted,1.00", "Y-8,Not,1.00", ",No key,1.00", ",Nor this,1.00",
        "B-1,,1.00", "B-1,Has a title,1.00", "C-1", "123.0,Float,1.00", "123,Whole,1.00",
        "0123,Zero,1.00", "n/a,Nothing,1.00", "-,Nothing,1.00", "日本-5,East,1.00", "日本-5,Far,",
    ]  # fmt: skip
    content = (HEAD + PLAIN + PLAIN.replace("P-", "Q-") + "\n".join(rows) + "\n").encode()
    quick = await run_file(bench, content, winner=winner, **CONFIG)
    assert similar(quick)
    monkeypatch.setattr(unique_rows, "key_column", lambda plan: None)
    monkeypatch.setattr(Extraction, "cache_key", lambda self, config: None)
    slow = await run_file(bench, content, winner=winner, **CONFIG)
    assert await statuses(bench, quick["id"]) == await statuses(bench, slow["id"])


async def test_a_row_that_is_changed_later_is_compared_with_all(bench: Bench) -> None:
    content = (HEAD + PLAIN + "Z-1,,1.00\n").encode()
    job = await run_file(bench, content, intent="merge", **CONFIG)
    assert (await statuses(bench, job["id"]))[41] == ("ERROR", "REQUIRED_MISSING")
    given_cells = {"sku": "P-003", "title": "Late"}
    async with bench.runtime.db.acquire() as conn:
        row = await get_job(conn, job["id"])
    before = (await bench.items(job["id"], "row_no = 41"))[0]["input"]
    names = await fix.names_once_fixed(bench.runtime, row, from_json(before), given_cells)
    async with bench.runtime.db.transaction() as conn:
        await fix.fix_item(bench.runtime, conn, bench.who, job["id"], 41, given_cells, None, names)
    await bench.work(job["id"])
    fixed = await ended(bench, job["id"])
    assert fixed["generation"] == 2
    assert (await statuses(bench, job["id"]))[41] == ("SKIPPED", "DUPLICATE_IN_FILE")


async def test_the_key_may_be_in_a_column_that_the_job_names(bench: Bench) -> None:
    content = ("alpha,title,price\n" + PLAIN + "P-007,Again,2.00\n").encode()
    mapping = {"alpha": "sku", "title": "title", "price": "price"}
    job = await run_file(bench, content, mapping=mapping, **CONFIG)
    assert similar(job) == [8, 41]


async def test_too_many_alike_are_not_told_apart(bench: Bench) -> None:
    content = (HEAD + PLAIN + PLAIN).encode()
    job = await run_file(bench, content, intent="merge", **CONFIG)
    assert similar(job) is None
    assert (job["done"], job["skipped"]) == (40, 40)


@pytest.mark.parametrize("odd", ["ß-1", "\u212a-1", "A\u0301-1", "\ufb01-1", "x" * 201])
async def test_where_a_key_may_be_spelled_otherwise_all_wait(bench: Bench, odd: str) -> None:
    content = (HEAD + PLAIN + f"{odd},Odd,1.00\n").encode()
    job = await run_file(bench, content, **CONFIG)
    assert similar(job) is None
    assert job["done"] == 41


# Letters that become others in a key.
_ODD = "ßİŉſǰẖẗẘẙẚẞ\u212aﬀﬁﬂﬃﬄﬅﬆ"


@given(st.text(max_size=12))
@example("ÄB-1")
@example('="A-1"')
def test_a_cell_is_spelled_like_its_key(cell: str) -> None:
    """What all of this rests on."""
    assume(unicodedata.is_normalized("NFC", cell) and not set(cell) & set(_ODD))
    key = same_key(read_identifier(cell).value, "sku")
    assert key is None or letters_and_digits(cell) == letters_and_digits(key)
