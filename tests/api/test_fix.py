"""Cells are put right and run again; a job is mapped anew without sending its file again."""

from __future__ import annotations

from typing import Any

import httpx2
from tests.api.conftest import Caller, file_of, refused, shaped, submit_noop
from tests.api.test_items import all_items
from tests.fixtures import Bench

from penstock.api.jobs.control_schemas import Reprocessed
from penstock.api.jobs.schemas import FullJob

GOODS = b"Artikelnr;Bezeichnung;Preis;Wert\nA-1;Hammer;9,90;1\nA-2;;abc;2\nA-3;Nagel;0,10;3\n"


async def _job(client: httpx2.AsyncClient, bench: Bench, content: bytes = GOODS) -> str:
    made = await client.post("/api/jobs", files=file_of(content))
    await bench.work()
    return str(made.headers["location"])


async def test_a_bad_row_is_put_right(client: httpx2.AsyncClient, bench: Bench) -> None:
    path = await _job(client, bench)
    job = shaped(FullJob, await client.get(path))
    assert (job.counters.done, job.counters.error) == (2, 1)
    cells = {"input": {"Bezeichnung": "Zange", "Preis": "4,50"}}
    answer = await client.patch(f"{path}/items/2", json=cells)
    assert shaped(Reprocessed, answer).reprocessed == 1
    await bench.work()
    job = shaped(FullJob, await client.get(path))
    assert (job.state, job.counters.done, job.errors) == ("done", 3, {})
    item = (await all_items(client, path.rsplit("/", 1)[1], "pageSize=10"))[1]
    assert (item.input["Preis"], item.result and item.result["price"]) == ("4,50", "4.50")
    async with bench.runtime.db.acquire() as conn:
        audited = await conn.fetchrow("SELECT before, after FROM audit WHERE action = 'item.fix'")
    assert audited is not None
    assert "abc" in audited["before"]
    assert "Zange" in audited["after"]


async def test_what_cannot_be_fixed(caller: Caller, bench: Bench) -> None:
    client, other, viewer = await caller(), await caller("other"), await caller(role="viewer")
    path = await _job(client, bench)
    cells = {"input": {"Preis": "1"}}
    refused(await client.patch(f"{path}/items/9", json=cells), 404, "NOT_FOUND")
    refused(await client.patch(f"{path}/items/x", json=cells), 404, "NOT_FOUND")
    unknown = {"input": {"Farbe": "rot"}}
    refused(await client.patch(f"{path}/items/2", json=unknown), 422, "UNKNOWN_FIELD")
    refused(await other.patch(f"{path}/items/2", json=cells), 404, "NOT_FOUND")
    refused(await viewer.patch(f"{path}/items/2", json=cells), 403, "INSUFFICIENT_PERMISSIONS")
    waiting = await submit_noop(client)
    late = await client.patch(f"/api/jobs/{waiting}/items/1", json={"input": {"row": "7"}})
    refused(late, 409, "INVALID_STATE")


async def test_the_same_rows_with_another_mapping(client: httpx2.AsyncClient, bench: Bench) -> None:
    path = await _job(client, bench)
    order = {"config": {"mapping": {"Wert": "price", "Preis": None, "Bezeichnung": None},
                        "intent": "merge"}}  # fmt: skip
    answer = await client.post(f"{path}/remap", json=order)
    assert shaped(Reprocessed, answer).reprocessed == 3
    await bench.work()
    job = shaped(FullJob, await client.get(path))
    assert (job.state, job.counters.done, job.counters.error) == ("done", 3, 0)
    items = await all_items(client, path.rsplit("/", 1)[1], "pageSize=10")
    assert [item.result and item.result["price"] for item in items] == ["1.00", "2.00", "3.00"]
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM products") == 3


async def test_what_cannot_be_mapped_anew(client: httpx2.AsyncClient, bench: Bench) -> None:
    path = await _job(client, bench)
    for config, code in (
        ({"encoding": "cp1252"}, "INVALID_PARAMETERS"),
        ({"mapping": {"Preis": "nonsense"}}, "INVALID_CONFIG"),
        ({"colour": 1}, "UNKNOWN_FIELD"),
    ):
        refused(await client.post(f"{path}/remap", json={"config": config}), 422, code)
    waiting = await submit_noop(client)
    refused(
        await client.post(f"/api/jobs/{waiting}/remap", json={"config": {"items": 1}}),
        409, "INVALID_STATE",
    )  # fmt: skip


DOUBLES = b"SKU;Title;Price\nA;Hammer;1\nB;Pliers;2\nA;Hammer again;3\nC;Saw;4\n"


async def _states(client: httpx2.AsyncClient, path: str) -> list[tuple[str, Any]]:
    items = await all_items(client, path.rsplit("/", 1)[1], "pageSize=10")
    return [(item.status, (item.result or {}).get("match")) for item in items]


async def test_duplicates_are_right_again_after_a_fix(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    made = await client.post(
        "/api/jobs", files=file_of(DOUBLES), data={"config": '{"intent": "merge"}'}
    )
    path = str(made.headers["location"])
    await bench.work()
    new, double = ("DONE", "new"), ("SKIPPED", "duplicate")
    assert await _states(client, path) == [new, new, double, new]

    async def fixed(row: int, reopened: int, **cells: str) -> FullJob:
        answer = await client.patch(f"{path}/items/{row}", json={"input": cells})
        assert shaped(Reprocessed, answer).reprocessed == reopened
        await bench.work()
        job = shaped(FullJob, await client.get(path))
        assert job.state == "done"
        assert job.summary is not None
        shown = await _states(client, path)
        assert job.summary["duplicates"] == [state for _, state in shown].count("duplicate")
        assert job.summary["valid"] == job.counters.done + job.summary["duplicates"]
        assert job.counters.total == job.counters.done + job.counters.skipped + job.counters.error
        return job

    # The first of the two is another product now: the other one is no duplicate any more.
    job = await fixed(1, 2, SKU="D")
    assert (job.counters.done, job.counters.skipped, job.errors) == (4, 0, {})
    # Now it is the same as a later row, which was done already.
    job = await fixed(1, 2, SKU="B")
    states = await _states(client, path)
    assert (job.counters.done, states[1]) == (3, double)
    assert job.errors == {"DUPLICATE_IN_FILE": 1}
    # A row that cannot be read is an error, and its name is free.
    job = await fixed(1, 2, SKU="")
    assert (await _states(client, path))[1][0] == "DONE"


async def test_bad_fixes_and_remaps(caller: Caller, bench: Bench) -> None:
    client, viewer = await caller(), await caller(role="viewer")
    path = await _job(client, bench)
    bodies: list[dict[str, Any]] = [{}, {"input": {}}, {"input": {"Preis": 1}}, {"input": [1]}]
    for body in bodies:
        refused(await client.patch(f"{path}/items/2", json=body), 422, "INVALID_PARAMETERS")
    refused(await client.patch(f"{path}/items/0", json={"input": {"Preis": "1"}}), 404, "NOT_FOUND")
    mapping = {"config": {"mapping": {"Farbe": "title"}}}
    refused(await client.post(f"{path}/remap", json=mapping), 422, "INVALID_CONFIG")
    unknown = {"config": {"profile": "none"}}
    told = refused(await client.post(f"{path}/remap", json=unknown), 422, "INVALID_CONFIG")
    assert "'none'" in told.detail
    refused(await viewer.post(f"{path}/remap", json=mapping), 403, "INSUFFICIENT_PERMISSIONS")
    job = shaped(FullJob, await client.get(path))
    assert (job.state, job.counters.done, job.counters.error) == ("done", 2, 1)


async def test_rows_run_again_by_the_error_they_ended_with(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    path = await _job(client, bench)
    (code,) = shaped(FullJob, await client.get(path)).errors
    for codes, reopened in ((["OTHER"], 0), ([code], 1)):
        answer = await client.post(f"{path}/reprocess", json={"codes": codes, "fromStart": True})
        assert shaped(Reprocessed, answer).reprocessed == reopened
    await bench.work()
    assert shaped(FullJob, await client.get(path)).errors == {code: 1}


async def test_a_fix_of_one_row_tells_nothing_of_the_speed(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    path = await _job(client, bench)
    first = shaped(FullJob, await client.get(path)).progress
    assert (first.rows_done, first.rows_run) == (3, 3)
    await client.patch(f"{path}/items/2", json={"input": {"Bezeichnung": "Zange", "Preis": "4,50"}})
    await bench.work()
    again = shaped(FullJob, await client.get(path)).progress
    assert (again.rows_done, again.rows_run) == (3, 1)
    async with bench.runtime.db.acquire() as conn:
        measured = await conn.fetch("SELECT total, error FROM job_metrics ORDER BY generation")
    assert [tuple(row) for row in measured] == [(3, 1), (1, 0)]
    # All rows again are all rows.
    await client.post(f"{path}/reprocess", json={"scope": "job", "statuses": ["DONE"]})
    await bench.work()
    whole = shaped(FullJob, await client.get(path)).progress
    assert (whole.rows_done, whole.rows_run) == (3, 3)


async def test_errors_are_counted_alike_everywhere(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    rows = [
        (n, "T" if n % 4 else "", "1,O0" if n % 5 == 0 else "1,00", "x" * (n % 3 == 0))
        for n in range(1, 41)
    ]
    lines = "".join(f"E-{n};{title};{price};{gtin}\n" for n, title, price, gtin in rows)
    content = f"SKU;Title;Price;GTIN\n{lines}".encode()
    path = await _job(client, bench, content)
    job = shaped(FullJob, await client.get(path))
    listed = await all_items(client, path.rsplit("/", 1)[1], "statuses=ERROR&pageSize=100")
    assert job.counters.error == len(listed) == sum(job.errors.values()) > 0
    assert job.summary is not None
    assert job.summary["invalid"] == job.counters.error
    assert job.summary["valid"] + job.summary["invalid"] == job.counters.total == 40
    wanted = {"format": "json", "which": "original-with-errors"}
    export = await client.post(f"{path}/export", params=wanted)
    assert len(export.json()) == job.counters.error
    both = (await client.get("/api/jobs")).json()["items"][0]
    assert both["counters"]["error"] == job.counters.error
