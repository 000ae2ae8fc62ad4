"""Many rows of a job are edited at once, and edits are undone, the last one first."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.api.test_items import all_items
from tests.fixtures import Bench

from penstock.api.jobs.edit_schemas import EditList, EditPreview, EditReceipt
from penstock.api.jobs.schemas import FullJob
from penstock.app.bulk_operations import BulkService
from penstock.app.rows import edits

GOODS = (
    b"SKU;Title;Price;Brand\nA-1;Hammer;9,9O;Acme\nA-2;Nagel;1O,50;\nA-3;Zange;4,50;\n"
    b"A-4;Feile;2,O0;Bolt\nA-5;Ahle;3,00;\n"
)
O_TO_0 = {"kind": "replace", "column": "Price", "find": "O", "value": "0"}


async def job_of(client: httpx2.AsyncClient, bench: Bench, content: bytes = GOODS) -> str:
    made = await client.post(
        "/api/jobs", files=file_of(content), data={"config": '{"intent": "merge"}'}
    )
    await bench.work()
    return str(made.headers["location"])


async def cells(client: httpx2.AsyncClient, path: str, column: str) -> list[str]:
    items = await all_items(client, path.rsplit("/", 1)[1], "pageSize=10")
    return [item.input[column] for item in items]


async def edit(client: httpx2.AsyncClient, path: str, **order: Any) -> EditReceipt:
    answer = await client.post(f"{path}/items/fix", json=order)
    return shaped(EditReceipt, answer, answer.status_code)


async def test_find_and_replace_is_previewed_made_and_undone(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    path = await job_of(client, bench)
    prices = await cells(client, path, "Price")
    order = {"select": {"problem": "PRICE_UNREADABLE"}, "change": O_TO_0}
    answer = await client.post(f"{path}/items/fix", json=order | {"dryRun": True})
    seen = shaped(EditPreview, answer)
    assert (seen.rows, seen.capped) == (3, False)
    assert [(one.row, one.before, one.after) for one in seen.changes] == [
        (1, {"Price": "9,9O"}, {"Price": "9,90"}),
        (2, {"Price": "1O,50"}, {"Price": "10,50"}),
        (4, {"Price": "2,O0"}, {"Price": "2,00"}),
    ]
    assert await cells(client, path, "Price") == prices
    for select, rows in (
        ({"problem": "*"}, 3), ({"q": "nagel"}, 1), ({"problem": "*", "q": "feile"}, 1),
        ({"statuses": ["DONE"]}, 0), ({"problem": "PRICE_UNREADABLE", "problemColumn": "SKU"}, 0),
        ({"itemIds": [1, 3]}, 1), ({"column": "Price", "value": "2,O0"}, 1),
    ):  # fmt: skip
        answer = await client.post(
            f"{path}/items/fix", json={"select": select, "change": O_TO_0, "dryRun": True}
        )
        assert shaped(EditPreview, answer).rows == rows, select
    made = await edit(client, path, **order)
    assert made.rows == 3
    await bench.work()
    job = shaped(FullJob, await client.get(path))
    assert (job.state, job.counters.done, job.counters.error) == ("done", 5, 0)
    items = await all_items(client, path.rsplit("/", 1)[1], "pageSize=10")
    assert [item.result and item.result["price"] for item in items] == [
        "9.90", "10.50", "4.50", "2.00", "3.00",
    ]  # fmt: skip
    listed = shaped(EditList, await client.get(f"{path}/edits"))
    assert listed.undoable == made.edit_id
    assert (listed.items[0].rows, listed.items[0].state) == (3, "done")
    shaped(EditReceipt, await client.post(f"{path}/edits/undo", json={}))
    await bench.work()
    assert await cells(client, path, "Price") == prices
    assert shaped(FullJob, await client.get(path)).state == "done"
    async with bench.runtime.db.acquire() as conn:
        actions = await conn.fetch("SELECT action FROM audit WHERE action LIKE 'job.edit%'")
    assert sorted(row["action"] for row in actions) == ["job.edit", "job.edit_undo"]
    refused(await client.post(f"{path}/edits/undo", json={}), 409, "INVALID_STATE")


async def test_set_fill_down_and_paste(client: httpx2.AsyncClient, bench: Bench) -> None:
    path = await job_of(client, bench)
    made = await edit(client, path, change={"kind": "fillDown", "column": "Brand"})
    await bench.work()
    assert made.rows == 3
    assert await cells(client, path, "Brand") == ["Acme", "Acme", "Acme", "Bolt", "Bolt"]
    made = await edit(
        client, path, select={"column": "Brand", "value": "Bolt"},
        change={"kind": "set", "column": "Brand", "value": "Bolt & Co"},
    )  # fmt: skip
    await bench.work()
    assert made.rows == 2
    pasted = [{"row": 1, "cells": {"Title": "Mallet", "Price": "8,00"}},
              {"row": 3, "cells": {"Title": "Pliers"}},
              {"row": 5, "cells": {"Title": "Ahle"}}]  # fmt: skip
    made = await edit(client, path, change={"kind": "paste", "rows": pasted})
    await bench.work()
    assert made.rows == 2
    titles = ["Mallet", "Nagel", "Pliers", "Feile", "Ahle"]
    assert await cells(client, path, "Title") == titles
    nothing = await edit(client, path, change={"kind": "paste", "rows": pasted[2:]})
    assert (nothing.edit_id, nothing.rows) == (None, 0)
    whole = {"kind": "replace", "column": "Brand", "find": "acme", "value": "ACME",
             "wholeCell": True, "matchCase": False}  # fmt: skip
    assert (await edit(client, path, change=whole)).rows == 3
    await bench.work()
    # Undone one by one, the single fix among them.
    assert (await client.patch(f"{path}/items/1", json={"input": {"Title": "Maul"}})).is_success
    await bench.work()
    for _ in range(5):
        assert (await client.post(f"{path}/edits/undo")).is_success
        await bench.work()
    assert await cells(client, path, "Brand") == ["Acme", "", "", "Bolt", ""]
    assert await cells(client, path, "Title") == ["Hammer", "Nagel", "Zange", "Feile", "Ahle"]


async def test_duplicates_are_right_again_after_an_edit(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    content = b"SKU;Title;Price\nA;Hammer;1\nB;Pliers;2\nA;Hammer again;3\nC;Saw;4\n"
    path = await job_of(client, bench, content)

    async def matches() -> list[Any]:
        items = await all_items(client, path.rsplit("/", 1)[1], "pageSize=10")
        return [(item.result or {}).get("match") for item in items]

    assert await matches() == ["new", "new", "duplicate", "new"]
    change = {"kind": "replace", "column": "SKU", "find": "A", "value": "C"}
    await edit(client, path, select={"itemIds": [1]}, change=change)
    await bench.work()
    assert await matches() == ["changed", "new", "changed", "duplicate"]
    await client.post(f"{path}/edits/undo")
    await bench.work()
    assert [one == "duplicate" for one in await matches()] == [False, False, True, False]


async def test_in_the_background_chunk_by_chunk(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits, "STRETCH", 2)
    monkeypatch.setattr(edits, "REOPENED_AT_ONCE", 2)
    monkeypatch.setattr("penstock.api.jobs.edits._SECONDS", -1.0)
    rows = b"".join(b"S-%d;Thing %d;1,O%d;%s\n" % (n, n, n, b"X" * (n % 3 == 0)) for n in range(9))
    path = await job_of(client, bench, b"SKU;Title;Price;Brand\n" + rows)
    answer = await client.post(f"{path}/items/fix", json={"change": O_TO_0})
    assert answer.status_code == 202
    busy = await client.post(f"{path}/items/fix", json={"change": O_TO_0 | {"value": "1"}})
    refused(busy, 409, "INVALID_STATE")
    refused(
        await client.post(f"/api/bulk/{answer.json()['operationId']}/abort"), 409, "INVALID_STATE"
    )
    service = BulkService(bench.runtime)
    while await service.run_once():
        pass
    await bench.work()
    assert await cells(client, path, "Price") == [f"1,0{n}" for n in range(9)]
    assert shaped(FullJob, await client.get(path)).counters.done == 9
    await client.post(f"{path}/items/fix", json={"change": {"kind": "fillDown", "column": "Brand"}})
    while await service.run_once():
        pass
    await bench.work()
    assert await cells(client, path, "Brand") == ["X"] * 9
    assert shaped(FullJob, await client.get(path)).state == "done"


async def test_what_cannot_be_edited(caller: Caller, bench: Bench) -> None:
    client, other, viewer = await caller(), await caller("other"), await caller(role="viewer")
    path = await job_of(client, bench)
    order = {"change": O_TO_0}
    refused(await other.post(f"{path}/items/fix", json=order), 404, "NOT_FOUND")
    refused(await viewer.post(f"{path}/items/fix", json=order), 403, "INSUFFICIENT_PERMISSIONS")
    unknown = {"change": O_TO_0 | {"column": "Farbe"}}
    refused(await client.post(f"{path}/items/fix", json=unknown), 422, "UNKNOWN_FIELD")
    for bad in (
        {"change": {"kind": "replace", "column": "Price", "find": "", "value": "0"}},
        {"change": {"kind": "paste"}},
        {"change": {"kind": "set", "column": "Price"}},
        {"change": O_TO_0, "select": {"column": "Price"}},
    ):
        refused(await client.post(f"{path}/items/fix", json=bad), 422, "INVALID_PARAMETERS")
    refused(await other.post(f"{path}/edits/undo"), 404, "NOT_FOUND")
    refused(await client.post(f"{path}/edits/undo"), 409, "INVALID_STATE")


async def products_of(bench: Bench) -> dict[str, Any]:
    """Brands by SKU."""
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT sku, data->>'brand' AS brand FROM products")
    return {row["sku"]: row["brand"] for row in rows}


async def test_an_undo_takes_back_the_products_of_the_edit(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    """Those it created, by edited rows and by rows beside them, and those it was the first to
    change; but not those that another job changed since."""
    known = b"SKU;Title;Price;Brand\nK-1;Known;1,00;First\n"
    config = {"config": '{"intent": "merge", "source": "acme"}'}
    await client.post("/api/jobs", files=file_of(known), data=config)
    await bench.work()
    content = (
        b"SKU;Title;Price;Brand\nA-1;Hammer;9,9O;Acme\nA-2;Nagel;1O,50;\nA-3;Zange;4,50;\n"
        b"K-1;Known;1,O0;Second\nA-5;Feile;2,O0;\n"
    )
    path = (await client.post("/api/jobs", files=file_of(content), data=config)).headers["location"]
    await bench.work()
    before = await products_of(bench)
    assert before == {"K-1": "First", "A-3": None}
    await edit(client, path, change=O_TO_0)
    await bench.work()
    assert await products_of(bench) == {
        "K-1": "Second", "A-1": "Acme", "A-2": None, "A-3": None, "A-5": None,
    }  # fmt: skip
    other = b"SKU;Title;Price;Brand\nA-5;Feile;2,00;Later\n"
    await client.post("/api/jobs", files=file_of(other), data=config)
    await bench.work()
    await client.post(f"{path}/edits/undo")
    await bench.work()
    assert await products_of(bench) == before | {"A-5": "Later"}
    job = shaped(FullJob, await client.get(path))
    assert (job.state, job.counters.done, job.counters.error) == ("done", 1, 4)
    # A single fix is taken back in the same way, and can be made again.
    for _ in range(2):
        await client.patch(f"{path}/items/1", json={"input": {"Price": "9,90"}})
        await bench.work()
        assert "A-1" in await products_of(bench)
        await client.post(f"{path}/edits/undo")
        await bench.work()
        assert await products_of(bench) == before | {"A-5": "Later"}
    # The import itself can still be undone.
    assert (await client.post(f"{path}/undo")).is_success
    assert await products_of(bench) == {"K-1": "First", "A-5": "Later"}


async def test_rows_that_ran_again_beside_an_edit_lose_their_products_too(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    content = b"SKU;Title;Price\nA;Hammer;1\nA;Mallet;2\nB;Saw;3\n"
    path = await job_of(client, bench, content)
    assert set(await products_of(bench)) == {"A", "B"}
    change = {"kind": "set", "column": "SKU", "value": "C"}
    await edit(client, path, select={"itemIds": [1]}, change=change)
    await bench.work()
    assert set(await products_of(bench)) == {"A", "B", "C"}
    await client.post(f"{path}/edits/undo")
    await bench.work()
    assert set(await products_of(bench)) == {"A", "B"}
    listed = shaped(EditList, await client.get(f"{path}/edits"))
    assert [one.rows for one in listed.items] == [1]
