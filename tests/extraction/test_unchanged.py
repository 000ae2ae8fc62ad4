"""Rows that have nothing to change are recognised by a digest, and come out as compared ones do."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.app.rows.product_edits import Editor, edit_product
from penstock.app.undo import undo
from penstock.catalog.products.editing import edited
from penstock.pipelines.extraction import match
from penstock.pipelines.extraction.matcher import compare_rows
from penstock.pipelines.extraction.pipeline import Extraction
from penstock.store.accounts.audit_log import Caller

CONFIG: dict[str, Any] = {"source": "acme", "currency": "EUR", "intent": "merge"}
HEAD = "sku,title,brand,mpn,ean,price\n"
ROWS = [f"A{n},Thing {n},Acme,M{n},,{n}.50" for n in range(1, 41)]
FIRST = (HEAD + "\n".join(ROWS)).encode()
CHANGED = ["A39,Thing 39,Acme,M39,,39.60", "B1,New,Acme,N1,,3"]
LATER = (HEAD + "\n".join([*ROWS[:38], *CHANGED])).encode()


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extraction, "cache_key", lambda self, config: None)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many documents of known products were compared, per range."""
    found: list[int] = []

    def counted(names: Any, known: Any, documents: Any, settings: Any) -> Any:
        found.append(sum(not known[row].is_new for row in names))
        return compare_rows(names, known, documents, settings)

    monkeypatch.setattr(match, "compare_rows", counted)
    return found


async def rows(bench: Bench, job_id: UUID) -> list[tuple[Any, ...]]:
    names = ("row_no", "status", "stage", "attempts", "normalized", "result", "problems", "error")
    return [tuple(one[name] for name in names) for one in await bench.items(job_id)]


async def forget_digests(bench: Bench) -> None:
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE products SET row_digest = NULL")


@pytest.mark.parametrize("intent", ["check", "update", "merge", "replace", "create"])
async def test_digests_change_nothing(bench: Bench, compared: list[int], intent: str) -> None:
    await run_file(bench, FIRST, **CONFIG)
    compared.clear()
    checked = await run_file(bench, LATER, **CONFIG | {"intent": "check"})
    # The changed one alone.
    assert sum(compared) == 1
    fast = await run_file(bench, LATER, **CONFIG | {"intent": intent})
    await undo(bench.runtime, bench.runtime.db.transaction, fast["id"], 60)
    await forget_digests(bench)
    compared.clear()
    slow = await run_file(bench, LATER, **CONFIG | {"intent": intent})
    assert sum(compared) == 39
    assert await rows(bench, fast["id"]) == await rows(bench, slow["id"])
    assert fast["summary"] == slow["summary"]
    assert checked["summary"]["unchanged"] == 38


async def test_a_row_that_changed_its_product_is_recognised(
    bench: Bench, compared: list[int]
) -> None:
    await run_file(bench, FIRST, **CONFIG)
    await run_file(bench, LATER, **CONFIG)
    compared.clear()
    again = await run_file(bench, LATER, **CONFIG)
    assert (sum(compared), again["summary"]["unchanged"]) == (0, 40)
    # A file with fewer columns has other products, which are compared.
    fewer = await run_file(bench, b"sku,title,price\nA1,Thing 1,1.50\nA2,Thing 2,2.60\n", **CONFIG)
    assert (fewer["summary"]["unchanged"], fewer["summary"]["changed"]) == (1, 1)
    # The second row was merged: what it did not say stays, and it has nothing more to change.
    compared.clear()
    fewer = await run_file(bench, b"sku,title,price\nA1,Thing 1,1.50\nA2,Thing 2,2.60\n", **CONFIG)
    assert (fewer["summary"]["unchanged"], sum(compared)) == (2, 1)
    # Blanks count for `replace`: digests say nothing about them.
    blank = b"sku,title,price\nA2,Thing 2,2.60\n"
    replaced = await run_file(bench, blank, **CONFIG | {"intent": "replace"})
    assert replaced["summary"]["changed"] == 1


async def test_undo_restores_what_is_recognised(bench: Bench, compared: list[int]) -> None:
    await run_file(bench, FIRST, **CONFIG)
    later = await run_file(bench, LATER, **CONFIG)
    await undo(bench.runtime, bench.runtime.db.transaction, later["id"], 60)
    compared.clear()
    again = await run_file(bench, FIRST, **CONFIG)
    assert (again["summary"]["unchanged"], sum(compared)) == (40, 0)


async def test_edited_and_unpublished_products_are_compared(
    bench: Bench, compared: list[int]
) -> None:
    await run_file(bench, FIRST, **CONFIG)
    async with bench.runtime.db.transaction() as conn:
        one = await conn.fetchval("SELECT id FROM products WHERE source_id = 'A1'")
        await conn.execute("UPDATE products SET published = false WHERE source_id = 'A2'")
        editor = Editor(edited, lambda product: None)
        await edit_product(conn, Caller(bench.who), editor, one, {"title": "Better"}, 1)
    compared.clear()
    again = await run_file(bench, FIRST, **CONFIG)
    assert (again["summary"]["unchanged"], sum(compared)) == (40, 2)


async def test_links_are_still_proposed(bench: Bench, compared: list[int]) -> None:
    await run_file(bench, FIRST, **CONFIG)
    other = (HEAD + "X1,Thing 1,Acme,M1,,9.50\nX2,Else,Acme,Q2,,2").encode()
    await run_file(bench, other, **CONFIG | {"source": "other"})
    compared.clear()
    again = await run_file(bench, FIRST, **CONFIG)
    assert (again["summary"]["unchanged"], sum(compared)) == (40, 1)
    [linked] = [one for one in await bench.items(again["id"]) if '"links"' in one["result"]]
    assert linked["row_no"] == 1
