"""Products that a file lacks: reported or unpublished, never those of other sources, and undone."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from pydantic import ValidationError
from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.app.exports import ExportFilter, export_pieces
from penstock.app.job_control import get_job
from penstock.app.undo import undo
from penstock.formats.writing.text_formats import NdjsonWriter
from penstock.pipelines.extraction.pipeline import ExtractionConfig

ALL = b"sku,title,price\n" + b"".join(b"A%d,Thing %d,%d.00\n" % (n, n, n) for n in range(1, 6))
SOME = b"sku,title,price\nA1,Thing 1,1.00\nA3,Thing 3,3.50\n"


async def shelf(bench: Bench) -> dict[str, bool]:
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT source, source_id, published FROM products ORDER BY 1, 2")
    return {f"{row['source']}:{row['source_id']}": row["published"] for row in rows}


async def merge(bench: Bench, content: bytes, source: str = "acme", **config: Any) -> Any:
    return await run_file(bench, content, intent="merge", source=source, currency="EUR", **config)


async def missing_list(bench: Bench, job: Any) -> list[Any]:
    async with bench.runtime.db.acquire() as conn:
        stored = await get_job(conn, job["id"])
    wanted, opened = ExportFilter("missing"), bench.runtime.db.acquire
    pieces = export_pieces(bench.runtime, opened, stored, wanted, NdjsonWriter)
    lines = b"".join([piece async for piece in pieces]).splitlines()
    assert all(len(orjson.loads(line)) == 5 for line in lines)
    return [list(orjson.loads(line).values()) for line in lines]


async def test_what_is_missing_is_told_and_left_alone(bench: Bench) -> None:
    await merge(bench, ALL)
    before = await shelf(bench)
    job = await merge(bench, SOME, missing="report")
    told = job["summary"]["missing"]
    assert (told["mode"], told["count"], told["unpublished"]) == ("report", 3, 0)
    assert [one["sku"] for one in told["examples"]] == ["A2", "A4", "A5"]
    assert "incomplete" not in told
    assert await shelf(bench) == before
    assert await missing_list(bench, job) == [
        ["A2", "A2", None, "Thing 2", "no"], ["A4", "A4", None, "Thing 4", "no"],
        ["A5", "A5", None, "Thing 5", "no"],
    ]  # fmt: skip


async def test_gtins_are_told_as_they_are_printed(bench: Bench) -> None:
    await merge(bench, b"sku,title,ean\nA1,Pen,4006381333931\nA2,Ink,036000291452\n")
    job = await merge(bench, b"sku,title\nA9,Glue\n", missing="report")
    assert [line[2] for line in await missing_list(bench, job)] == ["4006381333931", "036000291452"]


async def test_a_check_can_tell_too(bench: Bench) -> None:
    await merge(bench, ALL)
    job = await run_file(bench, SOME, source="acme", currency="EUR", missing="report")
    assert job["summary"]["missing"]["count"] == 3


async def test_unpublished_and_undone(bench: Bench) -> None:
    await merge(bench, ALL)
    await merge(bench, ALL.replace(b"A", b"B"), source="other")
    before = await shelf(bench)
    job = await merge(bench, SOME, missing="unpublish")
    told = job["summary"]["missing"]
    assert (told["count"], told["unpublished"]) == (3, 3)
    after = await shelf(bench)
    gone = sorted(name for name, published in after.items() if not published)
    assert gone == ["acme:A2", "acme:A4", "acme:A5"]
    done = await undo(bench.runtime, bench.runtime.db.transaction, job["id"], 30)
    assert done["restored"] == 4
    assert await shelf(bench) == before


async def test_what_comes_back_is_published_again(bench: Bench) -> None:
    await merge(bench, ALL)
    await merge(bench, SOME, missing="unpublish")
    job = await merge(bench, ALL, missing="unpublish")
    assert job["summary"]["missing"]["count"] == 0
    assert all((await shelf(bench)).values())


async def test_rows_that_failed_are_in_the_file_all_the_same(bench: Bench) -> None:
    await merge(bench, ALL)
    broken = b"sku,title,price\nA1,,x y\nA2,Thing 2,much\nA3,Thing 3,3.00\n"
    job = await merge(bench, broken, missing="unpublish")
    assert job["summary"]["invalid"] > 0
    assert [one["sku"] for one in job["summary"]["missing"]["examples"]] == ["A4", "A5"]
    assert job["summary"]["missing"]["unpublished"] == 2


@pytest.mark.parametrize(
    "content",
    [SOME + b",Thing without a name,9.00\n", b'{"sku": "A1", "title": "a"}\n{"sku": A2\n'],
    ids=["no name", "lost line"],
)
async def test_an_incomplete_file_unpublishes_nothing(bench: Bench, content: bytes) -> None:
    await merge(bench, ALL)
    job = await merge(bench, content, missing="unpublish")
    told = job["summary"]["missing"]
    assert told["incomplete"]
    assert told["unpublished"] == 0
    assert told["count"] > 0
    assert all((await shelf(bench)).values())


def test_a_check_unpublishes_nothing() -> None:
    with pytest.raises(ValidationError, match="missing"):
        ExtractionConfig(missing="unpublish")
